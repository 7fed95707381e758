"""What a similar person may have instead, read from the region, in the table's own units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lcifr.data import Encoding, Individuals, Schema
from lcifr.drawing.scores import Freedom
from lcifr.regions.region import Cell
from lcifr.similarity import Similarity

NEGLIGIBLE = 1e-9
"""Standard deviations: regions are rounded outward, and what lies within this of an end is that end."""


@dataclass(frozen=True)
class Surroundings:
    """For one person, what each attribute may be instead; ``linked`` if not every combination is similar."""

    may: dict[str, Freedom]
    linked: bool


def surroundings(similarity: Similarity, people: Individuals) -> list[Surroundings]:
    """What may differ in somebody similar, for each of a table of people."""
    cells = [_InUnits(cell, similarity.encoding) for cell in similarity.region(people).cells]
    found = []
    for row in range(len(people)):
        present = [one for one in cells if one.cell.present[row]]
        free = _numbers(similarity.schema, present, people, row) | _categories(similarity.schema, present, people, row)
        may = {name: free[name] for name in similarity.schema.names if name in free}
        found.append(Surroundings(may, len(present) > 1 or any(one.cell.rows is not None for one in present)))
    return found


class _InUnits:
    """A cell with the ends of its box in the table's own units, whole where only whole numbers occur."""

    def __init__(self, cell: Cell, encoding: Encoding) -> None:
        self.cell = cell
        whole = np.array([attribute.integer for attribute in encoding.schema.numeric], dtype=np.bool_)
        room = NEGLIGIBLE * encoding.units
        lower, upper = encoding.unscale_bounds(cell.lower, cell.upper)
        self.lower = np.where(whole, np.ceil(lower - room), lower)
        self.upper = np.where(whole, np.floor(upper + room), upper)
        self.units = encoding.units.tolist()


def _numbers(schema: Schema, cells: list[_InUnits], people: Individuals, row: int) -> dict[str, Freedom]:
    found = {}
    ends = [(one.lower[row].tolist(), one.upper[row].tolist()) for one in cells]
    own = people.numbers[row].tolist()
    for j, attribute in enumerate(schema.numeric):
        unit = cells[0].units[j] if cells else 1.0
        spans = [(_round(low[j], unit), _round(high[j], unit)) for low, high in ends if low[j] <= high[j]]
        joined = tuple(_merged(spans, 1.0 if attribute.integer else 0.0))
        if joined and joined != ((own[j], own[j]),):
            found[attribute.name] = Freedom(intervals=joined)
    return found


def _categories(schema: Schema, cells: list[_InUnits], people: Individuals, row: int) -> dict[str, Freedom]:
    found = {}
    for j, attribute in enumerate(schema.categorical):
        allowed = np.zeros(len(attribute.values), np.bool_)
        for one in cells:
            allowed |= one.cell.choices[j].allowed[row]  # choices come in the order of the schema, as columns do
        values = tuple(value for value, may in zip(attribute.values, allowed.tolist(), strict=True) if may)
        if values and values != (attribute.values[people.codes[row, j]],):
            found[attribute.name] = Freedom(values=values)
    return found


def _round(value: float, unit: float) -> float:
    """Without the noise of scaling: nine digits of the value or of its scale."""
    return round(value, 9 - math.ceil(math.log10(max(abs(value), unit)))) + 0.0


def _merged(intervals: list[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Their union; whole numbers next to each other are one interval."""
    found: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found
