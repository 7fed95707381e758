"""Schema inference: a proposal from a table, for a person to correct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lcifr.data.attributes import Attribute, Categorical, Numeric
from lcifr.data.frames import as_text, read_frame
from lcifr.data.malformed_numbers import find_malformed_number, to_float
from lcifr.errors import SchemaError, TableError, TableProblem, did_you_mean

MANY_CATEGORIES = 100  # text with more distinct values than this is an identifier or prose, not an attribute


def infer_attributes(
    source: Any,
    *,
    target: str | None = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[float | None, float | None]] | None = None,
) -> tuple[Attribute, ...]:
    """Propose attributes: numbers are numeric; text, booleans and 0/1 are categorical, their values sorted.

    Parameters
    ----------
    source
        Anything :func:`lcifr.data.frames.read_frame` takes.
    target
        The column to predict; it is left out of the attributes.
    numeric, categorical
        Columns whose kind is overridden (a postcode is a category, however numeric it looks; a 0/1 may be a count).
    drop
        Columns that are no attributes (identifiers, dates).
    units, ranges
        What numbers count, and the declared (lower, upper) range of an attribute; None for an open end.

    Raises
    ------
    TableError
        With every column that cannot be an attribute as it stands (dates, prose, all missing), and advice.
    """
    table = read_frame(source)
    units, ranges = dict(units or {}), dict(ranges or {})
    named = [*numeric, *categorical, *drop, *units, *ranges, *([target] if target else [])]
    for name in named:
        if name not in table.column_names:
            raise SchemaError(f'there is no column "{name}".{did_you_mean(name, table.column_names)}')
    problems: list[TableProblem] = [] if len(table) else [TableProblem("there are no rows")]
    attributes: list[Attribute] = []
    for name in table.column_names:
        if name == target or name in drop or not len(table):
            continue
        measured = (name in units or name in ranges) and _is_number(table[name].type)
        kind = "numeric" if name in numeric or measured else "categorical" if name in categorical else None
        found = _propose(name, table[name], kind, problems)
        if isinstance(found, Numeric):
            lower, upper = ranges.get(name, (None, None))
            found = Numeric(name, units.get(name), lower, upper, found.integer)
        if found is not None:
            attributes.append(found)
    if problems:
        raise TableError(problems, fix="correct the columns, or override: numeric=[…], categorical=[…], drop=[…]")
    return tuple(attributes)


def _propose(name: str, column: pa.ChunkedArray, kind: str | None, problems: list[TableProblem]) -> Attribute | None:
    """The attribute a column looks like, or None with the reason among ``problems``."""
    if pa.types.is_temporal(column.type):
        problems.append(
            TableProblem(
                "contains dates, which a formula cannot compare; turn them into a number (such as an age in years)",
                column=name,
            )
        )
        return None
    if column.null_count == len(column):
        problems.append(TableProblem("every value is missing; drop the column", column=name))
        return None
    if kind == "numeric" or (kind is None and _is_number(column.type)):
        values, odd = to_float(column)
        if odd:
            problems.append(TableProblem(f"{column[odd[0]].as_py()!r} is not a number", column=name, row=odd[0]))
            return None
        finite = values[np.isfinite(values)]
        if kind is None and set(np.unique(finite)) == {0.0, 1.0}:
            return Categorical(name, ("0", "1"))  # nobody is between no and yes
        return Numeric(name, integer=bool(len(finite)) and bool((finite == np.rint(finite)).all()))
    if kind is None and (slip := find_malformed_number(as_text(column))) is not None:
        message = f"{slip}; or, if these are codes, say categorical=[…]"
        problems.append(TableProblem(message, column=name, row=slip.row))
        return None
    values_seen = sorted(pc.unique(as_text(column)).drop_null().to_pylist())
    if not values_seen:
        problems.append(TableProblem("every value is missing; drop the column", column=name))
        return None
    if kind is None and len(values_seen) > MANY_CATEGORIES:
        problems.append(
            TableProblem(
                f"{len(values_seen)} different texts are too many for a category; drop it, or use categorical=[…]",
                column=name,
            )
        )
        return None
    return Categorical(name, tuple(values_seen))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
