"""Plots of the frontier of score and certified share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lcifr.drawing.charts import Dot, frontier_chart, model_dot, standalone
from lcifr.drawing.markup import to_xml
from lcifr.estimators.choice import Scale

if TYPE_CHECKING:
    from lcifr.estimators.frontier import Frontier

TITLE = "Score against certified share"


def frontier_dots(frontier: Frontier) -> tuple[Dot, ...]:
    """Both baselines, then the weights that were tried."""
    named = [(frontier.plain, "plain"), (frontier.unaware, "unaware")]
    named += [(point, "chosen" if point == frontier.chosen else "tried") for point in frontier.points]
    score = Scale.of(frontier.by).score
    return tuple(model_dot(kind, point.gamma, point.certified, score(point)) for point, kind in named)


def frontier_svg(frontier: Frontier) -> str:
    """Certified share (across) against score (up): a line over the weights, both baselines, the score required."""
    dots = frontier_dots(frontier)
    description = ", ".join(f"{dot.label}: score {dot.up:.3f}, certified {dot.across:.3f}" for dot in dots)
    chart = frontier_chart(dots, frontier.required, title=TITLE, description=description, key="frontier")
    return to_xml(standalone(chart)) + "\n"


def plot_frontier(frontier: Frontier) -> Any:
    """The same as a matplotlib figure."""
    from lcifr.drawing.figures import frontier_figure as draw

    return draw(frontier_dots(frontier), frontier.required)
