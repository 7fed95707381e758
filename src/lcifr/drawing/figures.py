"""Matplotlib versions of the charts, for notebooks and papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lcifr.drawing.charts import Dot, family_lines
from lcifr.drawing.histogram import Histogram
from lcifr.errors import LcifrError

COLOURS = {
    "certified": "#0f5f8c",
    "counterexample": "#b3261e",
    "undecided": "#8a97a3",
    "tried": "#0f5f8c",
    "chosen": "#0f5f8c",
    "plain": "#b3261e",
    "unaware": "#8a97a3",
}


def new_figure() -> Any:
    """An empty figure, not registered with pyplot."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise LcifrError(
            "figures are drawn by matplotlib, which is not installed", fix='pip install "lcifr[plot]"'
        ) from None
    return Figure(figsize=(6.4, 3.8), layout="constrained")


def histogram_figure(shown: Histogram | None, *, title: str, axis: str) -> Any:
    """Stacked bars, as in a report; empty axes where there is nothing to show."""
    figure = new_figure()
    axes = figure.add_subplot()
    axes.set_title(title, loc="left")
    axes.set_xlabel(axis)
    axes.set_ylabel("people")
    if shown is None:
        return figure
    widths = [high - low for low, high in zip(shown.edges, shown.edges[1:], strict=False)]
    below = [0] * shown.bars
    for kind, counts in shown.counts.items():
        axes.bar(
            shown.edges[:-1], counts, widths, below, align="edge", color=COLOURS[kind], edgecolor="white", label=kind
        )
        below = [low + more for low, more in zip(below, counts, strict=True)]
    if shown.edges[0] < 0 < shown.edges[-1]:
        axes.axvline(0, color="black", linestyle="--", linewidth=1)
    axes.legend(frameon=False)
    return figure


def frontier_figure(dots: Sequence[Dot], required: float) -> Any:
    """Certified share (across) against score (up)."""
    figure = new_figure()
    axes = figure.add_subplot()
    axes.set_xlabel("certified share (validation)")
    axes.set_ylabel("score")
    axes.set_xlim(0, 1)
    for line in family_lines(dots):
        axes.plot([dot.across for dot in line], [dot.up for dot in line], color=COLOURS["tried"], linewidth=1)
    axes.axhline(required, color="grey", linestyle="--", linewidth=1)
    for dot in dots:
        edge = "black" if dot.kind == "chosen" else COLOURS[dot.kind]
        axes.scatter([dot.across], [dot.up], color=COLOURS[dot.kind], edgecolors=edge, linewidths=2, zorder=3)
        axes.annotate(dot.label, (dot.across, dot.up), xytext=(6, 6), textcoords="offset points")
    return figure
