"""Validation of a table against a schema: numbers, categories, missing values, targets; all problems at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from lcifr.data.frames import as_text, read_frame
from lcifr.data.parquet import is_dictionary_of_texts, is_text
from lcifr.data.schema import FEW, Attribute, Categorical, Numeric, Schema, find_malformed_number, to_float
from lcifr.errors import LEAVE_OUT_FLAT, NO_SCALE, NO_VALUE, TableError, TableProblem, did_you_mean

# Rows with missing values: which rows of a table have a value for every attribute of a schema.

MISSING = pa.array(csv.ConvertOptions().null_values)
"""Spellings of missing values, except in text columns, where "NA" may be a name."""


@dataclass(frozen=True)
class RowSkip:
    """How rows with missing values are left out: ``column`` keeps the numbers of the rows that stay; None for none."""

    column: str | None = None

    def complete(self, table: pa.Table, schema: Schema, start: int) -> tuple[Sequence[int], pa.Table]:
        """The rows in which nothing is missing, of a table that begins with row ``start``: numbers, and the rows."""
        complete = complete_rows(table, schema)
        if complete.all():
            return range(start, start + len(table)), table
        kept = np.flatnonzero(complete)
        return (kept + start).tolist(), table.take(kept)


def taken_rows(table: pa.Table, schema: Schema, start: int, skipping: RowSkip | None) -> tuple[Sequence[int], pa.Table]:
    """The rows of a table that begins with row ``start`` that are looked at: their numbers, and the rows."""
    return (range(start, start + len(table)), table) if skipping is None else skipping.complete(table, schema, start)


def complete_rows(table: pa.Table, schema: Schema) -> NDArray[np.bool_]:
    """(rows,) whether nothing is missing there. Columns of CSV may still be texts: among numbers, "NA" is missing."""
    complete = np.ones(len(table), np.bool_)
    for attribute in schema:
        if attribute.name in table.column_names and _may_miss(table[attribute.name], isinstance(attribute, Numeric)):
            complete &= ~missing_values(table[attribute.name], attribute)
    return complete


def missing_values(column: pa.ChunkedArray, attribute: Attribute) -> NDArray[np.bool_]:
    """(rows,) whether the value of an attribute is missing; see :func:`complete_rows`."""
    return _missing(column, isinstance(attribute, Numeric))


def _may_miss(column: pa.ChunkedArray, numeric: bool) -> bool:
    """Whether something may be missing, without a look at every row: most columns have all their values."""
    if column.null_count:
        return True
    if numeric:
        return not pa.types.is_integer(column.type)
    if not is_dictionary_of_texts(column.type):
        return True
    return any(as_text(pa.chunked_array([chunk.dictionary])).null_count for chunk in column.chunks)


def _missing(column: pa.ChunkedArray, numeric: bool) -> NDArray[np.bool_]:
    if pa.types.is_floating(column.type):
        found = column.is_null(nan_is_null=True)
    elif numeric and is_text(column.type):
        texts = pc.utf8_trim_whitespace(column)
        found = pc.or_kleene(column.is_null(), pc.fill_null(pc.is_in(texts, MISSING), True))
    elif numeric:
        found = column.is_null()
    else:
        found = _unnamed(column)
    return np.asarray(found.to_numpy(zero_copy_only=False) if isinstance(found, pa.Array) else found.to_numpy(), bool)


def _unnamed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether a category is missing or blank; of texts, each that occurs is looked at once."""
    if not is_text(column.type):
        return as_text(column).is_null()
    blank = pc.unique(column).filter(as_text(pa.chunked_array([pc.unique(column)])).is_null())
    return pc.is_in(column, value_set=blank) if len(blank) else pc.invert(column.is_valid())


# The columns of a table: read as numbers or categories, and validated against what the schema says of them.

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
    if codes.null_count:  # perhaps of no one here
        return None
    return np.asarray(codes.to_numpy()[np.concatenate([chunk.indices.to_numpy() for chunk in chunks])])


# Validation of whole tables against a schema: all problems are reported at once.


