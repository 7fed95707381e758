"""``lcifr audit``: the auditor's work. The whole model on real people: a proof for each, or somebody who refutes it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli._folder import run_folder
from lcifr.cli._options import (
    ChunkOption,
    ConsumerArgument,
    ForceOption,
    IdOption,
    OutOption,
    ProducerArgument,
    WorkersOption,
    exit_code,
)
from lcifr.cli._output import JsonOption, print_json, say, to_stderr
from lcifr.cli._parties import Parties, read_parties, read_whom

if TYPE_CHECKING:
    from lcifr.certificates import Audit, Statement
    from lcifr.cli._people import Side

EXAMPLE = "Example: lcifr audit producer consumer --out audit"
PROVED = 1000  # people up to whom proofs are written and checked unless it is said otherwise: a minute or so
LISTED = 100  # counterexamples in result.json; audit.parquet has all


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(audit)


def audit(
    context: typer.Context,
    producer: ProducerArgument,
    consumer: ConsumerArgument,
    out: OutOption,
    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", help="The people: .csv or .parquet. (Default: those the producer held out.)"),
    ] = None,
    id_column: IdOption = None,
    population: Annotated[
        bool,
        typer.Option(
            "--population",
            help="You say that the people of TABLE were drawn from the population, and nobody trained on them.",
        ),
    ] = False,
    phi: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", help="Another φ than the producer's, such as the regulator's own copy."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Subgroups. (Default: the categories that φ leaves free.)"),
    ] = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.9999, help="Of the population statement.")] = 0.95,
    baselines: Annotated[
        bool, typer.Option(help="Train and audit the plain and the unaware model beside it, where labels are known.")
    ] = True,
    bundle: Annotated[
        bool | None,
        typer.Option(
            "--bundle/--no-bundle", help="Write all proofs and check them exactly. (Default: up to 1000 people.)"
        ),
    ] = None,
    workers: WorkersOption = None,
    chunk: ChunkOption = 256,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Prove from end to end, person by person, that nobody similar gets another decision; or show who does.

    Needs the producer's and the consumer's folder. `lcifr report OUT` makes a page of it.

    Exit codes: 0 everybody is certified, 1 there is a counterexample (or the checker refuses a proof), 2 wrong
    use, 3 somebody is undecided.

    Ctrl-C keeps who is done; the same command goes on.
    """
    parties = read_parties(producer, consumer, phi)
    parties.check_groups(by)
    whom = read_whom(parties, producer, table, id_column)
    inputs = {"producer": producer, "consumer": consumer}
    inputs |= {name: Path(file) for name, file in (("table", table), ("phi", phi)) if file and Path(file).is_file()}
    with run_folder(context, out, force=force, inputs=inputs) as run:
        found = audit_people(run.work, parties, whom, workers, chunk, modular=True)
        parties.copy_into(run.work)
        beside = _baselines(parties, producer, whom, baselines)
        result = _result(parties, whom, found, by, confidence, population or table is None, beside)
        result["findings"] = _findings(parties)
        proofs = len(found) <= PROVED if bundle is None else bundle
        result["checked"] = _prove(run.work, parties, whom, found) if proofs else None
        result["files"] = {"bundle": "bundle" if proofs else None}
        run.finish(result)
    if as_json:
        print_json(result)
    else:
        _show(result, out)
    refused = bool(result["checked"] and result["checked"]["rejected"])
    raise typer.Exit(exit_code(result["violated"] or refused, result["undecided"]))


def audit_people(work: Path, parties: Parties, whom: Side, workers: int | None, chunk: int, *, modular: bool) -> Audit:
    """Audit everybody into ``work``, part by part."""
    from lcifr.certificates.audited import read_audited
    from lcifr.certificates.files import audit_file
    from lcifr.cli._learning import plain_notes, timed, watched, workers_for
    from lcifr.cli._people import with_ids, write_table
    from lcifr.data import Individuals

    write_table(work / "people.parquet", whom.X)
    if not (work / "audited").exists():
        named, id_column = with_ids(whom)
        with timed(f"Auditing {len(whom)} people from end to end"), plain_notes():
            audit_file(
                parties.encoder,
                parties.head,
                named,
                work / "audited",
                id_column=id_column,
                chunk=chunk,
                workers=workers_for(len(whom), workers),
                progress=watched(),
                modular=modular,
                tolerance=parties.tolerance,
            )
    if whom.y is not None:
        import pyarrow as pa

        write_table(work / "labels.parquet", pa.table({"label": pa.array(whom.y)}))
    people = Individuals.read(whom.X, parties.encoder.encoding.schema)
    return read_audited(work / "audited", people, parties.head, tolerance=parties.tolerance)


def _baselines(parties: Parties, producer: Path, whom: Side, wanted: bool) -> dict[str, dict[str, float]]:
    if not wanted or whom.y is None or parties.task == "regression":
        return {}
    from lcifr.cli._baselines import judge_baselines
    from lcifr.cli._learning import one_thread

    training = parties.training(producer)
    if training is None:
        return {}
    with one_thread(say=False):
        return judge_baselines(parties, training, whom)


