"""``lcifr tune``: what every weight of the promise costs and gives; the paper's advice as a command."""

from __future__ import annotations

import typer

from lcifr.cli.options import Call, new_app, refuse_other_family, request_command
from lcifr.cli.output import console, say, to_stderr, watched
from lcifr.cli.statements import show_produced
from lcifr.workflows.results import TuneResult
from lcifr.workflows.tuning import TuneRequest
from lcifr.workflows.tuning import tune as run_tune

NONE_CHOSEN = 3  # as where somebody is undecided: the work was done, and there is nothing to go on with
app = new_app()
EXAMPLE = "Example: lcifr tune people.csv --phi people.phi --target repaid --required 0.5 --gammas 1,10 --out frontier"


@request_command(app, TuneRequest, epilog=EXAMPLE)
def tune(request: TuneRequest, call: Call) -> None:
    """Train models with increasing weight on certification, compare them with two baselines, and choose one.

    Stops when the score falls below --required. Chooses the most certified model with the required score; among equally
    certified models, the one with the best score; among equals, the more certified one. Figures within one standard
    error count as equal. A model that makes the same decision for everyone, or does worse than a model that ignores its
    input, is never chosen. OUT is a producer's folder, for `lcifr consume`, `lcifr audit` and `lcifr represent`.

    --learner both searches networks and trees, and chooses among all models by the same rule. Networks alone are
    certified on each person's ball, as in the paper; with trees, all are certified on the box. A booster decides by the
    sum of its scores.

    Figures are for validation people. The held-out people, the same as for `lcifr produce` with the same --seed and
    --sample, are not used. Training needs everyone in memory: at most 2,000,000 people.

    Exit codes: 0 a model was chosen, 2 wrong usage, 3 no useful model reaches the required score.

    Ctrl-C keeps every finished model; the same command resumes.
    """
    refuse_other_family(call, request)
    result = run_tune(request, argv=call.argv, verbose=watched())
    call.print(result, _show, request)
    raise typer.Exit(0 if result.chosen else NONE_CHOSEN)


def _show(result: TuneResult, request: TuneRequest) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("percent of validation people", "score", "balanced", "certified", "mean radius"):
        table.add_column(heading, justify="left" if heading.startswith("percent") else "right")
    points = (*result.baselines, *result.points)
    for point in points:
        figures = (
            (point.score, point.score_error),
            (point.balanced, point.balanced_error),
            (point.certified, point.certified_error),
        )
        shares = [f"{100 * share:.1f} ±{100 * error:.1f}" for share, error in figures]
        name = point.title + (" ← chosen" if point.name == result.chosen else "")
        table.add_row(name, *shares, f"{point.radius:.4f}")
    console().print(table)
    say(f"±: one standard error. Certified: on each person's {result.plain.on} around z, by bounds alone.")
    for text in dict.fromkeys(one.message for point in points for one in point.degeneracies):
        whose = ", ".join(point.title for point in points if text in [one.message for one in point.degeneracies])
        say(f"warning: {whose}: {text}")
    say(f"{result.why[:1].upper()}{result.why[1:]}.")
    about = [point for point in result.points if result.chosen in (None, point.name)]
    for text in dict.fromkeys(one.advice for point in about for one in point.degeneracies if one.advice):
        to_stderr(f"Advice: {text}")
    if result.produced is None:
        return
    say(f"\n{request.out}/{result.files['plot']}   the plot")
    show_produced(result.produced, request.out)
