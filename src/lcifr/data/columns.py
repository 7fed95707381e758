"""The columns of a table: read as numbers or categories, and validated against what the schema says of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcifr.data.attributes import Categorical, Numeric
from lcifr.data.frames import as_text
from lcifr.data.io.parquet_table import is_dictionary_of_texts, is_text
from lcifr.data.malformed_numbers import to_float
from lcifr.errors import NO_SCALE, NO_VALUE, TableProblem, did_you_mean

Item = TypeVar("Item")
Result = TypeVar("Result")

# Squares of larger numbers would overflow when a standard deviation is taken; no attribute of a person is that large.
LARGEST = 1e100
# A float64 holds every whole number up to here; beyond, neighbours merge and "exact" would be a lie.
LARGEST_INTEGER = 2.0**53
WORTH_THREADS = 20_000  # rows; below this, starting threads costs more than they save


def map_in_threads(work: Callable[[Item], Result], items: Iterable[Item], *, rows: int) -> list[Result]:
    """``work`` applied to every item, in order; in threads for large tables (Arrow and numpy release the GIL)."""
    if rows < WORTH_THREADS or os.environ.get("OMP_NUM_THREADS") == "1":  # a worker of a large run has one core
        return [work(item) for item in items]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # more threads than cores only wait for the GIL
        return list(pool.map(work, items))


def rows_where(mask: Any) -> list[int]:
    """The rows where an Arrow or numpy mask is true."""
    array = mask.to_numpy(zero_copy_only=False) if isinstance(mask, pa.Array) else np.asarray(mask)
    return [int(row) for row in np.flatnonzero(array)]


def read_numbers(
    column: pa.ChunkedArray, attribute: Numeric, problems: list[TableProblem], fitting: bool
) -> NDArray[np.float64]:
    """(people,) the numbers of a column; problems are appended to ``problems``."""
    name = attribute.name
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values, odd = to_float(column)
    problems += [TableProblem(f"{column[row].as_py()!r} is not a number", column=name, row=row) for row in odd]
    missing = np.isnan(values)
    missing[odd] = False
    problems += [TableProblem(NO_VALUE, column=name, row=row) for row in rows_where(missing)]
    for wrong, message in _limits(values, attribute, pa.types.is_integer(column.type)):
        problems += [TableProblem(f"{values[row]:g} {message}", column=name, row=row) for row in rows_where(wrong)]
    if fitting and len(values) and not problems and values.min() == values.max():
        problems.append(TableProblem(f"the value never varies (always {values[0]:g}), {NO_SCALE}", column=name))
    return values


def _limits(values: NDArray[np.float64], attribute: Numeric, surely_whole: bool) -> list[tuple[NDArray[np.bool_], str]]:
    """Masks of forbidden values with a message for each; empty where the range of the column rules them out."""
    least, most = (-LARGEST, LARGEST) if not attribute.integer else (-LARGEST_INTEGER, LARGEST_INTEGER)
    least, most = max(least, _or(attribute.lower, least)), min(most, _or(attribute.upper, most))
    within = len(values) and least <= values.min() and values.max() <= most  # never true with NaN
    if within and (not attribute.integer or surely_whole or (values == np.rint(values)).all()):
        return []
    finite = np.isfinite(values)
    size = np.abs(values)
    limits = [
        (np.isinf(values), "is infinite"),
        (finite & (size > LARGEST), f"is too large to be scaled (beyond {LARGEST:g})"),
    ]
    if attribute.integer:
        limits.append((finite & (size <= LARGEST) & (values != np.rint(values)), "is not a whole number"))
        limits.append(
            (finite & (size > LARGEST_INTEGER), "is beyond the whole numbers that a float holds exactly (2^53)")
        )
    if attribute.lower is not None:
        limits.append(
            (finite & (values < attribute.lower), f"is below the declared range, which starts at {attribute.lower:g}")
        )
    if attribute.upper is not None:
        limits.append(
            (finite & (values > attribute.upper), f"is above the declared range, which ends at {attribute.upper:g}")
        )
    return limits


def _or(end: float | None, otherwise: float) -> float:
    return otherwise if end is None else end


def read_codes(column: pa.ChunkedArray, attribute: Categorical, problems: list[TableProblem]) -> Any:
    """(people,) the category codes of a column, 0 where missing; problems are appended to ``problems``."""
    known = pa.array(attribute.values, pa.string())
    if is_dictionary_of_texts(column.type) and (found := _look_up_once(column, known)) is not None:
        return found
    if is_text(column.type):
        # Almost every table is clean: one look-up, and only what it does not find is trimmed and looked at again.
        codes = pc.index_in(column, value_set=known.cast(column.type))
        if not codes.null_count:
            return codes.to_numpy()
    text = as_text(column)
    codes = pc.index_in(text, value_set=known)
    missing = text.is_null().to_numpy()
    problems += [TableProblem(NO_VALUE, column=attribute.name, row=row) for row in rows_where(missing)]
    for row in rows_where(codes.is_null().to_numpy() & ~missing):
        value = text[row].as_py()
        hint = did_you_mean(value, attribute.values)
        problems.append(TableProblem(f'the schema does not list the category "{value}".{hint}', attribute.name, row))
    return codes.fill_null(0).to_numpy()


def _look_up_once(column: pa.ChunkedArray, known: pa.Array) -> NDArray[np.int32] | None:
    """(people,) the codes of a dictionary of texts, each of which is looked up once; None where one is not known."""
    if column.null_count or not len(column):
        return None
    chunks = column.unify_dictionaries().chunks
    codes = pc.index_in(chunks[0].dictionary, value_set=known.cast(column.type.value_type))
    if codes.null_count:  # perhaps of nobody here
        return None
    return np.asarray(codes.to_numpy()[np.concatenate([chunk.indices.to_numpy() for chunk in chunks])])
