"""``lcifr audit``: the auditor's work. The whole model on real people: a proof for each, or somebody who refutes it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from lcifr.cli._command import command_of
from lcifr.cli._options import (
    ChunkOption,
    ConsumerArgument,
    ForceOption,
    IdOption,
    OutOption,
    ProducerArgument,
    SampleOption,
    WorkersOption,
    exit_code,
)
from lcifr.cli._output import JsonOption, command, print_json, say, to_stderr
from lcifr.runs.baselines import Baselines
from lcifr.runs.folder import run_folder
from lcifr.runs.gathering import Gathered, audit_people, gather
from lcifr.runs.limits import HELD, refuse_more
from lcifr.runs.parties import Parties, read_parties, read_whom
from lcifr.runs.people_source import Whom

EXAMPLE = "Example: lcifr audit producer consumer --out audit"
PATIENCE = 100  # times the usual work for a person's proofs: this audit wrote them itself
PROVED = 1000  # people up to whom proofs are written and checked unless it is said otherwise: a minute or so


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
    sample: SampleOption = None,
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
        bool | None,
        typer.Option(
            "--baselines/--no-baselines",
            help="Audit the plain and the unaware model beside it. (Default: where labels are known, up to 100,000.)",
        ),
    ] = None,
    bundle: Annotated[
        bool | None,
        typer.Option(
            "--bundle/--no-bundle", help="Write all proofs and check them exactly. (Default: up to 1000 people.)"
        ),
    ] = None,
    workers: WorkersOption = None,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Prove from end to end, person by person, that nobody similar gets another decision; or show who does.

    Needs the producer's and the consumer's folder. `lcifr report OUT` makes a page of it. TABLE may be larger than
    memory: it is read some people at a time. Only --bundle and --baselines hold all of them, so both are refused above
    100,000 people, as the report is above 2,000,000: a --sample gives both, and the result says that it is one.

    Exit codes: 0 everybody is certified, 1 there is a counterexample (or the checker refuses a proof), 2 wrong
    use, 3 somebody is undecided.

    Ctrl-C, and whatever else stops it, keeps who is done; the same command goes on.
    """
    parties = read_parties(producer, consumer, phi)
    parties.check_groups(by)
    inputs = {"producer": producer, "consumer": consumer}
    inputs |= {name: Path(file) for name, file in (("table", table), ("phi", phi)) if file and Path(file).is_file()}
    with run_folder(command_of(context), out, force=force, inputs=inputs) as run:
        whom = read_whom(parties, producer, table, id_column, run.work, sample)
        _refuse_many(whom, bundle, baselines)
        audit_people(run.work, parties, whom, workers, chunk, modular=True)
        proofs = whom.people <= PROVED if bundle is None else bundle
        checked = _prove(run.work, parties, whom) if proofs else None  # first: it may leave somebody undecided
        parties.copy_into(run.work)
        beside = _baselines(parties, producer, whom, baselines)
        found = gather(run.work, parties, whom, by)
        result = _result(parties, found, confidence, population or table is None, beside)
        result["drawn_from"] = whom.drawn_from
        result["findings"] = _findings(parties)
        result["checked"] = checked
        result["files"] = {"bundle": "bundle" if proofs else None}
        run.finish(result)
    if as_json:
        print_json(result)
    else:
        _show(result, out)
    refused = bool(result["checked"] and result["checked"]["rejected"])
    raise typer.Exit(exit_code(result["violated"] or refused, result["undecided"]))


def _refuse_many(whom: Whom, bundle: bool | None, baselines: bool | None) -> None:
    """What holds everybody in memory is refused before anything is proved, or left out if nobody asked for it."""
    fix = f"leave it out; or audit a sample of them: --sample {HELD}"
    for name, wanted in (("--bundle", bundle), ("--baselines", baselines)):
        if wanted:
            refuse_more(whom.people, HELD, name, fix)
    if whom.people > HELD and whom.label is not None and baselines is None:
        to_stderr(f"Note: no baselines beside it: they need everybody in memory, and these are more than {HELD:,}")


