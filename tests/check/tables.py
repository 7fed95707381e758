"""Tables and cells as the checker reads them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from lcifr.check.functions import RationalCell
from lcifr.check.table import AttributeTable


def standardised(attributes: Any, **scales: tuple[float, float]) -> AttributeTable:
    """The attributes with (value − mean) / sd in float64 as the program of every number; mean and sd are 0 and 1."""
    programs = {name: program(*scales.get(name, (0.0, 1.0))) for name in attributes}
    return AttributeTable({"schema": {"attributes": attributes}, "programs": programs, "outside": []})


def program(mean: float, sd: float) -> list[list[Any]]:
    """(value − mean) / sd in float64."""
    return [["subtract", "float64", mean], ["divide", "float64", sd]]


def table_of(numbers: int, categories: int) -> AttributeTable:
    """Numbers a0, a1, … in [−9, 9] and yes-no categories c0, c1, …"""
    number, category = {"kind": "numeric", "lower": -9, "upper": 9}, {"kind": "categorical", "values": ["no", "yes"]}
    known = {**{f"a{k}": number for k in range(numbers)}, **{f"c{k}": category for k in range(categories)}}
    return standardised(known)


def features(table: AttributeTable, person: Any) -> list[float]:
    """A person as the network sees them, column by column."""
    point = dict(corner for group in table.point(person).values() for corner in group)
    return [point.get(column, 0.0) for column in range(table.width)]


def sides(cell: RationalCell, kind: str) -> list[tuple[int, Any]]:
    """The groups of a kind, in the order of their columns."""
    return sorted((column, corners) for (what, column), corners in cell.groups.items() if what == kind)


def inside(cell: RationalCell, point: list[float]) -> bool:
    """Exactly."""
    box = all(corners[0][1] <= point[column] <= corners[-1][1] for column, corners in sides(cell, "numeric"))
    hot = {column for column, value in enumerate(point) if value == 1.0}
    whole = all(len(hot & {column for column, _ in corners}) == 1 for _, corners in sides(cell, "choice"))
    rows = all(
        sum(Fraction(a) * Fraction(v) for a, v in zip(row, [*point, 1.0], strict=True)) <= 0 for row in cell.rows
    )
    return box and whole and rows
