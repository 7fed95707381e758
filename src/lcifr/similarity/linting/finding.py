"""Lint findings and example pairs of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from lcifr.data import Categorical, Individuals
from lcifr.drawing import text
from lcifr.similarity.language.formula import Span
from lcifr.similarity.semantics.core import PairedPeople

LONGEST = 6  # attributes that are shown of one example; the whole row is in the example itself


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"  # nothing can be proved about this formula, or what is proved says nothing
    WARNING = "warning"  # it probably does not say what was meant
    NOTE = "note"  # true, perhaps meant, and good to know


@dataclass(frozen=True)
class Example:
    """Two people, in the data's own units.

    Parameters
    ----------
    x, other
        The person and the other one, by attribute.
    rows
        Their rows in the data, counted from 0; None for a person who was made up.
    """

    x: Mapping[str, Any]
    other: Mapping[str, Any]
    rows: tuple[int | None, int | None] = (None, None)

    @classmethod
    def of(cls, pair: PairedPeople, row: int, rows: tuple[int | None, int | None] = (None, None)) -> Example:
        """One row of a pair of tables; ``rows`` says where in the data the two stand."""
        return cls(values_of(pair.x, row), values_of(pair.other, row), rows)

    @property
    def differing(self) -> tuple[str, ...]:
        """The attributes in which the two differ."""
        return tuple(name for name, value in self.x.items() if self.other[name] != value)

    def among(self, rows: Sequence[int]) -> Example:
        """The same pair in a larger table, of which these rows were looked at."""
        first, second = (None if row is None else rows[row] for row in self.rows)
        return replace(self, rows=(first, second))

    def __str__(self) -> str:
        shown = [f"{name} {_show(self.x[name])} → {_show(self.other[name])}" for name in self.differing]
        if not shown:
            return "the same in every attribute"
        equal = len(self.x) - len(shown)
        return f"{'; '.join(shown)}" + (f" ({equal} other attribute{'s' if equal != 1 else ''} equal)" if equal else "")


@dataclass(frozen=True)
class Finding:
    """Something odd about a formula.

    Parameters
    ----------
    code
        A name for it that does not change: ``not-symmetric``.
    severity
        How much it matters.
    message
        What was found, in plain words.
    span
        The part of the formula it is about, where there is one.
    examples
        People to show it on.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None = None
    examples: tuple[Example, ...] = ()

    def among(self, rows: Sequence[int]) -> Finding:
        """The same finding, its examples in a larger table, of which these rows were looked at."""
        return replace(self, examples=tuple(example.among(rows) for example in self.examples))


def values_of(people: Individuals, row: int) -> dict[str, Any]:
    """One person, by attribute: whole numbers as integers, categories as text."""
    shown: dict[str, Any] = {}
    for attribute in people.schema:
        if isinstance(attribute, Categorical):
            shown[attribute.name] = attribute.values[people.code(attribute.name)[row]]
        else:
            value = float(people.number(attribute.name)[row])
            shown[attribute.name] = int(value) if attribute.integer else value
    return shown


def describe_person(one: Mapping[str, Any], names: tuple[str, ...] = ()) -> str:
    """A person in a line: the attributes named, else the first few."""
    chosen = [name for name in one if name in names] or list(one)
    return ", ".join(f"{name} {_show(one[name])}" for name in chosen[:LONGEST]) + (
        ", …" if len(chosen) > LONGEST else ""
    )


def _show(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else f"{value:.6g}" if isinstance(value, float) else str(value)


def short_percent(share: float) -> str:
    """As in a report, without a decimal that says nothing."""
    return text.percent(share).replace(".0 %", " %")
