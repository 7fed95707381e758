"""Jinja2 templates of pages, notebooks and SVG files: every value is escaped, control characters are spelled out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from lcifr.display.canvas import WIDTH, Picture
from lcifr.display.charts import chart_style
from lcifr.display.scores import BAR, ROW
from lcifr.display.text import count, visible


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
