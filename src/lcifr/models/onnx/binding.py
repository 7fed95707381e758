"""Binding of a graph's inputs to the columns of a table: by their names, or by a description of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from lcifr.data import Categorical, Numeric, Schema
from lcifr.data.frames import is_missing, text_of
from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.columns import FLOAT64, Block, Column, Dtype, RawColumn, as_numbers, float_in
from lcifr.models.files.described_columns import constant_column, described_columns
from lcifr.models.files.description import DescribedInput, InputKind, ModelDescription
from lcifr.models.onnx.graph import Graph, GraphTensor
from lcifr.models.onnx.tensors import is_text
from lcifr.models.onnx.values import Columns, TextColumn, Texts

DESCRIBE = "describe its inputs: `lcifr init people.csv --model model.onnx` proposes a model.toml"
WHOLE = np.dtype(np.int64)


@dataclass(frozen=True)
class TableColumns:
    """A table's schema, and how it writes the values of its categories.

    Parameters
    ----------
    frame : of pandas, for the texts as they stand there; None where there is none at hand.
    """

    schema: Schema
    frame: Any = None

    def float_of(self, name: str) -> Dtype:
        """The floating-point type in which the table holds a number; float64 where there is no frame."""
        return FLOAT64 if self.frame is None or name not in self.frame.columns else float_in(self.frame, name)

    def written(self, name: str) -> tuple[str, ...]:
        """The texts of a category's values as the table has them: the schema's are without blanks around."""
        values = self.schema[name].values  # type: ignore[union-attr]
        if self.frame is None or name not in self.frame.columns:
            return values
        seen = {text_of(one).strip(): text_of(one) for one in self.frame[name].unique() if not is_missing(one)}
        return tuple(seen.get(value, value) for value in values)


Bind = Callable[[GraphTensor], "Columns | Texts"]


def binding(graph: Graph, description: ModelDescription | None, table: TableColumns) -> Bind:
    """What each input of the graph is, as columns of the table.

    Raises
    ------
    NetworkError
        For a description of inputs that the graph does not have.
    """
    if description is None or not description.inputs:
        return lambda tensor: _by_name(tensor, table)
    names = [one.name for one in graph.inputs]
    for name in {one.input for one in description.inputs} - {None}:
        if name not in names:
            raise NetworkError(
                f'{description.source}: the model has no input "{name}".{did_you_mean(str(name), names)}',
                fix=f"one of {', '.join(names)}",
            )
    only = len(names) == 1
    nameless = [place for place, one in enumerate(description.inputs, 1) if one.input is None]
    if nameless and (not only or len(nameless) < len(description.inputs)):
        raise NetworkError(
            f"{description.source}: [[inputs]] {nameless[0]} does not say which input of the model it feeds",
            fix=f'add input = "…" to each entry: {", ".join(names)}',
        )

    def bind(tensor: GraphTensor) -> Columns | Texts:
        entries = description.of_input(tensor.name) or (description.of_input(None) if only else ())
        if not entries:
            raise NetworkError(f'{description.source}: nothing feeds the input "{tensor.name}"', fix="add its entries")
        return _described(tensor, entries, table, description.source)

    return bind


def _by_name(tensor: GraphTensor, table: TableColumns) -> Columns | Texts:
    if tensor.name not in table.schema or (tensor.shape is not None and prod(tensor.shape) != 1):
        size = "" if tensor.shape is None else f", {prod(tensor.shape)} numbers,"
        raise NetworkError(
            f'the input "{tensor.name}"{size} of the model is not a column of the table.'
            f"{did_you_mean(tensor.name, table.schema.names)}",
            fix=DESCRIBE,
        )
    return _as_is(tensor, tensor.name, table)


def _as_is(tensor: GraphTensor, column: str, table: TableColumns) -> Columns | Texts:
    """A column as the table holds it, in the tensor's type."""
    attribute, where = table.schema[column], f'input "{tensor.name}"'
    shape = (1,) if tensor.shape is None else tensor.shape
    if tensor.dtype is None:
        raise NetworkError(f"{where} is not a tensor")
    if is_text(tensor.dtype):
        if not isinstance(attribute, Categorical):
            raise NetworkError(
                f'{where} takes texts, but the schema says that "{column}" is a number',
                fix=f'declare it categorical: Schema.infer(…, categorical=["{column}"])',
            )
        return Texts((TextColumn(column, table.written(column)),), shape)
    if not isinstance(attribute, Categorical) and tensor.dtype.kind != "f":
        _check_whole(tensor, attribute, where)
    widened = isinstance(attribute, Numeric) and tensor.dtype == FLOAT64
    block = as_numbers((RawColumn(attribute, table.float_of(column) if widened else tensor.dtype),), where)
    return Columns(Block(block.columns, tensor.dtype), shape)


def _check_whole(tensor: GraphTensor, attribute: Any, where: str) -> None:
    """A number of the table that becomes a whole number has to be one, and to fit."""
    if not attribute.integer or tensor.dtype is None or tensor.dtype.kind not in "iu":
        raise NetworkError(
            f'{where} takes {tensor.dtype}, but "{attribute.name}" is not declared a whole number',
            fix="declare it an integer in the schema, or export the model with float inputs",
        )
    ends = np.iinfo(tensor.dtype)
    known = attribute.lower is not None and attribute.upper is not None
    if tensor.dtype != WHOLE and not (known and ends.min <= attribute.lower and attribute.upper <= ends.max):
        raise NetworkError(
            f'{where} takes {tensor.dtype}, and "{attribute.name}" may be beyond', fix="export with int64"
        )


def _described(
    tensor: GraphTensor, entries: tuple[DescribedInput, ...], table: TableColumns, source: str
) -> Columns | Texts:
    width = sum(one.width for one in entries)
    if tensor.shape is not None and tensor.shape != (width,) and prod(tensor.shape) != width:
        raise NetworkError(
            f'{source}: the input "{tensor.name}" takes {prod(tensor.shape)} numbers, its entries feed {width}',
            fix="correct the entries",
        )
    for one in entries:
        if one.column is not None and one.column not in table.schema:
            raise NetworkError(
                f'{source}: the table has no column "{one.column}".{did_you_mean(one.column, table.schema.names)}'
            )
    shape = (width,) if tensor.shape is None else tensor.shape
    if tensor.dtype is None or is_text(tensor.dtype):
        texts = [_as_is(tensor, str(one.column), table) for one in entries if one.kind is InputKind.AS_IS]
        if len(texts) < len(entries):
            raise NetworkError(f'{source}: the input "{tensor.name}" takes texts', fix='use kind = "as is"')
        return Texts(tuple(column for one in texts if isinstance(one, Texts) for column in one.columns), shape)
    columns = [column for one in entries for column in _columns(tensor, one, table, source)]
    return Columns(Block(tuple(columns), tensor.dtype), shape)


def _columns(tensor: GraphTensor, entry: DescribedInput, table: TableColumns, source: str) -> tuple[Column, ...]:
    dtype = tensor.dtype
    assert dtype is not None
    if entry.kind is InputKind.CONSTANT:
        return (constant_column(entry, dtype),)
    name = str(entry.column)
    if entry.kind is InputKind.AS_IS:
        found = _as_is(tensor, name, table)
        return found.block.columns if isinstance(found, Columns) else ()
    return described_columns(entry, table.schema[name], dtype, f'{source}, column "{name}"', table.float_of(name))
