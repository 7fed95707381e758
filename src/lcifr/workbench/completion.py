"""Completion of formulas: attributes, values and words of the language that fit before the caret."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lcifr.data import Categorical, Schema
from lcifr.data.schema import RESERVED_GROUPS
from lcifr.phi.formula import quote_name, quote_value, unquote

SHOWN = 12
NEAR = 2_000
"""Characters before the caret that are looked at: patterns are tried from each of them on."""
WORDS = {
    "same(": "these attributes are equal",
    "free(": "any value, on purpose",
    "within": "differ by at most",
    "sd": "standard deviations",
    "and": "both hold",
    "or": "one of them holds",
    "not": "does not hold",
    "implies": "if the first holds, so does the second",
    "except": "all but these",
    "in": "one of these values",
}
SETS = {"all": "every attribute", "numeric": "every number", "categorical": "every category"}
_NAME = r"(?:[^\W\d]\w*|`(?:[^`\\\n]|\\[^\n])*`)"
_TEXT = r"\"(?:[^\"\\\n]|\\[^\n])*"
_VALUE = re.compile(rf"({_NAME})'?\s*(?:!=|=|(?:not\s+)?in\s*\{{(?:\s*{_TEXT}\"\s*,)*)\s*({_TEXT}|)$")
_WORD = re.compile(r"(?:`(?:[^`\\\n]|\\[^\n])*|[^\W\d]\w*)$")
_COMMENT = re.compile(r"#[^\n]*$")


@dataclass(frozen=True)
class Suggestion:
    """What may stand there: the text that replaces start … caret, and a word about it."""

    text: str
    about: str
    start: int


def complete(text: str, caret: int, schema: Schema, *, anything: bool = True) -> tuple[Suggestion, ...]:
    """What can be written at the caret, the likeliest first; nothing inside a comment.

    Parameters
    ----------
    anything : whether to suggest also where nothing of a word has been written yet.
    """
    caret = min(max(caret, 0), len(text))
    first = max(caret - NEAR, 0)
    before = text[first:caret]
    if _COMMENT.search(before):
        return ()
    if (value := _VALUE.search(before)) is not None and (found := _values(value, schema, first)) is not None:
        return found[:SHOWN]
    word = _WORD.search(before)
    typed = word.group() if word is not None else ""
    if not typed and not anything:
        return ()
    start = caret - len(typed)
    quoted = typed.startswith("`")
    known = {**_attributes(schema), **({} if quoted else {**_groups(schema), **SETS, **WORDS})}
    wanted = typed.strip("`").casefold()
    fits = [name for name in known if name.strip("`").casefold().startswith(wanted) and name != typed]
    near = [name for name in known if wanted and wanted in name.casefold() and name not in fits and name != typed]
    return tuple(Suggestion(name, known[name], start) for name in [*fits, *near])[:SHOWN]


def _values(found: re.Match[str], schema: Schema, first: int) -> tuple[Suggestion, ...] | None:
    """Values of the category that is compared; None where what stands before is no category.

    first : where in the text the part begins that was searched.
    """
    name = found[1] if not found[1].startswith("`") else unquote(found[1])
    if name not in schema or not isinstance(attribute := schema[name], Categorical):
        return None
    typed = found[2].removeprefix('"').casefold()
    start = first + found.end() - len(found[2])
    fits = [value for value in attribute.values if typed in value.casefold()]
    fits.sort(key=lambda value: not value.casefold().startswith(typed))
    return tuple(Suggestion(quote_value(value), f"a value of {name}", start) for value in fits)


def _attributes(schema: Schema) -> dict[str, str]:
    kinds = {one.name: "category" if isinstance(one, Categorical) else one.unit or "number" for one in schema}
    return {quote_name(name): kind for name, kind in kinds.items()}


def _groups(schema: Schema) -> dict[str, str]:
    named = {name: f"group: {', '.join(members)}" for name, members in schema.groups.items()}
    return {name: about for name, about in named.items() if name not in RESERVED_GROUPS}
