"""Casts and category encoders of ONNX: number types, text, OneHotEncoder, LabelEncoder, Imputer."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from lcifr.models.columns import Block, TableColumn, cast_to
from lcifr.models.loaders.dataflow import scaled
from lcifr.models.loaders.onnx.graph import DTYPES, AnyArray, finite, is_text
from lcifr.models.loaders.onnx.values import (
    Call,
    CodedNumberError,
    Columns,
    Constant,
    Decided,
    Hidden,
    TextColumn,
    Texts,
    Value,
)


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
            raise call.refuse("it casts texts to numbers", fix="code categories with LabelEncoder or OneHotEncoder")
        return (value,)
    if isinstance(value, Columns):
        return (cast_columns(call, value, to),)
    if to.kind != "f":
        raise call.refuse(f"it casts values of the network to {to}, which is not piecewise linear")
    narrower = to.itemsize < value.dtype.itemsize
    if narrower and not isinstance(value, Hidden):
        raise call.refuse("it casts probabilities to float32", fix="leave this step out")
    if narrower and isinstance(value, Hidden):
        value = replace(value, vector=scaled(value.vector, 1.0))  # rounds once more
    return (replace(value, dtype=to),)


def _cast_array(call: Call, array: AnyArray, to: np.dtype[np.generic]) -> AnyArray:
    if array.dtype == to or (array.dtype.kind in "OU" and is_text(to)):
        return array
    if array.dtype.kind in "OU":
        raise call.refuse("it casts texts to numbers")
    if is_text(to):
        if array.dtype.kind not in "iu":
            raise call.refuse(f"it casts {array.dtype} to text, which every runtime writes in its own way")
        return np.array([str(one) for one in array.ravel().tolist()], dtype=object).reshape(array.shape)
    numbers = finite(array, call.where)
    if to.kind in "iu" and (numbers != np.trunc(numbers)).any():
        raise call.refuse(f"it casts numbers that are not whole to {to}")
    return array.astype(to)


def cast_to_floats(call: Call, value: Columns, to: np.dtype[np.generic]) -> Columns:
    """Columns in float32 or float64, by a step of their programs."""
    block = replace(value.block, dtype=np.dtype(to)).stepwise([cast_to(np.dtype(to))] * len(value.block), call.where)
    return replace(value, block=block)


def cast_columns(call: Call, value: Columns, to: np.dtype[np.generic]) -> Columns | Texts:
    """Columns of another type: numbers by a step of their program, entries of tables one by one."""
    if value.dtype == to:
        return value
    if to.kind == "f":
        return cast_to_floats(call, value, to)
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


# OneHotEncoder, LabelEncoder, and Imputer where nothing is missing.
#
# A category has finitely many values, so whatever these make of it is a table with an entry for each.

UNUSED = "_Unused"
"""What a LabelEncoder makes of a text that it does not know, unless it says something else."""


def one_hot_encoder(call: Call) -> tuple[Value, ...]:
    """A column for each category it knows; an unknown value has zeros, or the runtime raises."""
    value = call.person_value(0)
    texts, numbers = call.listed("cats_strings"), call.listed("cats_int64s")
    known = texts or numbers
    if bool(texts) == bool(numbers) or len(set(known)) < len(known):
        raise call.refuse("it needs either texts or whole numbers as categories, each once")
    zeros = bool(call.integer("zeros", 1))
    tables = _entries(call, value)
    if isinstance(value, Texts) != bool(texts):
        raise call.refuse("its categories and its input are of two types")
    columns: list[TableColumn] = []
    for attribute, entries in tables:
        raises = [entry is None or (entry not in known and not zeros) for entry in entries]
        columns += [
            TableColumn(
                attribute,
                tuple(None if bad else float(entry == one) for entry, bad in zip(entries, raises, strict=True)),
            )
            for one in known
        ]
    return (Columns(Block(tuple(columns), np.dtype(np.float32)), (*value.shape, len(known))),)


def _entries(call: Call, value: Value) -> list[tuple[str, tuple[Any, ...]]]:
    """For each column its attribute, and what each value of that is."""
    if isinstance(value, Texts):
        return [(column.attribute, column.texts) for column in value.columns]
    if isinstance(value, Columns):
        numbers = [column for column in value.block.columns if not isinstance(column, TableColumn)]
        if numbers:
            name = getattr(numbers[0], "attribute", "a constant")
            raise CodedNumberError(
                f'{call.where}: it codes the values of "{name}" one by one, but the schema says that it is a number',
                fix=f'declare it categorical: Schema.infer(…, categorical=["{name}"])',
                attribute=name,
            )
        tables = [column for column in value.block.columns if isinstance(column, TableColumn)]
        if any(entry is not None and entry != math.trunc(entry) for one in tables for entry in one.values):
            raise call.refuse("it codes numbers that are not whole")
        return [(one.attribute, one.values) for one in tables]
    raise call.refuse("it codes something that is not a column of the table", fix="encode the table's own columns")


def label_encoder(call: Call) -> tuple[Value, ...]:
    """Each value to another: texts to numbers, numbers to texts; also of the classes that a model decides."""
    value = call.value(0)
    mapping, default = _mapping(call)
    if isinstance(value, Decided):
        return (replace(value, labels=tuple(mapping.get(_key(label), default) for label in value.labels)),)
    if isinstance(value, Constant):
        raise call.refuse("it codes a constant")
    found = [
        (name, tuple(None if entry is None else mapping.get(_key(entry), default) for entry in entries))
        for name, entries in _entries(call, value)
    ]
    if isinstance(default, str):
        return (Texts(tuple(TextColumn(name, entries) for name, entries in found), value.shape),)
    if not all(entry is None or math.isfinite(entry) for _, entries in found for entry in entries):
        raise call.refuse("it codes a value as NaN or infinity")
    dtype = np.dtype(np.float32 if isinstance(default, float) else np.int64)
    tables = [TableColumn(name, tuple(None if e is None else float(e) for e in entries)) for name, entries in found]
    return (Columns(Block(tuple(tables), dtype), value.shape),)


def _key(entry: Any) -> Any:
    """Whole numbers and truth values alike, as dictionaries have them."""
    return entry if isinstance(entry, str) else float(entry)


def _mapping(call: Call) -> tuple[dict[Any, Any], Any]:
    """From value to value; what becomes of others, whose type is that of the outputs."""
    if classes := call.listed("classes_strings"):  # version 1: texts and their places, in either direction
        if isinstance(call.value(0), Texts):
            return {text: i for i, text in enumerate(classes)}, call.integer("default_int64", -1)
        return {float(i): text for i, text in enumerate(classes)}, call.text("default_string", UNUSED)
    keys = _listed(call, "keys")
    values = _listed(call, "values")
    if len(keys) != len(values) or len(set(keys)) < len(keys) or not keys:
        raise call.refuse(f"{len(set(keys))} different keys for {len(values)} values")
    return dict(zip(map(_key, keys), values, strict=True)), _default(call, values[0])


def _listed(call: Call, name: str) -> tuple[Any, ...]:
    tensor = call.node.attributes.get(f"{name}_tensor")
    if isinstance(tensor, np.ndarray):
        return tuple(tensor.ravel().tolist())
    found = [call.listed(f"{name}_{kind}") for kind in ("strings", "int64s", "floats")]
    given = [one for one in found if one]
    if len(given) != 1:
        raise call.refuse(f"{len(given)} lists of {name}")
    return given[0]


def _default(call: Call, like: Any) -> Any:
    tensor: AnyArray | Any = call.node.attributes.get("default_tensor")
    if isinstance(tensor, np.ndarray):
        found = tensor.ravel().tolist()
        if len(found) != 1 or type(found[0]) is not type(like):
            raise call.refuse("its default is of another type than its values")
        return found[0]
    if isinstance(like, str):
        return call.text("default_string", UNUSED)
    return (
        call.integer("default_int64", -1)
        if isinstance(like, int)
        else float(call.attribute("default_float", 0.0, float))
    )


def imputer(call: Call) -> tuple[Value, ...]:
    """Where nothing is missing it passes on; people with missing values are not audited."""
    value = call.person_value(0)
    replaced = call.attribute("replaced_value_float", 0.0, float)
    if call.listed("imputed_value_int64s") or not isinstance(value, Columns) or not math.isnan(replaced):
        raise call.refuse(
            "it imputes another value than NaN", fix="mark missing values as NaN first, then impute those"
        )
    return (value,)
