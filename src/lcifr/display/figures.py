"""Charts as matplotlib figures, for notebooks and papers: the same shapes as in a report, in the same colours."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from lcifr.display.canvas import SHAPES, WIDTH, Picture, Shape, text
from lcifr.display.charts import Dot, Histogram, chart_style, frontier_chart, histogram_chart
from lcifr.display.score_charts import contribution_chart, pair_chart, profile_chart, score_chart
from lcifr.display.scores import MarkedScore, PairScore, PersonScore, Profile, signed
from lcifr.display.text import short
from lcifr.errors import missing_extra

INCHES = 6.4 / WIDTH
POINTS = 72 * INCHES
"""Of one unit of a chart."""
HEAD, KEYS = 26.0, 18.0
"""Room for a title above a chart, and for a legend below the title."""
ALIGNED = {"start": "left", "middle": "center", "end": "right"}


def new_figure() -> Any:
    """An empty figure, not registered with pyplot; a notebook shows it nevertheless."""
    try:
        return _notebook_figure()()
    except ModuleNotFoundError as error:
        raise missing_extra(error, "drawing a figure") from None


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
    """Stacked bars; a title alone where there is nothing to show."""
    return draw([Picture(title, ()) if shown is None else histogram_chart(shown, title=title, axis=axis)])


def frontier_figure(dots: Sequence[Dot], required: float) -> Any:
    """Certified share (across) against score (up)."""
    return draw([frontier_chart(dots, required, title=f"Score against certified share; required: {short(required)}")])


def score_figure(marked: Sequence[MarkedScore]) -> Any:
    """What each attribute adds, two beside each other, with the people's histogram below each number."""
    return draw([score_chart(one) for one in marked], columns=2)


def pair_figure(scores: Sequence[PairScore]) -> Any:
    """What pairs of attributes add together, as maps; the legend says what the deepest colours mean."""
    return draw([replace(pair_chart(one), legend=tuple(_ends(one))) for one in scores])


def _ends(score: PairScore) -> Iterator[tuple[str, str]]:
    added = [value for column in score.adds for value in column]
    yield from (("for", f"up to {signed(max(added))}"),) if max(added) > 0 else ()
    yield from (("against", f"down to {signed(min(added))}"),) if min(added) < 0 else ()


def contribution_figure(score: PersonScore, *, title: str) -> Any:
    """What each attribute adds for a person, and how far that could move within φ."""
    title = f"{title}: output {short(score.output, 3)}, average {short(score.average, 3)}"
    return draw([contribution_chart(score, title)])


def profile_figure(profiles: Sequence[Profile], *, title: str) -> Any:
    """The output along each attribute in which a counterexample differs."""
    return draw([profile_chart(one) for one in profiles], title=title)


def draw(pictures: Sequence[Picture], *, columns: int = 1, title: str = "") -> Any:
    """Charts in rows, each with its title and its legend; every chart has axes of its own, in its own units."""
    figure = new_figure()
    rows = [pictures[start : start + columns] for start in range(0, len(pictures), columns)]
    heights = [max(_above(one) + one.height for one in row) for row in rows]
    above = HEAD if title else 0.0
    whole = above + sum(heights)
    figure.set_size_inches(INCHES * WIDTH * columns, INCHES * whole)
    if title:
        figure.text(0.01, 1 - 18 / whole, title, fontsize=13 * POINTS, parse_math=False)
    for row, height in zip(rows, heights, strict=True):
        above += height
        for place, picture in enumerate(row):
            axes = figure.add_axes((place / columns, 1 - above / whole, 1 / columns, height / whole))
            axes.set(xlim=(0, WIDTH), ylim=(height - _above(picture), -_above(picture)))
            axes.set_axis_off()
            for shape in (*_heading(picture), *(picture.marks or ()), *picture.shapes):
                _put(axes, shape)
    return figure


def _above(picture: Picture) -> float:
    return HEAD + (KEYS if picture.legend else 0.0)


def _heading(picture: Picture) -> list[Shape]:
    """The title and, below it, the colours with their names."""
    found, x = [text(8, 18 - _above(picture), picture.title, "start", "label")], 8.0
    for kind, name in picture.legend:
        found += [text(x, -6, "■", "start", kind), text(x + 14, -6, name, "start")]
        x += 30 + 7 * len(name)
    return found


def _put(axes: Any, shape: Shape) -> None:
    """One shape as an artist of matplotlib."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, Rectangle

    at: dict[str, Any] = dict(zip(SHAPES[shape.tag], shape.values, strict=True))
    style = _style(shape.tag, at["class"])
    wide, edge = POINTS * float(style.get("stroke-width", 1)), style.get("stroke", "none")
    if shape.tag == "text":
        words = {"ha": ALIGNED[at["text-anchor"]], "fontsize": 12 * POINTS, "parse_math": False}
        axes.text(at["x"], at["y"], shape.words, color=style["fill"], **words)
    elif shape.tag in ("line", "polyline"):
        ends = _points(at["points"]) if "points" in at else [(at["x1"], at["y1"]), (at["x2"], at["y2"])]
        made = Line2D(*zip(*ends, strict=True), color=edge, linewidth=wide)
        if dashes := style.get("stroke-dasharray"):
            made.set_linestyle((0, [POINTS * float(length) / wide for length in dashes.split()]))
        axes.add_line(made)
    else:
        look: dict[str, Any] = {"facecolor": style["fill"], "edgecolor": edge, "zorder": 2}
        look |= {"linewidth": wide if edge != "none" else 0.0, "alpha": float(shape.opacity or 1)}
        if shape.tag == "circle":
            axes.add_patch(Circle((at["cx"], at["cy"]), at["r"], **look))
        else:
            axes.add_patch(Rectangle((at["x"], at["y"]), at["width"], at["height"], **look))


def _points(written: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, pair.split(","))) for pair in written.split()]


@cache
def _style(tag: str, kinds: str) -> Mapping[str, str]:
    """What ``chart.css`` says of a shape with these classes, in the colours of the light theme; later rules count."""
    found, own = {}, {tag, *kinds.split()}
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", chart_style()):
        if any(set(re.findall(r"[\w-]+", one)) - {"chart"} <= own for one in selectors.split(",")):
            for name, value in re.findall(r"([\w-]+):\s*([^;]+);", body):
                found[name] = re.sub(r"var\(--[\w-]+, (#\w+)\)", r"\1", value)
    return found
