"""Matplotlib versions of the charts, those of scores, contributions and profiles too, for notebooks and papers."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from typing import Any

from lcifr.display.canvas import axis_name, clipped
from lcifr.display.charts import Dot, Histogram, family_lines
from lcifr.display.scores import MarkedScore, PairScore, PersonScore, Profile, limit_text
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
    """An empty figure, not registered with pyplot; a notebook shows it nevertheless."""
    try:
        return _notebook_figure()(figsize=(6.4, 3.8), layout="constrained")
    except ImportError:
        raise LcifrError(
            "figures are drawn by matplotlib, which is not installed", fix='pip install "lcifr[plot]"'
        ) from None


@cache
def _notebook_figure() -> Any:
    """Made on demand, as matplotlib is optional. Notebooks can show a plain figure only once pyplot was imported."""
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that shows itself in notebooks."""

        def _repr_png_(self) -> bytes:
            buffer = io.BytesIO()
            self.savefig(buffer, format="png", dpi=110)
            return buffer.getvalue()

    return NotebookFigure


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


LINES = ("#0f5f8c", "#b3261e", "#8a5a00", "#8a97a3", "#1b2730", "#51606d")
MARK, PEOPLE, BAND = "#8a5a00", "#8a97a3", "#fff3d1"


def score_figure(marked: Sequence[MarkedScore]) -> Any:
    """What each attribute adds, two beside each other, with the people's histogram below each number."""
    figure = new_figure()
    rows = max(-(-len(marked) // 2), 1)
    figure.set_size_inches(9.0, 2.6 * rows)
    for place, part in enumerate(figure.subfigures(rows, 2, squeeze=False).flat):
        if place < len(marked):
            one = marked[place]
            (_draw_categories if one.score.categories else _draw_steps)(part, one)
    return figure


def _draw_steps(part: Any, marked: MarkedScore) -> None:
    score = marked.score
    top, below = part.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    for number, adds in enumerate(score.adds):
        label = score.outputs[number] if score.outputs else None
        top.stairs(adds, score.edges, baseline=None, color=LINES[number], linewidth=1.5, label=label)
    top.axhline(0, color="grey", linewidth=0.8)
    top.set_ylabel("adds")
    assert score.people is not None
    below.stairs(score.people.counts["people"], score.people.edges, fill=True, color=PEOPLE)
    below.set_ylabel("people")
    below.set_xlabel(axis_name(score.attribute, score.unit))
    if marked.own is not None:
        for axes in (top, below):
            axes.axvline(float(marked.own), color=MARK, linewidth=1.5)
            for low, high in () if marked.free is None else marked.free.intervals:
                axes.axvspan(low, high, color=BAND, zorder=0)
    if score.outputs:
        top.legend(frameon=False, fontsize="small")


def _draw_categories(part: Any, marked: MarkedScore) -> None:
    score = marked.score
    left, right = part.subplots(1, 2, sharey=True, width_ratios=(3, 1))
    rows, thick = list(range(len(score.categories))), 0.8 / len(score.adds)
    for number, adds in enumerate(score.adds):
        places = [row + (number + 0.5) * thick - 0.4 for row in rows]
        left.barh(places, adds, thick, color=LINES[number], label=score.outputs[number] if score.outputs else None)
    left.axvline(0, color="grey", linewidth=0.8)
    left.set_yticks(rows, [clipped(name, 24) for name in score.categories], fontsize="small")
    left.invert_yaxis()
    left.set_title(score.attribute, loc="left", fontsize="medium")
    left.set_xlabel("adds")
    right.barh(rows, score.counts, color=PEOPLE)
    right.set_xlabel("people")
    for row, name in enumerate(score.categories):
        if marked.free is not None and name in marked.free.values:
            left.axhspan(row - 0.5, row + 0.5, color=BAND, zorder=0)
        if name == marked.own:
            left.get_yticklabels()[row].set_color(MARK)
            left.get_yticklabels()[row].set_fontweight("bold")


def pair_figure(scores: Sequence[PairScore]) -> Any:
    """What pairs of attributes add together, as maps."""
    figure = new_figure()
    figure.set_size_inches(6.4, 3.8 * max(len(scores), 1))
    for axes, score in zip(figure.subplots(max(len(scores), 1), 1, squeeze=False).flat, scores, strict=True):
        ends = [axis.edges or tuple(range(axis.count + 1)) for axis in (score.across, score.up)]
        most = max(abs(value) for column in score.adds for value in column) or 1.0
        rows = list(zip(*score.adds, strict=True))
        drawn = axes.pcolormesh(*ends, rows, cmap="RdBu", vmin=-most, vmax=most)
        figure.colorbar(drawn, ax=axes, label="adds")
        axes.set_xlabel(axis_name(score.across.attribute, score.across.unit))
        axes.set_ylabel(axis_name(score.up.attribute, score.up.unit))
        for axis, put in ((score.across, axes.set_xticks), (score.up, axes.set_yticks)):
            if axis.categories:
                places = [place + 0.5 for place in range(axis.count)]
                put(places, [clipped(name, 16) for name in axis.categories], fontsize="small")
    return figure


def contribution_figure(score: PersonScore, *, title: str) -> Any:
    """What each attribute adds for a person, and how far that could move within φ."""
    figure = new_figure()
    listed = score.contributions
    figure.set_size_inches(7.0, 1.4 + 0.32 * len(listed))
    axes = figure.add_subplot()
    rows = list(range(len(listed)))
    colours = [COLOURS["certified"] if one.adds >= 0 else COLOURS["counterexample"] for one in listed]
    axes.barh(
        rows, [one.high - one.low for one in listed], 0.95, [one.low for one in listed], color=BAND, edgecolor=MARK
    )
    axes.barh(rows, [one.adds for one in listed], 0.55, color=colours)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_yticks(rows, [one.attribute for one in listed])
    axes.invert_yaxis()
    axes.set_xlabel(f"adds: + for {score.up}, − for {score.down}; the band is what somebody similar can have")
    axes.set_title(f"{title}: output {score.output:.3g}, average {score.average:.3g}", loc="left")
    return figure


def profile_figure(profiles: Sequence[Profile], *, title: str) -> Any:
    """The output along each attribute in which a counterexample differs."""
    figure = new_figure()
    figure.set_size_inches(6.4, 2.8 * max(len(profiles), 1))
    figure.suptitle(title, x=0.02, ha="left")
    for axes, profile in zip(figure.subplots(max(len(profiles), 1), 1, squeeze=False).flat, profiles, strict=True):
        _draw_profile(axes, profile)
    return figure


def _draw_profile(axes: Any, profile: Profile) -> None:
    ends = (
        (profile.own, profile.at_own, "black", "this person’s value"),
        (profile.other, profile.at_other, COLOURS["counterexample"], "counterexample"),
    )
    if profile.categories:
        rows = list(range(len(profile.categories)))
        axes.scatter(profile.outputs, rows, facecolors="white", edgecolors="grey", zorder=2)
        axes.set_yticks(rows, [clipped(name, 24) for name in profile.categories], fontsize="small")
        axes.set_xlabel(f"{profile.axis}, by {profile.attribute}")
        for value, output, colour, label in ends:
            axes.scatter([output], [profile.categories.index(str(value))], color=colour, label=label, zorder=3)
    else:
        if profile.stepwise:
            axes.stairs(profile.outputs, profile.edges, baseline=None, color=LINES[0], linewidth=1.5)
        else:
            axes.plot(profile.edges, profile.outputs, color=LINES[0], linewidth=1.5)
        axes.set_xlabel(axis_name(profile.attribute, profile.unit))
        axes.set_ylabel(profile.axis)
        for value, output, colour, label in ends:
            axes.scatter([float(value)], [output], color=colour, label=label, zorder=3)
    draw = axes.axvline if profile.categories else axes.axhline
    for limit in profile.limits:
        draw(limit, color="black", linestyle="--", linewidth=1, label=f"decision changes at {limit_text(limit)}")
    axes.legend(frameon=False, fontsize="small")
