"""``lcifr certify``: saved models on new people, for decisions as they are made; and a gate for pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.terminal.options import (
    ArithmeticOption,
    ChunkOption,
    ConsumerArgument,
    FailUnderOption,
    ForceOption,
    IdOption,
    OnOption,
    OutOption,
    StrictOption,
    Where,
    WorkersOption,
)
from lcifr.cli.terminal.output import JsonOption, exit_code, print_json, say, words_of
from lcifr.models.arithmetic import Arithmetic

if TYPE_CHECKING:
    from lcifr.runs.auditing.certifying import CertifyResult

EXAMPLE = "Example: lcifr certify consumer new.csv --producer producer --out certificates --fail-under 0.5"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(certify)


def certify(
    context: typer.Context,
    consumer: ConsumerArgument,
    people: Annotated[
        Path, typer.Argument(metavar="PEOPLE", help="A .csv or .parquet table (needs --producer), or a hand-over.")
    ],
    out: OutOption,
    producer: Annotated[
        Path | None, typer.Option(metavar="PRODUCER", help="The folder that `lcifr produce` wrote; for a table.")
    ] = None,
    id_column: IdOption = None,
    on: OnOption = Where.BALL,
    strict: StrictOption = False,
    fail_under: FailUnderOption = None,
    arithmetic: ArithmeticOption = Arithmetic.FLOAT64,
    workers: WorkersOption = None,
    chunk: ChunkOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Decide about new people with saved models, and prove for whom everybody similar gets the same decision.

    A consumer gives the hand-over of new people (`lcifr represent` makes one): verdicts rest on its radius. Whoever
    has both folders gives a table: verdicts are proved from end to end. Either may be larger than memory.

    Exit codes: 0 done. With --strict or --fail-under: 0 (enough) people are certified, else 1 if there is a
    counterexample, 3 if there is none but somebody is undecided. 2 wrong use.

    Ctrl-C, and whatever else stops it, keeps who is done; the same command goes on.
    """
    from lcifr.runs.auditing.certifying import CertifyRequest
    from lcifr.runs.auditing.certifying import certify as run_certify

    request = CertifyRequest(
        consumer=consumer,
        people=people,
        out=out,
        producer=producer,
        id_column=id_column,
        on=on.value,
        arithmetic=arithmetic.value,
        workers=workers,
        chunk=chunk,
        force=force,
    )
    result = run_certify(request, argv=words_of(context))
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result, out)
    said = result.statement
    enough = said.share >= fail_under if fail_under is not None else not strict
    if strict or not enough:
        raise typer.Exit(exit_code(said.violated, said.undecided))


def _show(result: CertifyResult, out: Path) -> None:
    from lcifr.cli.terminal.statements import statement_lines
    from lcifr.drawing.text import arithmetic_words

    claimed = result.radius is not None
    say("\n".join(statement_lines(result.statement, held_out=False, tolerance=result.tolerance, sees_z_alone=claimed)))
    say(f"arithmetic {arithmetic_words(result.arithmetic, result.encoder_arithmetic)}")
    if claimed:
        say("radius: claimed by the producer; what is claimed is worth what the producer's word is worth")
    how = "from the hand-over" if claimed else "from end to end"
    say(f"\n{out}/{result.certificates}   decision and verdict of everybody, proved {how}")
