"""``lcifr audit``: the auditor's work. The whole model on real people: a proof for each, or somebody who refutes it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from lcifr.runs.gathering import AUDITED, Gathered, audit_people, gather
from lcifr.runs.handing_over import BUNDLE
from lcifr.runs.parties import Parties, open_people, read_parties
from lcifr.runs.people.limits import HELD, PROVED, refuse_more
from lcifr.runs.people.source import PeopleSource

if TYPE_CHECKING:
    from lcifr.certification.bundles.drawn import Drawn
    from lcifr.runs.steps import Steps

EXAMPLE = "Example: lcifr audit producer consumer --out audit"
PATIENCE = 100  # times the usual work for a person's proofs: this audit wrote them itself


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
        typer.Option("--bundle/--no-bundle", help="Write and check the proofs of everybody, or of nobody."),
    ] = None,
    proofs: Annotated[
        int,
        typer.Option(
            "--proofs",
            min=1,
            help="Write and check the proofs of so many people, drawn at random; or of all, if fewer.",
        ),
    ] = PROVED,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of who is drawn for --proofs and --sample.")] = 0,
    workers: WorkersOption = None,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Prove from end to end, person by person, that nobody similar gets another decision; or show who does.

    Needs the producer's and the consumer's folder. `lcifr report OUT` makes a page of it. TABLE may be larger than
    memory: it is read some people at a time. Only --bundle and --baselines hold all of them, so both are refused above
    100,000 people, as the report is above 2,000,000: a --sample gives both, and the result says that it is one.
    OUT/bundle holds the proofs of 1000 people drawn at random (--proofs), or of all if there are fewer.

    Exit codes: 0 everybody is certified, 1 there is a counterexample (or the checker refuses a proof), 2 wrong
    use, 3 somebody is undecided.

    Ctrl-C, and whatever else stops it, keeps who is done; the same command goes on.
    """
    from lcifr.certification.bundles.drawn import draw

    parties = read_parties(producer, consumer, phi)
    parties.check_groups(by)
    inputs = {"producer": producer, "consumer": consumer}
    inputs |= {name: Path(file) for name, file in (("table", table), ("phi", phi)) if file and Path(file).is_file()}
    with run_folder(command_of(context), out, force=force, inputs=inputs) as run:
        source = open_people(parties, producer, table, id_column, run.work, sample, seed)
        _refuse_many(source, bundle, proofs, baselines)
        audit_people(run.steps, parties, source, workers, chunk, modular=True)
        drawn = None if bundle is False else draw(source.count, None if bundle else proofs, seed)
        # Proofs first: they may leave somebody undecided.
        checked = None if drawn is None else _prove(run.steps, parties, source, drawn)
        parties.copy_into(run.work)
        beside = _baselines(parties, producer, source, baselines)
        found = gather(run.work, parties, source, by)
        result = _result(parties, found, confidence, population or table is None, beside)
        result["drawn_from"] = source.drawn_from
        result["findings"] = _findings(parties)
        result["checked"] = checked
        result["files"] = {"bundle": None if drawn is None else BUNDLE}
        run.finish(result)
    if as_json:
        print_json(result)
    else:
        _show(result, out)
    refused = bool(result["checked"] and result["checked"]["rejected"])
    raise typer.Exit(exit_code(result["violated"] or refused, result["undecided"]))


def _refuse_many(source: PeopleSource, bundle: bool | None, proofs: int, baselines: bool | None) -> None:
    """What holds everybody in memory is refused before anything is proved, or left out if nobody asked for it."""
    if bundle is None:
        refuse_more(min(proofs, source.count), HELD, "--proofs", "say a smaller number")
    fix = f"leave it out; or audit a sample of them: --sample {HELD}"
    for name, wanted in (("--bundle", bundle), ("--baselines", baselines)):
        if wanted:
            refuse_more(source.count, HELD, name, fix)
    if source.count > HELD and source.label is not None and baselines is None:
        to_stderr(f"Note: no baselines beside it: they need everybody in memory, and these are more than {HELD:,}")


def _baselines(parties: Parties, producer: Path, source: PeopleSource, wanted: bool | None) -> Baselines:
    wanted = source.count <= HELD if wanted is None else wanted
    if not wanted or source.label is None:
        return {}
    from lcifr.runs.baselines import judge_baselines
    from lcifr.runs.learning import one_thread

    training = parties.training(producer)
    if training is None:
        return {}
    with one_thread(say=False):
        return judge_baselines(parties, training, source.individuals(), source.labels())


def _prove(steps: Steps, parties: Parties, source: PeopleSource, drawn: Drawn) -> dict[str, Any]:
    """Write the proofs of these people, and let the exact checker read them back.

    Whose proof stops short is not certified any more.
    """
    from lcifr.certification.bundles.writer import write_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.runs.events import StepKind, step
    from lcifr.runs.streaming.audited import read_audited_rows, revise_audited

    if not steps.kept(BUNDLE):
        everybody = (people for people, _ in source.rows())
        found = read_audited_rows(steps.work / AUDITED, everybody, parties.model, parties.hashes, drawn.rows())
        with step(f"Writing the proofs of {drawn}"):
            write_bundle(steps.work / BUNDLE, parties.encoder, found.people, decisions=found, drawn=drawn)
        steps.keep(BUNDLE)
    with step("Checking the proofs in exact arithmetic", StepKind.COUNT) as progress:
        report = check_bundle(steps.work / BUNDLE, progress, patience=PATIENCE)
    revise_audited(steps.work / AUDITED, set(report.names["undecided"]))
    steps.keep(AUDITED)
    return {
        **asdict(drawn),
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
    from lcifr.certification.population.statement import state_tally
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
    from lcifr.runs.people.tables import TRAIN
    from lcifr.similarity.linting.linter import lint

    people = parties.producer / "people" / f"{TRAIN}.parquet"
    if not people.is_file():
        return None
    found = lint(parties.encoder.similarity, read_frame(people).select(list(parties.schema.names)))
    return [{"code": one.code, "severity": str(one.severity), "message": one.message} for one in found]


def _show(result: dict[str, Any], out: Path) -> None:
    from lcifr.certification.bundles.drawn import Drawn
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
        if checked["people"] < checked["of"]:
            about = Drawn(checked["people"], checked["of"], checked["seed"])
            say(f"it was asked about {about}; --bundle asks it about everybody")
    for text in dict.fromkeys(result["advice"]):
        to_stderr(f"Advice: {text}")
    to_stderr(f"\nWritten to {out}. Next: {command('report', out)}")
    if checked:
        to_stderr(f"      {command('check', out / 'bundle')}")
