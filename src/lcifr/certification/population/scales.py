"""Standard deviations and ranks that a formula speaks of, each with the rows of the table that it was taken from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lcifr.data import Categorical
from lcifr.similarity.language.formula import Absolute, Comparison, Linear, Rank, Within, subformulas
from lcifr.similarity.language.names import attributes_in
from lcifr.similarity.similarity import Similarity


@dataclass(frozen=True)
class ScaleSource:
    """Where a standard deviation, or the values among which a number is ranked, were taken from.

    Parameters
    ----------
    attribute : a number. by : of a rank, the category by which people are ranked; None for a standard deviation.
    sd : None for a rank. rows, of : rows that have all values that are needed, and rows of the table.
    source : what the table is called.
    """

    attribute: str
    by: str | None
    sd: float | None
    rows: int
    of: int
    source: str


def scale_sources(similarity: Similarity, source: str, rows: int | None = None) -> tuple[ScaleSource, ...]:
    """The standard deviations and ranks that a formula speaks of, in the order of the schema.

    Parameters
    ----------
    source : what the table is called that they were taken from.
    rows : of that table, in which nothing is missing, where it is not at hand; None for what the encoding was fitted
        on. Where nobody knows, nothing is returned.
    """
    encoding, people = similarity.encoding, similarity.encoding.ranked
    if people is None and rows is None:
        return ()
    of = len(people) if people is not None else int(rows or 0)
    found = []
    for name in _in_sd(similarity):
        known = encoding.rows_of(name) or (of, of)
        found.append(ScaleSource(name, None, encoding.sd(name), *known, source))
    for name, by in _ranked(similarity):
        there = of if people is None else int(((people.code(by) >= 0) & ~np.isnan(people.number(name))).sum())
        found.append(ScaleSource(name, by, None, there, of, source))
    return tuple(found)


def _in_sd(similarity: Similarity) -> list[str]:
    """The numbers that φ compares in standard deviations."""
    schema, found = similarity.schema, set[str]()
    for part in subformulas(similarity.formula):
        if isinstance(part, Within) and part.in_sd:
            found |= {name for name in attributes_in(part.set, schema) if not isinstance(schema[name], Categorical)}
    return [name for name in schema.names_numeric if name in found]


def _ranked(similarity: Similarity) -> list[tuple[str, str]]:
    """The numbers that φ ranks, each with the category by which."""
    comparisons = (part for part in subformulas(similarity.formula) if isinstance(part, Comparison))
    ranks = (rank for part in comparisons for side in (part.left, part.right) for rank in _ranks(side))
    return list(dict.fromkeys((rank.attribute, rank.by) for rank in ranks))


def _ranks(linear: Linear) -> Iterator[Rank]:
    for _, variable in linear.terms:
        if isinstance(variable, Rank):
            yield variable
        elif isinstance(variable, Absolute):
            yield from _ranks(variable.inside)
