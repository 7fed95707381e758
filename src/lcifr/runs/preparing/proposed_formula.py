"""A formula to begin with, and in its comments everything that one needs to correct it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.data import Categorical, Schema
from lcifr.phi.formula import quote_name, quote_value
from lcifr.phi.lint import mark_of

if TYPE_CHECKING:
    from lcifr.data import Attribute

SHOWN = 8  # categories in a comment


def write_formula(table: Path, schema: Schema, freed: list[str], flat: list[str]) -> str:
    """A formula with everything in the comments that one needs to correct it.

    Parameters
    ----------
    flat : numbers that are the same for everyone: they have no standard deviation, and are held equal.
    """
    listed = [f"#   {_describe(one)}" for one in schema]
    body = _body(schema, freed, flat)
    return "\n".join(
        [
            f"# Who counts as similar? Drafted by lcifr init from {quote_name(table.name)} {mark_of(body)}.",
            "# Correct it. To adopt it as it is, delete the line above; until then, reports call it a guess.",
            "",
            body,
            "",
            "# Two people for whom this holds count as similar and must get the same decision.",
            "# These attributes are available; a name with ' is the other person's value:",
            "#",
            *listed,
            "#",
            "#   same(SET)               every attribute in SET is equal",
            "#   free(SET)               must not matter: the other person may have any value",
            "#   SET within 0.3 sd       every number in SET differs by at most 0.3 standard deviations",
            "#   SET within 5            every number in SET differs by at most 5, in its own unit",
            "#   SET                     all, numeric, categorical, or names; leave some out with `except`",
            "#   Join conditions with and, or, not, implies, (…); compare:  |age' - age| <= 2,  job' = \"clerk\"",
            "#",
            "# An attribute that is not mentioned may also have any value; free(…) shows that this is on purpose.",
            "# A number that may have any value needs a range in the schema (lower = …, upper = …).",
            "# Beware of proxies: other attributes may reveal one that you free.",
            "",
        ]
    )


def _describe(one: Attribute) -> str:
    if isinstance(one, Categorical):
        values = ", ".join(quote_value(value) for value in one.values[:SHOWN])
        more = f", … ({len(one.values)} in total)" if len(one.values) > SHOWN else ""
        return f"{quote_name(one.name)}: {values}{more}"
    return f"{quote_name(one.name)}: a {'whole ' if one.integer else ''}number"


def freed_attributes(schema: Schema, delicate: list[str]) -> list[str]:
    """What the formula frees: categories alone, since a free number needs a range; and never all there is."""
    free = [name for name in schema.names_categorical if name in delicate]
    return free if len(free) < len(schema) else []


def _body(schema: Schema, freed: list[str], flat: list[str]) -> str:
    names, constant = (", ".join(quote_name(name) for name in some) for some in (freed, flat))
    parts = []
    if len(freed) < len(schema.categorical):
        parts.append(f"same(categorical{' except ' if freed else ''}{names})")
    if len(flat) < len(schema.numeric):
        parts.append(f"numeric{' except ' if flat else ''}{constant} within 0.3 sd")
    if flat:
        parts.append(f"same({constant})")
    if freed:
        parts.append(f"free({names})")
    return " and\n".join(parts)
