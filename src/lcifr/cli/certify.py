"""``lcifr certify``: saved models on new people, for decisions as they are made; and a gate for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.cli.options import (
    PANEL,
    AcceptAccuracyOption,
    AcceptDraftOption,
    AddressOption,
    AnyArithmeticOption,
    ChunkOption,
    DescribeOption,
    DeviceOption,
    ExecutorOption,
    FailUnderOption,
    ForceOption,
    IdOption,
    LabelsOption,
    MissingOption,
    ModelOption,
    ModelSchemaOption,
    ModelTargetOption,
    ModelToleranceOption,
    OnOption,
    OutOption,
    ReferenceOption,
    SameOption,
    StrictOption,
    WorkersOption,
    needed_folder,
    needed_formula,
    new_app,
    one_table,
    refuse_without_model,
)
from lcifr.cli.output import JsonOption, exit_code, print_json, say, to_stderr, words_of
from lcifr.display.text import at_least, percent
from lcifr.workflows.executors import Device, Executor
from lcifr.workflows.options import groups_of, labels_of

if TYPE_CHECKING:
    from lcifr.certification.population import Statement
    from lcifr.workflows.results import CertifyResult, LookUpSummary

app = new_app()
EXAMPLE = (
    "Example: lcifr certify consumer new.csv --producer producer --out certificates --fail-under 0.5\n\n"
    "With a model of your own: "
    "lcifr certify new.csv --model model.onnx --phi people.phi --reference people.csv --out certificates --strict\n\n"
    "With the cells that `lcifr sweep` proved: lcifr certify new.csv --sweep sweep --out certificates"
)


@app.command(epilog=EXAMPLE)
def certify(
    context: typer.Context,
    consumer: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE|CONSUMER", help="With --model, or --sweep alone: the people. Else: the consumer's folder."
        ),
    ],
    out: OutOption,
    people: Annotated[
        Path | None,
        typer.Argument(metavar="PEOPLE", help="A .csv or .parquet table (with --producer), or a hand-over."),
    ] = None,
    producer: Annotated[
        Path | None,
        typer.Option(
            "--producer", metavar="PRODUCER", help="The folder that `lcifr produce` wrote, if PEOPLE is a table."
        ),
    ] = None,
    sweep: Annotated[
        Path | None,
        typer.Option(
            "--sweep",
            metavar="SWEEP",
            help="The folder that `lcifr sweep` wrote: people in a proved cell need no search.",
        ),
    ] = None,
    model: ModelOption = None,
    describe: DescribeOption = None,
    missing: MissingOption = None,
    phi: Annotated[
        str | None,
        typer.Option("--phi", metavar="FILE|NAME", help="Who counts as similar: a .phi file.", rich_help_panel=PANEL),
    ] = None,
    schema: ModelSchemaOption = None,
    target: ModelTargetOption = None,
    reference: ReferenceOption = None,
    tolerance: ModelToleranceOption = None,
    same: SameOption = None,
    accept_draft: AcceptDraftOption = False,
    accept_accuracy: AcceptAccuracyOption = False,
    id_column: IdOption = None,
    on: OnOption = None,
    strict: StrictOption = False,
    fail_under: FailUnderOption = None,
    arithmetic: AnyArithmeticOption = None,
    workers: WorkersOption = None,
    executor: ExecutorOption = Executor.LOCAL,
    address: AddressOption = None,
    device: DeviceOption = Device.CPU,
    labels: LabelsOption = None,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Decide about new people with saved models, and certify the decisions.

    A consumer passes the hand-over of new people (from `lcifr represent`); verdicts then rest on its radius. With both
    folders, pass a table; verdicts are then proved end to end. The same holds for a model of your own (--model). Tables
    and hand-overs may be larger than memory.

    With --sweep, anyone who falls into a strictly proved cell is certified without a search; the others are searched.
    Model, φ, schema and arithmetic must match the sweep; if you pass only --sweep, they are taken from it.

    Exit codes: 0 done. With --strict or --fail-under: 0 if (enough) people are certified, else 1 if there is a
    counterexample, or 3 if someone is undecided. Rows with missing values are not examined: they get no decision and
    count as not certified, and the exit code is then 1 if there is a counterexample, else 3. 2 wrong usage.

    An interrupted run (Ctrl-C, crash) keeps its progress; the same command resumes it.
    """
    options: dict[str, Any] = {"out": out, "id_column": id_column, "workers": workers, "chunk": chunk, "force": force}
    options |= {"labels": labels_of(labels)}
    options |= {"executor": executor.value, "address": address, "device": device.value}
    about: dict[str, Any] = {"describe": describe, "missing": missing, "schema": schema, "target": target}
    about |= {"reference": reference, "tolerance": tolerance}
    about |= {"accept_draft": accept_draft, "accept_accuracy": accept_accuracy}
    if model is None:
        refuse_without_model(**about, phi=phi, same=same)
        computed = None if arithmetic is None else arithmetic.value
        if sweep is not None and people is None and producer is None:
            result = _certify_swept(context, sweep, consumer, options)
        else:
            options |= {"producer": producer, "on": None if on is None else on.value, "arithmetic": computed}
            result = _certify_folder(context, consumer, people, options | {"sweep": sweep})
    else:
        about |= {"model": model, "table": one_table("certify", consumer, people, producer), "phi": needed_formula(phi)}
        about |= {"groups": groups_of(same), "arithmetic": None if arithmetic is None else arithmetic.value}
        result = _certify_model(context, about | options | {"sweep": sweep})
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, out)
    said = result.statement
    enough = said.share >= fail_under if fail_under is not None else not strict
    if fail_under is not None:
        to_stderr(_gate(said, fail_under, enough=enough))
    if strict or not enough or said.not_examined:
        raise typer.Exit(exit_code(said.violated, said.undecided, said.not_examined))


