"""Cells of a sweep as an Arrow table and back: one row a cell, its ends, values, share and pair."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from lcifr.certification.bundles.hashes import Hashes
from lcifr.certification.sweep.pairs_found import Pairs
from lcifr.certification.sweep.result import Standing, Sweep, SweptCell
from lcifr.data import Categorical, Individuals, Schema
from lcifr.models.arithmetic import Arithmetic
from lcifr.regions.universe import UniverseCells


def to_table(sweep: Sweep, schema: Schema) -> pa.Table:
    """``standing``, ``share``, ``strict``; of a number ``age from`` and ``age to``, of a category the list ``sex in``;
    of a cell with a pair also ``x``'s and ``x'``'s values."""
    kept = [(standing, one) for standing in Standing for one in sweep.cells(standing)]
    columns: dict[str, Any] = {
        "standing": [str(standing) for standing, _ in kept],
        "share": [str(one.share) for _, one in kept],
        "strict": [one.strict for _, one in kept],
    }
    cells = [one.cell for _, one in kept]
    for j, name in enumerate(schema.names_numeric):
        columns[f"{name} from"] = [float(cell.lower[0, j]) for cell in cells]
        columns[f"{name} to"] = [float(cell.upper[0, j]) for cell in cells]
    for j, attribute in enumerate(schema.categorical):
        masks = [np.flatnonzero(cell.allowed[j][0]).tolist() for cell in cells]
        columns[f"{attribute.name} in"] = [[attribute.values[code] for code in codes] for codes in masks]
    for who in ("x", "x'"):
        people = [None if one.pair is None else one.pair.x if who == "x" else one.pair.other for _, one in kept]
        columns |= person_columns(who, people, schema)
    return pa.table(columns)


def person_columns(who: str, people: list[Individuals | None], schema: Schema) -> dict[str, Any]:
    """One column an attribute, ``x age`` or ``x' age``, in the schema's own types; null where there is no person."""
    found: dict[str, Any] = {}
    for attribute in schema:
        name = attribute.name
        if isinstance(attribute, Categorical):
            values: list[Any] = [None if p is None else attribute.values[int(p.code(name)[0])] for p in people]
            found[f"{who} {name}"] = pa.array(values, pa.string())
        else:
            numbers = [None if p is None else float(p.number(name)[0]) for p in people]
            found[f"{who} {name}"] = pa.array(numbers, pa.float64())
    return found


def from_table(
    table: pa.Table, schema: Schema, *, whole: bool, arithmetic: Arithmetic, hashes: Hashes | None = None
) -> Sweep:
    """What :func:`to_table` gave."""
    found: dict[Standing, list[SweptCell]] = {standing: [] for standing in Standing}
    for standing, cell in _read(table.to_pylist(), schema, whole):
        found[standing].append(cell)
    proved = (*found[Standing.PROVED], *found[Standing.CROSSINGS])
    violating, rest = (tuple(found[one]) for one in (Standing.VIOLATING, Standing.OPEN))
    return Sweep(proved, violating, rest, whole, arithmetic, hashes)


def _read(rows: list[dict[str, Any]], schema: Schema, whole: bool) -> Iterator[tuple[Standing, SweptCell]]:
    for row in rows:
        ends = np.array([[row[f"{name} from"], row[f"{name} to"]] for name in schema.names_numeric], dtype=np.float64)
        lower, upper = ends.reshape(-1, 2).T[:, None]
        allowed = tuple(np.isin(a.values, row[f"{a.name} in"])[None] for a in schema.categorical)
        cell = UniverseCells(schema, lower, upper, allowed, whole)
        x, other = (read_person(row, who, schema) for who in ("x", "x'"))
        pair = None if x is None or other is None else Pairs(x, other, np.ones(1, np.bool_))
        yield Standing(row["standing"]), SweptCell(cell, Fraction(row["share"]), pair, bool(row["strict"]))


def read_person(row: dict[str, Any], who: str, schema: Schema) -> Individuals | None:
    """The person in a row with the columns that :func:`person_columns` gave; None where there is none."""
    if any(row[f"{who} {name}"] is None for name in schema.names):
        return None
    numbers = np.array([[row[f"{who} {name}"] for name in schema.names_numeric]], dtype=np.float64)
    codes = np.array([[a.values.index(row[f"{who} {a.name}"]) for a in schema.categorical]], dtype=np.int32)
    return Individuals(schema, numbers.reshape(1, -1), codes.reshape(1, -1))