def _baselines(parties: Parties, producer: Path, whom: Whom, wanted: bool | None) -> Baselines:
    wanted = whom.people <= HELD if wanted is None else wanted
    if not wanted or whom.label is None:
        return {}
    from lcifr.runs.baselines import judge_baselines
    from lcifr.runs.learning import one_thread

    training = parties.training(producer)
    if training is None:
        return {}
    with one_thread(say=False):
        return judge_baselines(parties, training, whom.individuals(), whom.labels())


def _prove(work: Path, parties: Parties, whom: Whom) -> dict[str, Any]:
    """Write the proofs, and let the exact checker read them back. Whose proof stops short is not certified any more."""
    from lcifr.certification.bundle import write_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.runs.audited import read_audited, revise_audited
    from lcifr.runs.events import StepKind, step

    if not (work / "bundle").exists():
        people = whom.individuals()
        found = read_audited(work / "audited", people, parties.head, tolerance=parties.tolerance)
        with step(f"Writing the proofs of {whom.people} people"):
            write_bundle(work / "bundle", parties.encoder, people, decisions=found)
    with step("Checking the proofs in exact arithmetic", StepKind.COUNT) as progress:
        report = check_bundle(work / "bundle", progress, patience=PATIENCE)
    revise_audited(work / "audited", set(report.names["undecided"]))
    return {
        "people": report.people,
        "certified": len(report.names["certified"]),
        "counterexamples": len(report.names["counterexample"]),
        "trusted": len(report.names["trusted"]),
        "rejected": report.rejected,
    }


# -- what is said ------------------------------------------------------------------------------------------------------


def _result(
    parties: Parties,
    found: Gathered,
    confidence: float,
    population: bool,
    baselines: Baselines,
) -> dict[str, Any]:
    from lcifr.certification.population import state_tally
    from lcifr.cli._words import learned_warnings
    from lcifr.runs.baselines import beaten_by

    statement = state_tally(found.tally, held_out=population, confidence=confidence, baselines=baselines)
    plain = asdict(statement)
    plain["subgroups"] = [] if statement.subgroups is None else statement.subgroups.to_dict("records")
    about_z = [one for one in parties.fitted.degeneracies_ if one.name in ("flat latent", "alone")]
    trivial = learned_warnings((*about_z, *parties.head.degeneracies_), plain)
    beaten = beaten_by(statement, is_unaware=parties.is_unaware)
    plain["warnings"] = list(dict.fromkeys([*statement.warnings, *beaten, *trivial]))
    plain["advice"] = [*(one.advice for one in parties.head.degeneracies_ if one.advice), *beaten.values()]
    return {
        "format": "lcifr-audit-result-1",
        "command": "audit",
        **parties.summary(),
        "held_out": population,
        **plain,
        "alone": found.tally.alone,
        "modularity": found.tally.modularity(),
        "reasons": dict(found.tally.reasons),
        "counterexamples": found.counterexamples,
    }


def _findings(parties: Parties) -> list[dict[str, str]] | None:
    """What lint says of φ with the people whom the producer learned from; None where they were not handed on."""
    from lcifr.data import read_frame
    from lcifr.runs.tables import TRAIN
    from lcifr.similarity.linting.linter import lint

    people = parties.producer / "people" / f"{TRAIN}.parquet"
    if not people.is_file():
        return None
    found = lint(parties.encoder.similarity, read_frame(people).select(list(parties.schema.names)))
    return [{"code": one.code, "severity": str(one.severity), "message": one.message} for one in found]


def _show(result: dict[str, Any], out: Path) -> None:
    from lcifr.cli._words import baseline_table, counterexample_table, statement_lines
    from lcifr.drawing.text import percent

    say("\n".join(statement_lines(result)))
    if result["drawn_from"]:
        say(f"a sample: {result['people']:,} people drawn at random from the {result['drawn_from']:,} of the table")
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
    for text in dict.fromkeys(result["advice"]):
        to_stderr(f"Advice: {text}")
    to_stderr(f"\nWritten to {out}. Next: {command('report', out)}")
    if checked:
        to_stderr(f"      {command('check', out / 'bundle')}")
