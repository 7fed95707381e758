"""What is an individual? The one gate: every table of people passes it, or all its problems are reported at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcifr.data.frames import as_text, read_frame
from lcifr.data.schema import Attribute, Categorical, Numeric, Schema
from lcifr.data.threads import side_by_side
from lcifr.errors import Problem, TableError, did_you_mean

# Squares of larger numbers would overflow when a standard deviation is taken; no attribute of a person is that large.
LARGEST = 1e100
# A float64 holds every whole number up to here; beyond, neighbours merge and "exact" would be a lie.
LARGEST_INTEGER = 2.0**53


@dataclass(frozen=True)
class Individuals:
    """People who fit a schema: the table after the gate.

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

        def read_column(attribute: Attribute) -> list[Problem]:
            if attribute.name not in table.column_names:
                return []
            found: list[Problem] = []
            if isinstance(attribute, Numeric):
                j = schema.names_numeric.index(attribute.name)
                numbers[:, j] = _read_numbers(table[attribute.name], attribute, found, fitting)
            else:
                j = schema.names_categorical.index(attribute.name)
                codes[:, j] = _read_codes(table[attribute.name], attribute, found)
            return found

        for found in side_by_side(read_column, schema.attributes, rows=len(table)):
            problems += found
        if problems:
            raise TableError(problems, source=str(source) if isinstance(source, str) else "the table")
        return cls(schema, numbers, codes)

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
    """(people,) the target column's values, checked: there, no value missing, more than one class."""
    table = read_frame(source)
    if schema.target is None or schema.target not in table.column_names:
        hint = did_you_mean(schema.target or "", table.column_names)
        raise TableError([Problem(f"the target column is missing.{hint}", column=schema.target)])
    return check_target(table[schema.target], schema.target)


def check_target(column: Any, name: str = "target") -> NDArray[Any]:
    """The values of a target column, if none is missing and there is more than one class."""
    values = pa.chunked_array([pa.array(column)]) if not isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_string(values.type) or pa.types.is_dictionary(values.type):
        values = as_text(values)
    missing = _rows(pc.is_null(values, nan_is_null=True))
    problems = [Problem("the target is missing", column=name, row=row) for row in missing]
    if not len(values):
        problems.append(Problem("there are no rows"))
    elif not problems and pc.count_distinct(values).as_py() < 2:
        problems.append(Problem(f"the target has one class only: {values[0].as_py()!r}", column=name))
    if problems:
        raise TableError(problems)
    return np.asarray(values.to_pandas())


def _same_schema(found: Schema, expected: Schema) -> None:
    if found.attributes != expected.attributes:
        raise TableError(
            [Problem("these individuals belong to another schema")], fix="read their table with this schema"
        )


def _column_problems(table: pa.Table, schema: Schema) -> list[Problem]:
    known = {*schema.names, schema.target}
    extra = [name for name in table.column_names if name not in known]
    problems = [
        Problem(f"the column is missing.{did_you_mean(name, extra)}", column=name)
        for name in schema.names
        if name not in table.column_names
    ]
    problems += [
        Problem(f"the schema does not know this column.{did_you_mean(name, schema.names)}", column=name)
        for name in extra
    ]
    if not len(table):
        problems.append(Problem("there are no rows"))
    return problems


def _rows(mask: Any) -> list[int]:
    """The rows where an Arrow or numpy mask is true."""
    array = mask.to_numpy(zero_copy_only=False) if isinstance(mask, pa.Array) else np.asarray(mask)
    return [int(row) for row in np.flatnonzero(array)]


def _read_numbers(column: pa.ChunkedArray, attribute: Numeric, problems: list[Problem], fitting: bool) -> Any:
    name = attribute.name
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    values, odd = to_float(column)
    problems += [Problem(f"{column[row].as_py()!r} is not a number", column=name, row=row) for row in odd]
    missing = np.isnan(values)
    missing[odd] = False
    problems += [Problem("the value is missing", column=name, row=row) for row in _rows(missing)]
    for wrong, message in _limits(values, attribute, pa.types.is_integer(column.type)):
        problems += [Problem(f"{values[row]:g} {message}", column=name, row=row) for row in _rows(wrong)]
    if fitting and len(values) and not problems and values.min() == values.max():
        problems.append(Problem(f"the value never varies (always {values[0]:g}), so it has no scale", column=name))
    return values


def _limits(values: NDArray[np.float64], attribute: Numeric, surely_whole: bool) -> list[tuple[NDArray[np.bool_], str]]:
    """What a number of this attribute must not be, with the words for it; nothing where all is well at a glance."""
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


def to_float(column: pa.ChunkedArray) -> tuple[NDArray[np.float64], list[int]]:
    """Values as float64, NaN where there is none; and the rows whose value is no number."""
    kind = column.type
    if pa.types.is_float32(kind) or pa.types.is_float16(kind):
        # A short float means the decimal it prints, as every number here does: 3.6f is 3.6, not 3.5999999046.
        shortest = column.to_numpy().astype(f"f{kind.bit_width // 8}").astype(str)
        return shortest.astype(np.float64), []
    if (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    ):
        column = column.cast(pa.int8()) if pa.types.is_boolean(kind) else column
        return column.cast(pa.float64(), safe=False).to_numpy().astype(np.float64), []
    values = np.full(len(column), np.nan)
    odd = []
    for row, value in enumerate(column.to_pylist()):
        if value is None or not str(value).strip():
            continue
        try:
            values[row] = float("no" if "_" in str(value) else value)  # Python reads 1_000 as a number, tables do not
        except (TypeError, ValueError):
            odd.append(row)
    return values, odd


def _read_codes(column: pa.ChunkedArray, attribute: Categorical, problems: list[Problem]) -> Any:
    known = pa.array(attribute.values, pa.string())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        # Almost every table is clean: one look-up, and only what it does not find is trimmed and looked at again.
        codes = pc.index_in(column, value_set=known.cast(column.type))
        if not codes.null_count:
            return codes.to_numpy()
    text = as_text(column)
    codes = pc.index_in(text, value_set=known)
    missing = text.is_null().to_numpy()
    problems += [Problem("the value is missing", column=attribute.name, row=row) for row in _rows(missing)]
    for row in _rows(codes.is_null().to_numpy() & ~missing):
        value = text[row].as_py()
        hint = did_you_mean(value, attribute.values)
        problems.append(Problem(f'the schema does not know the category "{value}".{hint}', attribute.name, row))
    return codes.fill_null(0).to_numpy()
