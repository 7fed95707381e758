"""What does one show? What a similar person may have instead, read from the region, in the table's own units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical, Individuals
from lcifr.report.content import Freedom
from lcifr.similarity import Similarity
from lcifr.similarity.region import Cell

NEGLIGIBLE = 1e-9
"""Standard deviations: regions are rounded outward, and what lies within this of an end is that end."""


@dataclass(frozen=True)
class Surroundings:
    """For one person, what each attribute may be instead; ``linked`` if not every combination is similar."""

    may: dict[str, Freedom]
    linked: bool


def surroundings(similarity: Similarity, people: Individuals) -> list[Surroundings]:
    """What may differ in somebody similar, for each of a table of people."""
    region = similarity.region(people)
    found = []
    for row in range(len(people)):
        cells = [cell for cell in region.cells if cell.present[row]]
        may = {}
        for attribute in similarity.schema:
            free = (
                _categories(similarity, cells, row, attribute)
                if isinstance(attribute, Categorical)
                else _numbers(similarity, cells, row, attribute.name, attribute.integer)
            )
            if _differs(free, people, row, attribute.name):
                may[attribute.name] = free
        found.append(Surroundings(may, len(cells) > 1 or any(cell.rows is not None for cell in cells)))
    return found


def _differs(free: Freedom, people: Individuals, row: int, name: str) -> bool:
    attribute = people.schema[name]
    if isinstance(attribute, Categorical):
        return bool(free.values) and free.values != (attribute.values[people.code(name)[row]],)
    own = float(people.number(name)[row])
    return bool(free.intervals) and free.intervals != ((own, own),)


def _categories(similarity: Similarity, cells: list[Cell], row: int, attribute: Categorical) -> Freedom:
    columns = similarity.encoding.columns(attribute.name)
    allowed: NDArray[np.bool_] = np.zeros(len(attribute.values), np.bool_)
    for cell in cells:
        for choice in cell.choices:
            if choice.columns[0] == columns.start:
                allowed |= choice.allowed[row]
    return Freedom(values=tuple(value for value, may in zip(attribute.values, allowed, strict=True) if may))


def _numbers(similarity: Similarity, cells: list[Cell], row: int, name: str, whole: bool) -> Freedom:
    encoding = similarity.encoding
    place = similarity.schema.names_numeric.index(name)
    mean, sd = float(encoding.means[place]), float(encoding.sds[place])
    found = []
    for cell in cells:
        column = int(np.searchsorted(cell.numeric, encoding.columns(name).start))
        low, high = (float(end[row, column]) * sd + mean for end in (cell.lower, cell.upper))
        if whole:
            low, high = np.ceil(low - NEGLIGIBLE * sd), np.floor(high + NEGLIGIBLE * sd)
        if low <= high:
            found.append((_round(low, sd), _round(high, sd)))
    return Freedom(intervals=tuple(_merged(found, 1.0 if whole else 0.0)))


def _round(value: float, sd: float) -> float:
    """Without the noise of scaling: nine digits of the value or of its scale."""
    digits = 9 - int(np.ceil(np.log10(max(abs(value), sd))))
    return round(float(value), digits) + 0.0


def _merged(intervals: list[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Their union; whole numbers next to each other are one interval."""
    found: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found
