"""Casts of ONNX: between floats, from whole numbers and truth values to floats, from whole numbers to text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.models.columns import Block, TableColumn
from lcifr.models.dataflow.vectors import scaled
from lcifr.models.onnx.calls import Call, CodedNumberError
from lcifr.models.onnx.tensors import DTYPES, AnyArray, finite, is_text
from lcifr.models.onnx.values import Columns, Constant, Decided, Hidden, TextColumn, Texts, Value


def cast(call: Call) -> tuple[Value, ...]:
    """Between floats; whole numbers and truth values to floats; whole numbers of categories to text."""
    value, number = call.value(0), call.integer("to", 0)
    if number not in DTYPES:
        raise call.refuse(f"a cast to the element type {number}", fix="use float32 or float64")
    to = DTYPES[number]
    if isinstance(value, Constant):
        return (Constant(_cast_array(call, value.array, to)),)
    if isinstance(value, Decided):
        return (replace(value, labels=tuple(_cast_array(call, np.array(value.labels), to).tolist())),)
    if isinstance(value, Texts):
        if not is_text(to):
            raise call.refuse("texts become numbers", fix="code categories with LabelEncoder or OneHotEncoder")
        return (value,)
    if isinstance(value, Columns):
        return (cast_columns(call, value, to),)
    if to.kind != "f":
        raise call.refuse(f"values of the network become {to}, which is not piecewise linear")
    narrower = to.itemsize < value.dtype.itemsize
    if narrower and not isinstance(value, Hidden):
        raise call.refuse("probabilities become float32", fix="leave this step out")
    if narrower and isinstance(value, Hidden):
        value = replace(value, vector=scaled(value.vector, 1.0))  # rounds once more
    return (replace(value, dtype=to),)


def _cast_array(call: Call, array: AnyArray, to: np.dtype[np.generic]) -> AnyArray:
    if array.dtype == to or (array.dtype.kind in "OU" and is_text(to)):
        return array
    if array.dtype.kind in "OU":
        raise call.refuse("texts become numbers")
    if is_text(to):
        if array.dtype.kind not in "iu":
            raise call.refuse(f"{array.dtype} becomes text, which every runtime writes in its own way")
        return np.array([str(one) for one in array.ravel().tolist()], dtype=object).reshape(array.shape)
    numbers = finite(array, call.where)
    if to.kind in "iu" and (numbers != np.trunc(numbers)).any():
        raise call.refuse(f"numbers that are not whole become {to}")
    return array.astype(to)


def cast_columns(call: Call, value: Columns, to: np.dtype[np.generic]) -> Columns | Texts:
    """Columns of another type: numbers by a step of their program, entries of tables one by one."""
    if value.dtype == to:
        return value
    if to.kind == "f":
        steps = (ProgramStep(Operation.CAST, StepFormat.FLOAT32),) if to == np.float32 else ()
        block = replace(value.block, dtype=np.dtype(to)).stepwise([steps] * len(value.block), call.where)
        return replace(value, block=block)
    for column in value.block.columns:
        if not isinstance(column, TableColumn):
            raise CodedNumberError(
                f"{call.where}: a number of the table becomes {'text' if is_text(to) else to}",
                fix="declare it categorical",
                attribute=getattr(column, "attribute", ""),
            )
    tables = [column for column in value.block.columns if isinstance(column, TableColumn)]
    if is_text(to):
        texts = [[None if e is None else str(_entry(call, e, value, to)) for e in one.values] for one in tables]
        made = tuple(TextColumn(one.attribute, tuple(f)) for one, f in zip(tables, texts, strict=True))
        return Texts(made, value.shape)
    numbers = [[None if e is None else float(_entry(call, e, value, to)) for e in one.values] for one in tables]
    columns = tuple(TableColumn(one.attribute, tuple(f)) for one, f in zip(tables, numbers, strict=True))
    return Columns(Block(columns, np.dtype(to)), value.shape)


def _entry(call: Call, entry: float, value: Columns, to: np.dtype[np.generic]) -> Any:
    """One entry of a table as another type."""
    return _cast_array(call, np.array(entry).astype(value.dtype), to).item()
