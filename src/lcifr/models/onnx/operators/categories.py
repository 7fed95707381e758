"""Operators of ONNX on categories: OneHotEncoder, LabelEncoder, and Imputer where nothing is missing.

A category has finitely many values, so whatever these make of it is a table with an entry for each.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from lcifr.models.columns import Block, TableColumn
from lcifr.models.onnx.calls import Call, CodedNumberError
from lcifr.models.onnx.tensors import AnyArray
from lcifr.models.onnx.values import Columns, Constant, Decided, TextColumn, Texts, Value

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
    raise call.refuse("it codes something that is no column of the table", fix="encode the table's own columns")


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
        raise call.refuse("it replaces a value like others", fix="mark missing values as NaN, and impute those")
    return (value,)
