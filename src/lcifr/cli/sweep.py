"""``lcifr sweep``: a proof or a counterexample for everyone who could exist, not only the people of a table."""

from __future__ import annotations

from pathlib import Path

import typer

from lcifr.cli.options import Call, need_second, new_app, request_command, table_of_model
from lcifr.cli.output import command, exit_code, say, to_stderr
from lcifr.cli.statements import show_labels, show_scales
from lcifr.workflows.sweeping import SweepRequest, SweepResult
from lcifr.workflows.sweeping import sweep as run_sweep

app = new_app()
EXAMPLE = (
    "Example: lcifr sweep people.csv --model model.onnx --phi people.phi --schema people.toml --out sweep\n\n"
    "A model trained by lcifr: lcifr sweep producer consumer --out sweep"
)
SHOWN = 3
"""Pairs that are printed, those whose outputs are furthest apart; all are in the folder."""


@request_command(app, SweepRequest, epilog=EXAMPLE, arrange=table_of_model("sweep", "producer", "table", "consumer"))
def sweep(request: SweepRequest, call: Call) -> None:
    """Prove or refute that similar people get the same decision, for everyone who could exist.

    The schema says who can exist: every number needs a range there (lower, upper). The sweep divides this universe into
    cells that are proved, violating (everyone there has a counterexample), or open. OUT/cells.parquet lists them with
    their shares; OUT/pairs.csv lists every pair found, in the table's own units. People of the table whom no cell
    decides are then asked about one by one, as in an audit; OUT/people.parquet says how each person was decided.

    Exit codes: 0 everything is proved, 1 a similar pair gets different decisions, 2 wrong usage, 3 something is open.

    An interrupted run (Ctrl-C, crash) keeps its progress; the same command resumes it.
    """
    need_second("sweep", request.producer, request.consumer, "PRODUCER CONSUMER")
    result = run_sweep(request, argv=call.argv)
    call.print(result, _show, request.out)
    raise typer.Exit(exit_code(result.sweep.refuted, result.undecided))


def _show(result: SweepResult, out: Path) -> None:
    say(str(result.sweep))
    if result.checked is not None:
        say(f"{result.checked}; to check again: {command('check', out / 'bundle')}")
    show_labels(result.model.labels)
    say("\n".join(result.people_lines))
    show_scales(result.model.scales)
    for number, pair in enumerate(result.worst[:SHOWN], 1):
        differs = ", ".join(f"{name} {own} → {other}" for name, (own, other) in pair.differs.items())
        alike = ", ".join(f"{name} {value}" for name, value in pair.alike.items())
        own, other = result.model.shown(pair.decision), result.model.shown(pair.other_decision)
        decided = f"{result.model.target} {own} → {other}"
        say(f"pair {number}: {differs}; decision: {decided}{f'; both {alike}' if alike else ''}")
    if len(result.sweep.pairs) > SHOWN:
        say(f"all {len(result.sweep.pairs):,} pairs: {out / 'pairs.csv'}")
    to_stderr(f"\nWritten to {out}.\nNext: {command('report', out)}")
