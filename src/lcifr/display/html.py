"""Jinja2 templates of pages, SVG files and notebooks: every value is escaped, control characters are spelled out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from lcifr.display.canvas import WIDTH, Picture
from lcifr.display.charts import chart_style
from lcifr.display.score_charts import pair_chart, pair_sentence, profile_chart, score_chart
from lcifr.display.scores import (
    BAR,
    ROW,
    MarkedScore,
    PairScore,
    PersonScore,
    Profile,
    bar_shapes,
    person_sentence,
    place_bars,
    profile_sentence,
    range_text,
    score_sentence,
    signed,
)
from lcifr.display.text import count, format_value, percents, visible

# Jinja2 templates of pages, notebooks and SVG files: every value is escaped, control characters are spelled out.


@cache
def environment(package: str = "lcifr.display") -> Environment:
    """The templates of a package, beside those that all share.

    Values are escaped wherever they stand; the filter ``safe`` is for our own style sheets and scripts alone.
    """
    found = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("lcifr.display")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals |= {"WIDTH": WIDTH, "BAR": BAR, "ROW": ROW}
    found.filters["count"] = count
    found.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    return found


def _shown(value: Any) -> Any:
    """Nothing for None, and texts without control characters; what a macro wrote stays as it is."""
    if value is None:
        return ""
    return value if hasattr(value, "__html__") else visible(str(value))


def macro(template: str, name: str) -> Callable[..., str]:
    """A macro of a template, as a function of its values."""
    found: Callable[..., str] = getattr(environment().get_template(template).module, name)
    return found


def svg_file(picture: Picture, *, description: str, key: str) -> str:
    """A chart with its style inside, as a file of its own."""
    return f"{macro('charts.html', 'svg')(picture, description, key, chart_style()).strip()}\n"


# HTML representations of objects in notebooks; ``templates/notebook.html`` has their elements.

NOTEBOOK = "notebook.html"
COLOURS = {"certified": "#0f5f8c", "counterexample": "#b3261e", "undecided": "#8a97a3", "not examined": "#d9dee3"}


def formula_html(name: str, text: str, english: str) -> str:
    """A formula: as it is written, and in English."""
    return macro(NOTEBOOK, "formula")(name, text.strip(), english)


def verdicts_html(title: str, counts: Mapping[str, int], notes: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Counts of verdicts with a bar, what to know beside them, and a few people as a table (its head comes first)."""
    numbers = list(counts.values())
    shares = percents(numbers) if any(numbers) else ["–"] * len(numbers)
    parts = list(zip(map(COLOURS.__getitem__, counts), counts, numbers, shares, strict=True))
    return macro(NOTEBOOK, "verdicts")(title, parts, notes, rows)


def scores_html(
    title: str, notes: Sequence[str], marked: Sequence[MarkedScore], pairs: Sequence[PairScore] = ()
) -> str:
    """What each attribute adds, as charts; pairs as maps."""
    maps = [(pair_chart(one), pair_sentence(one)) for one in pairs]
    return macro(NOTEBOOK, "scores")(title, chart_style(), notes, _charts(marked), maps)


def person_html(
    name: str,
    values: Mapping[str, Any],
    score: PersonScore | None,
    profiles: Sequence[Profile],
    marked: Sequence[MarkedScore],
) -> str:
    """One person: what speaks for and against, the scores that could move, and the output around a counterexample."""
    contributions = [] if score is None else list(zip(score.contributions, place_bars(score), strict=True))
    rows = [
        (
            (one.attribute, format_value(values.get(one.attribute, "")), signed(one.adds), range_text(one)),
            bar_shapes(one, place),
        )
        for one, place in contributions
    ]
    sentence = "" if score is None else person_sentence(score)
    around = [(profile_chart(one), profile_sentence(one)) for one in profiles]
    return macro(NOTEBOOK, "person")(name, chart_style(), score, sentence, rows, _charts(marked), around)


def _charts(marked: Sequence[MarkedScore]) -> list[tuple[Picture, str]]:
    return [(score_chart(one), score_sentence(one.score)) for one in marked]