@dataclass(frozen=True)
class Individuals:
    """People validated against a schema.

    Parameters
    ----------
    schema
        What the columns mean.
    numbers : (people, numeric attributes) float64
        In the data's own units, in the order of ``schema.numeric``.
    codes : (people, categorical attributes) integers
        The index of each value in its attribute's ``values``, in the order of ``schema.categorical``.
    """

    schema: Schema
    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.numbers)

    @classmethod
    def read(cls, source: Any, schema: Schema, *, fitting: bool = False) -> Individuals:
        """Check a table against its schema.

        Parameters
        ----------
        source
            Anything :func:`lcifr.data.frames.read_frame` takes, or individuals of the same schema, who pass at once.
        fitting
            Whether scales will be fitted on this table: then a numeric column that never varies is a problem too.

        Raises
        ------
        TableError
            With every problem found, each with its row and column.
        """
        if isinstance(source, cls):
            _same_schema(source.schema, schema)
            return source
        table = read_frame(source)
        problems = _column_problems(table, schema)
        numbers = np.empty((len(table), len(schema.numeric)), order="F")  # filled, and mostly read, by column
        codes = np.empty((len(table), len(schema.categorical)), np.int32, order="F")

        def read_column(attribute: Attribute) -> list[TableProblem]:
            if attribute.name not in table.column_names:
                return []
            found: list[TableProblem] = []
            if isinstance(attribute, Numeric):
                j = schema.names_numeric.index(attribute.name)
                numbers[:, j] = read_numbers(table[attribute.name], attribute, found, fitting)
            else:
                j = schema.names_categorical.index(attribute.name)
                codes[:, j] = read_codes(table[attribute.name], attribute, found)
            return found

        for found in map_in_threads(read_column, schema.attributes, rows=len(table)):
            problems += found
        if problems:
            only_extra = all(one.column is not None and one.column not in schema for one in problems)
            fix = (
                "leave out what is no attribute, X[list(schema.names)], or add it to the schema" if only_extra else None
            )
            if all(one.message.endswith(NO_SCALE) for one in problems):
                fix = LEAVE_OUT_FLAT
            raise TableError(problems, source=str(source) if isinstance(source, str) else "the table", fix=fix)
        return cls(schema, numbers, codes)

    @classmethod
    def read_with_gaps(cls, source: Any, schema: Schema) -> Individuals:
        """All rows of a table, those with missing values too: a number is NaN there, and a code −1.

        Only for figures of single columns, such as standard deviations: everything else takes complete rows.

        Raises
        ------
        TableError
            With every other problem, each with its row and column.
        """
        table = read_frame(source)
        problems = _column_problems(table, schema)
        numbers = np.full((len(table), len(schema.numeric)), np.nan, order="F")
        codes = np.full((len(table), len(schema.categorical)), -1, np.int32, order="F")
        for attribute in [one for one in schema if one.name in table.column_names]:
            found: list[TableProblem] = []
            there = np.flatnonzero(~missing_values(table[attribute.name], attribute))
            column = table[attribute.name].take(pa.array(there))
            if isinstance(attribute, Numeric):
                numbers[there, schema.names_numeric.index(attribute.name)] = read_numbers(
                    column, attribute, found, fitting=False
                )
            else:
                codes[there, schema.names_categorical.index(attribute.name)] = read_codes(column, attribute, found)
            problems += [one.among(there.tolist()) for one in found]
        if problems:
            raise TableError(problems)
        return cls(schema, numbers, codes)

    @classmethod
    def joined(cls, parts: Sequence[Individuals]) -> Individuals:
        """Concatenate one or more tables of people that share a schema."""
        numbers, codes = [one.numbers for one in parts], [one.codes for one in parts]
        return cls(parts[0].schema, np.concatenate(numbers), np.concatenate(codes))

    def take(self, index: Any) -> Individuals:
        """Some of the people: a slice, a mask or indices."""
        return Individuals(self.schema, self.numbers[index], self.codes[index])

    def number(self, name: str) -> NDArray[np.float64]:
        """(people,) one numeric attribute."""
        column: NDArray[np.float64] = self.numbers[:, self.schema.names_numeric.index(name)]
        return column

    def code(self, name: str) -> NDArray[np.int32]:
        """(people,) one categorical attribute, as indices into its values."""
        column: NDArray[np.int32] = self.codes[:, self.schema.names_categorical.index(name)]
        return column

    def column(self, name: str, *, coded: bool = False) -> pa.Array:
        """(people,) one attribute in the data's own units: whole numbers as integers, categories as text.

        ``coded`` : categories as a dictionary of texts instead, which takes a fraction of the time.
        """
        attribute = self.schema[name]
        if isinstance(attribute, Categorical):
            texts = pa.DictionaryArray.from_arrays(self.code(name), list(attribute.values))
            return texts if coded else texts.cast(pa.string())
        values = self.number(name)
        return pa.array(values.astype(np.int64) if attribute.integer else values)

    def to_arrow(self, *, coded: bool = False) -> pa.Table:
        """The people as an Arrow table in the data's own units; ``coded`` as for :meth:`column`."""
        return pa.table({name: self.column(name, coded=coded) for name in self.schema.names})

    def to_pandas(self) -> Any:
        """The people as a pandas frame in the data's own units: whole numbers as integers, categories as text."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for attribute in self.schema:
            if isinstance(attribute, Categorical):
                columns[attribute.name] = np.array(attribute.values, dtype=object)[self.code(attribute.name)]
            else:
                values = self.number(attribute.name)
                columns[attribute.name] = values.astype(np.int64) if attribute.integer else values
        return pd.DataFrame(columns)


def read_target(source: Any, schema: Schema) -> NDArray[Any]:
    """(people,) the validated values of the target column: none missing, and more than one class."""
    table = read_frame(source)
    if schema.target is None or schema.target not in table.column_names:
        hint = did_you_mean(schema.target or "", table.column_names)
        raise TableError([TableProblem(f"the target column is missing.{hint}", column=schema.target)])
    return check_target(table[schema.target], schema.target)


def check_target(column: Any, name: str = "target") -> NDArray[Any]:
    """The values of a target column, if none is missing and there is more than one class."""
    values = target_values(column, name)
    problems = [] if len(values) else [TableProblem("there are no rows")]
    if not problems and pc.count_distinct(values).as_py() < 2:
        problems.append(TableProblem(f"the target has one class only: {values[0].as_py()!r}", column=name))
    if not problems and pa.types.is_string(values.type) and pc.count_distinct(values).as_py() > FEW:
        slip = find_malformed_number(
            values
        )  # else every number would be a class of its own, and learning would take for ever
        problems += [] if slip is None else [TableProblem(f"the target: {slip}", column=name, row=slip.row)]
    if problems:
        raise TableError(problems)
    return np.asarray(values.to_pandas())


def target_values(column: Any, name: str = "target", start: int = 0) -> pa.ChunkedArray:
    """The values of some rows of a target column, from ``start`` on, if none is missing; texts are trimmed."""
    values = pa.chunked_array([pa.array(column)]) if not isinstance(column, pa.ChunkedArray) else column
    if any(is_kind(values.type) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)):
        values = as_text(values)
    missing = rows_where(pc.is_null(values, nan_is_null=True))
    if missing:
        raise TableError([TableProblem("the target is missing", column=name, row=row + start) for row in missing])
    return values


def _same_schema(found: Schema, expected: Schema) -> None:
    if found.attributes != expected.attributes:
        raise TableError(
            [TableProblem("these individuals belong to another schema")], fix="read their table with this schema"
        )


def _column_problems(table: pa.Table, schema: Schema) -> list[TableProblem]:
    known = {*schema.names, schema.target}
    extra = [name for name in table.column_names if name not in known]
    problems = [
        TableProblem(f"the column is missing.{did_you_mean(name, extra)}", column=name)
        for name in schema.names
        if name not in table.column_names
    ]
    problems += [
        TableProblem(f"this column is not in the schema.{did_you_mean(name, schema.names)}", column=name)
        for name in extra
    ]
    if not len(table):
        problems.append(TableProblem("there are no rows"))
    return problems
