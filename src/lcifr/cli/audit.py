"""``lcifr audit``: the auditor's work. The whole model on real people: a proof for each, or somebody who refutes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.terminal.options import (
    ArithmeticOption,
    ChunkOption,
    ConsumerArgument,
    ForceOption,
    IdOption,
    OutOption,
    ProducerArgument,
    SampleOption,
    WorkersOption,
)
from lcifr.cli.terminal.output import JsonOption, command, exit_code, print_json, say, to_stderr, words_of
from lcifr.models.arithmetic import Arithmetic
from lcifr.runs.people.source import PROVED

if TYPE_CHECKING:
    from lcifr.runs.auditing.result import AuditResult, CheckedProofs

EXAMPLE = "Example: lcifr audit producer consumer --out audit"


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
    arithmetic: ArithmeticOption = Arithmetic.FLOAT64,
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
    from lcifr.runs.auditing.run import AuditRequest
    from lcifr.runs.auditing.run import audit as run_audit

    request = AuditRequest(
        producer=producer,
        consumer=consumer,
        out=out,
        table=table,
        id_column=id_column,
        sample=sample,
        population=population,
        phi=phi,
        by=tuple(by) if by else None,
        confidence=confidence,
        baselines=baselines,
        bundle=bundle,
        proofs=proofs,
        seed=seed,
        arithmetic=arithmetic.value,
        workers=workers,
        chunk=chunk,
        force=force,
    )
    result = run_audit(request, argv=words_of(context))
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, out)
    raise typer.Exit(exit_code(result.is_refuted, result.statement.undecided))


def _show(result: AuditResult, out: Path) -> None:
    from lcifr.cli.terminal.statements import baseline_table, counterexample_table, statement_lines
    from lcifr.drawing.text import arithmetic_words, percent

    said, on = result.statement, result.modularity
    say("\n".join(statement_lines(said, held_out=result.held_out, tolerance=result.model.tolerance)))
    say(f"arithmetic {arithmetic_words(result.model.arithmetic)}")
    if result.drawn_from:
        say(f"a sample: {said.people:,} people drawn at random from the {result.drawn_from:,} of the table")
    for reason, count in result.reasons.items():
        say(f"undecided because: {reason} ({count})")
    ball, box, whole = (percent(share) for share in (on.ball, on.box, on.end_to_end))
    say(f"from the hand-over alone: {ball} certified on the ball, {box} on the box; from end to end {whole}")
    if said.baselines:
        baseline_table(said)
    if result.counterexamples:
        counterexample_table(result)
    if result.checked:
        _show_checked(result.checked)
    for text in dict.fromkeys(result.advice):
        to_stderr(f"Advice: {text}")
    to_stderr(f"\nWritten to {out}. Next: {command('report', out)}")
    if result.checked:
        to_stderr(f"      {command('check', out / 'bundle')}")


def _show_checked(checked: CheckedProofs) -> None:
    from lcifr.certification.bundles.manifest import Drawn

    refused = len(checked.rejected)
    said = "all confirmed" if not refused else f"{refused} NOT confirmed: {', '.join(list(checked.rejected)[:5])}"
    say(f"exact checker: {checked.certified} proofs, {checked.counterexamples} counterexamples; {said}")
    if checked.people < checked.of:
        about = Drawn(checked.people, checked.of, checked.seed)
        say(f"it was asked about {about}; --bundle asks it about everybody")
