"""A formula to begin with, and in its comments everything that one needs to correct it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.data import Categorical, Schema
from lcifr.similarity.language.names import quote_name, quote_value
from lcifr.similarity.proposal_mark import mark_of

if TYPE_CHECKING:
    from lcifr.data import Attribute

SHOWN = 8  # categories in a comment


def write_formula(table: Path, schema: Schema, freed: list[str]) -> str:
    """A formula with everything in the comments that one needs to correct it."""
    listed = [f"#   {_describe(one)}" for one in schema]
    body = _body(schema, freed)
    return "\n".join(
        [
            f"# Who counts as similar? lcifr init guessed this from {quote_name(table.name)} {mark_of(body)}.",
            "# Correct it, and delete the line above when somebody stands by it: until then a report calls it a guess.",
            "",
            body,
            "",
            "# Two people for whom this holds must get the same decision.",
            "# What there is to write it with; a name with ' is the other person's value:",
            "#",
            *listed,
            "#",
            "#   same(SET)               every attribute of SET is equal",
            "#   free(SET)               what must not matter: the other person may have any value there",
            "#   SET within 0.3 sd       every number differs by at most 0.3 standard deviations",
            "#   SET within 5            … by at most 5, in its own unit",
            "#   SET: all, numeric, categorical, or names; `except` takes some out",
            "#   and, or, not, implies, (…); comparisons such as  |age' - age| <= 2  or  job' = \"clerk\"",
            "#",
            "# What is not mentioned may have any value, too; free(…) says that it was not forgotten.",
            "# Numbers that may have any value need a range in the schema (lower = …, upper = …).",
            "# Mind proxies: freeing one attribute leaves others that tell it.",
            "",
        ]
    )


def _describe(one: Attribute) -> str:
    if isinstance(one, Categorical):
        values = ", ".join(quote_value(value) for value in one.values[:SHOWN])
        more = f", … ({len(one.values)} in all)" if len(one.values) > SHOWN else ""
        return f"{quote_name(one.name)}: {values}{more}"
    return f"{quote_name(one.name)}: a {'whole ' if one.integer else ''}number"


def freed_attributes(schema: Schema, delicate: list[str]) -> list[str]:
    """What the formula frees: categories alone, since a free number needs a range; and never all there is."""
    free = [name for name in schema.names_categorical if name in delicate]
    return free if len(free) < len(schema) else []


def _body(schema: Schema, freed: list[str]) -> str:
    names = ", ".join(quote_name(name) for name in freed)
    parts = []
    if len(freed) < len(schema.categorical):
        parts.append(f"same(categorical{' except ' if freed else ''}{names})")
    if schema.numeric:
        parts.append("numeric within 0.3 sd")
    if freed:
        parts.append(f"free({names})")
    return " and\n".join(parts)