def _gate(said: Statement, bar: float, *, enough: bool) -> str:
    """How ``--fail-under`` ends: the share, the bar, and which of the two is larger."""
    code = exit_code(said.violated, said.undecided, said.not_examined)
    # as in the headline, but rounded down where that would be rounded up to the bar that it fails
    rounded_up = not enough and round(100 * said.share, 1) >= 100 * bar
    shown = f"{at_least(said.share) if rounded_up else percent(said.share)} of the people are certified"
    if enough and not said.not_examined:
        return f"--fail-under {bar:g}: passed, {shown}"
    if enough:  # counterexamples alone would pass
        found = ", and there are counterexamples" if said.violated else ""
        return f"--fail-under {bar:g}: {shown}, but exit {code}: {said.not_examined:,} rows were not examined{found}"
    why = "there are counterexamples" if said.violated else "people are undecided"
    if not said.violated and said.not_examined:
        why = "rows were not examined"
    return f"--fail-under {bar:g}: failed, only {shown}; exit {code}, {why}"


def _certify_folder(
    context: typer.Context, consumer: Path, people: Path | None, options: dict[str, Any]
) -> CertifyResult:
    from lcifr.workflows.certifying import CertifyRequest, certify

    people = needed_folder(people, consumer, "certify", "CONSUMER PEOPLE")
    return certify(CertifyRequest(consumer=consumer, people=people, **options), argv=words_of(context))


def _certify_model(context: typer.Context, asked: dict[str, Any]) -> CertifyResult:
    from lcifr.workflows.certifying import ModelCertifyRequest, certify_model

    return certify_model(ModelCertifyRequest(**asked), argv=words_of(context))


def _certify_swept(context: typer.Context, sweep: Path, table: Path, options: dict[str, Any]) -> CertifyResult:
    from lcifr.workflows.certifying import certify_swept

    return certify_swept(sweep, table, options, argv=words_of(context))


def _show(result: CertifyResult, out: Path) -> None:
    from lcifr.cli.statements import show_labels, show_origin, show_scales, statement_lines
    from lcifr.display.text import arithmetic_words
    from lcifr.workflows.folders import shown

    claimed = result.radius is not None
    about: dict[str, Any] = {"tolerance": result.tolerance, "sees_z_alone": claimed, "labels": result.labels}
    say("\n".join(statement_lines(result.statement, held_out=False, **about)))
    show_labels(result.labels)
    show_origin(result.origin, result.statement.not_examined)
    say(f"arithmetic {arithmetic_words(result.arithmetic, result.encoder_arithmetic)}")
    show_scales(result.scales)
    if result.looked_up is not None:
        _show_looked_up(result.looked_up, result.statement.people)
    if claimed:
        say("radius: claimed by the producer, and not checked")
    how = "from the hand-over" if claimed else "end to end"
    say(f"\n{shown(out)}/{result.certificates}   everyone's decision and verdict, proved {how}")


def _show_looked_up(found: LookUpSummary, people: int) -> None:
    say(f"looked up in {found.folder}: {found.people:,} of {people:,} people; the others were searched")
    if found.checked:
        say(f"sweep: checked by the exact checker for {found.checked:,} of them")
    if found.claimed:
        say(f"sweep: claimed for {found.claimed:,} of them; these cells were not checked")