def _prove(work: Path, parties: Parties, whom: Side, found: Audit) -> dict[str, Any]:
    """Write the proofs, and let the exact checker read them back."""
    from lcifr.certificates import write_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.cli._learning import waiting
    from lcifr.cli._progress import progress_bar

    if not (work / "bundle").exists():
        with waiting(f"Writing the proofs of {len(found)} people"):
            write_bundle(work / "bundle", parties.encoder, whom.X, decisions=found)
    with progress_bar("Checking the proofs in exact arithmetic") as progress:
        report = check_bundle(work / "bundle", lambda done: progress(done, len(found)))
    return {
        "people": report.people,
        "certified": report.certified,
        "counterexamples": report.counterexamples,
        "trusted": len(report.trusted),
        "rejected": report.rejected,
    }


# -- what is said ------------------------------------------------------------------------------------------------------


def _result(
    parties: Parties,
    whom: Side,
    found: Audit,
    by: list[str] | None,
    confidence: float,
    population: bool,
    baselines: dict[str, dict[str, float]],
) -> dict[str, Any]:
    from collections import Counter

    from lcifr.certificates import state

    groups = parties.groups(found.people, by)
    statement = state(found, whom.y, held_out=population, confidence=confidence, by=groups or None, baselines=baselines)
    plain = asdict(statement)
    plain["subgroups"] = [] if statement.subgroups is None else statement.subgroups.to_dict("records")
    about_z = [one for one in parties.fitted.degeneracies_ if one.name in ("flat latent", "alone")]
    trivial = [one.message for one in (*about_z, *parties.head.degeneracies_)]
    plain["warnings"] = list(dict.fromkeys([*statement.warnings, *_beaten(statement), *trivial]))
    return {
        "format": "lcifr-audit-result-1",
        "command": "audit",
        **parties.summary(),
        "held_out": population,
        **plain,
        "alone": int(found.alone.sum()),
        "modularity": found.modularity(),
        "reasons": {str(reason): count for reason, count in Counter(found.reason).items() if str(reason)},
        "counterexamples": _counterexamples(parties, found),
    }


def _findings(parties: Parties) -> list[dict[str, str]] | None:
    """What lint says of φ with the people whom the producer learned from; None where they were not handed on."""
    from lcifr.cli._people import TRAIN
    from lcifr.data import read_frame
    from lcifr.similarity.lint import lint

    people = parties.producer / "people" / f"{TRAIN}.parquet"
    if not people.is_file():
        return None
    found = lint(parties.encoder.similarity, read_frame(people).select(list(parties.schema.names)))
    return [{"code": one.code, "severity": str(one.severity), "message": one.message} for one in found]


def _beaten(statement: Statement) -> list[str]:
    """Whether one of the baselines is as good and as often certified: then it should be used."""
    return [
        f"the {name} model is as accurate and as often certified: use that one"
        for name, figures in statement.baselines.items()
        if statement.accuracy is not None
        and figures["accuracy"] >= statement.accuracy
        and figures["certified"] >= statement.share
    ]


def _counterexamples(parties: Parties, found: Audit) -> list[dict[str, Any]]:
    import numpy as np

    rows = np.flatnonzero(found.violated)[:LISTED]
    decided = parties.decide(found.others.take(rows))
    listed = []
    for row, other in zip(rows, decided, strict=True):
        pair = found.counterexample(found.ids[row])
        differs = {str(name): [_plain(value) for value in pair[name]] for name in pair.columns}
        own = _plain(found.prediction[row])
        listed.append({"id": found.ids[row], "prediction": own, "other_prediction": _plain(other), "differs": differs})
    return listed


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _show(result: dict[str, Any], out: Path) -> None:
    from lcifr.cli._words import baseline_table, counterexample_table, statement_lines
    from lcifr.drawing.text import percent

    say("\n".join(statement_lines(result)))
    for reason, count in result["reasons"].items():
        say(f"undecided because: {reason} ({count})")
    ball, box, whole = (percent(result["modularity"][key]) for key in ("ball", "box", "end_to_end"))
    say(f"from the hand-over alone: {ball} certified on the ball, {box} on the box; from end to end {whole}")
    if result["baselines"]:
        baseline_table(result)
    if result["counterexamples"]:
        counterexample_table(result)
    if checked := result["checked"]:
        refused = len(checked["rejected"])
        said = (
            "all confirmed" if not refused else f"{refused} NOT confirmed: {', '.join(list(checked['rejected'])[:5])}"
        )
        say(f"exact checker: {checked['certified']} proofs, {checked['counterexamples']} counterexamples; {said}")
    to_stderr(f"\nWritten to {out}. Next: lcifr report {out}" + (f", lcifr check {out}/bundle" if checked else ""))
