"""Validation of whole tables against a schema: all problems are reported at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lcifr.data.attributes import Attribute, Categorical, Numeric
from lcifr.data.columns import map_in_threads, read_codes, read_numbers, rows_where
from lcifr.data.frames import as_text, read_frame
from lcifr.data.io.missing import missing_values
from lcifr.data.malformed_numbers import FEW, find_malformed_number
from lcifr.data.schema import Schema
from lcifr.errors import LEAVE_OUT_FLAT, NO_SCALE, TableError, TableProblem, did_you_mean


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
