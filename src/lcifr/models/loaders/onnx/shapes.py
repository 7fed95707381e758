"""Operators of ONNX that move numbers and change none: Reshape, Concat, Gather, Slice, Split, Squeeze and their kin."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from lcifr.models.loaders.dataflow import checked_width
from lcifr.models.loaders.onnx.categories import cast_columns
from lcifr.models.loaders.onnx.graph import AnyArray
from lcifr.models.loaders.onnx.values import (
    Call,
    Columns,
    Constant,
    Decided,
    IntArray,
    PersonValue,
    Value,
    join,
    pick,
    places_of,
)

LARGEST_CONSTANT = 2**22
"""Numbers of a constant that is made of others, at most."""
NONES = {"value_float": np.float32, "value_int": np.int64, "value_floats": np.float32, "value_ints": np.int64}


def constant(call: Call) -> tuple[Value, ...]:
    attributes = call.node.attributes
    if isinstance(tensor := attributes.get("value"), np.ndarray):
        return (Constant(tensor),)
    for name, dtype in NONES.items():
        if name in attributes:
            return (Constant(np.array(attributes[name], dtype=dtype)),)
    for name in ("value_string", "value_strings"):
        if name in attributes:
            return (Constant(np.array(attributes[name], dtype=object)),)
    raise call.refuse("a constant without a dense value")


def identity(call: Call) -> tuple[Value, ...]:
    return (call.value(0),)


def dropout(call: Call) -> tuple[Value, ...]:
    """Passes on, unless it is in training mode."""
    mode = call.constant(2)
    if mode is not None and np.asarray(mode).any():
        raise call.refuse("it is in training mode", fix="export the model with module.eval()")
    return (call.value(0),)


def reshape(call: Call) -> tuple[Value, ...]:
    value, wanted = call.value(0), np.asarray(call.required(1)).ravel().tolist()
    if call.integer("allowzero", 0) and 0 in wanted:
        raise call.refuse("a shape with 0 people or numbers")
    if isinstance(value, Constant):
        sizes = [value.array.shape[i] if size == 0 else int(size) for i, size in enumerate(wanted)]
        return (Constant(value.array.reshape(sizes)),)
    shape = _new_shape(call, value, [int(size) for size in wanted])
    return (pick(value, places_of(value).reshape(shape), call.where) if shape != value.shape else value,)


def _new_shape(call: Call, value: PersonValue, wanted: list[int]) -> tuple[int, ...]:
    """The sizes behind the first, which has to stay the people."""
    size = prod(value.shape)
    if not wanted:
        raise call.refuse("a shape without people")
    rest = [value.shape[i - 1] if n == 0 and 0 < i <= len(value.shape) else n for i, n in enumerate(wanted)][1:]
    if -1 in rest and wanted[0] in (0, call.graph.people):
        known = prod(n for n in rest if n != -1)
        rest = [size // max(known, 1) if n == -1 else n for n in rest]
    people_stay = wanted[0] in (0, -1) or (call.graph.people is not None and wanted[0] == call.graph.people)
    if not people_stay or prod(rest) != size or min(rest, default=1) < 1:
        raise call.refuse(f"the shape {wanted} mixes people; a person has {value.shape}")
    return tuple(rest)


def flatten(call: Call) -> tuple[Value, ...]:
    value = call.person_value(0)
    if call.integer("axis", 1) not in (1, -len(value.shape) if value.shape else 1):
        raise call.refuse("it flattens people", fix="use axis 1")
    return (pick(value, places_of(value).ravel(), call.where),)


def transpose(call: Call) -> tuple[Value, ...]:
    value, order = call.value(0), call.listed("perm")
    if isinstance(value, Constant):
        return (Constant(np.transpose(value.array, order or None)),)
    if not order or order[0] != 0 or sorted(order) != list(range(len(value.shape) + 1)):
        raise call.refuse("it turns people into columns")
    return (pick(value, np.transpose(places_of(value), [axis - 1 for axis in order[1:]]), call.where),)


def squeeze(call: Call) -> tuple[Value, ...]:
    value = call.value(0)
    if isinstance(value, Constant):
        return (Constant(np.squeeze(value.array, call.whole_numbers(1, "axes") or None)),)
    found = call.axes(1, len(value.shape) + 1)
    if found is None:
        raise call.refuse("it does not say which dimensions go, and one person would lose the first")
    return (pick(value, np.squeeze(places_of(value), tuple(axis - 1 for axis in found)), call.where),)


def unsqueeze(call: Call) -> tuple[Value, ...]:
    value, raw = call.value(0), call.whole_numbers(1, "axes")
    if isinstance(value, Constant):
        return (Constant(np.expand_dims(value.array, raw)),)
    axes = tuple(call.axis(one, len(value.shape) + 1 + len(raw)) - 1 for one in raw)
    return (pick(value, np.expand_dims(places_of(value), axes), call.where),)


def concat(call: Call) -> tuple[Value, ...]:
    values = [call.value(place) for place in range(len(call.values))]
    if not values:
        raise call.refuse("nothing to join")
    if all(isinstance(value, Constant) for value in values):
        arrays = [value.array for value in values if isinstance(value, Constant)]
        _check_size(call, sum(array.size for array in arrays))
        return (Constant(np.concatenate(arrays, call.integer("axis", 0))),)
    people = [call.person_value(place) for place in range(len(values))]
    rank = len(people[0].shape) + 1
    axis = call.axis(call.integer("axis", 0), rank)
    return (join(people, axis - 1, call.where),)


def feature_vectorizer(call: Call) -> tuple[Value, ...]:
    """Columns side by side, as float32."""
    values = [call.person_value(place) for place in range(len(call.values))]
    floats = [cast_columns(call, one, np.dtype(np.float32)) if isinstance(one, Columns) else one for one in values]
    if any(len(one.shape) != 1 for one in floats):
        raise call.refuse("columns of several dimensions")
    return (join(floats, 0, call.where),)


def gather(call: Call) -> tuple[Value, ...]:
    value, index = call.value(0), call.value(1)
    if isinstance(value, Constant) and isinstance(index, Decided):
        return (_labelled(call, index, value.array),)
    indices = np.asarray(call.required(1))
    if isinstance(value, Constant):
        _check_size(call, indices.size * max(1, value.array.size))
        return (Constant(np.take(value.array, indices, axis=call.integer("axis", 0))),)
    axis = call.axis(call.integer("axis", 0), len(value.shape) + 1) - 1
    return (_taken(call, value, indices, axis),)


def array_feature_extractor(call: Call) -> tuple[Value, ...]:
    """Columns by their numbers along the last dimension; or labels by the number of the class."""
    value, index = call.value(0), call.value(1)
    if isinstance(value, Constant) and isinstance(index, Decided):
        return (_labelled(call, index, value.array),)
    person = call.person_value(0)
    if not person.shape:
        raise call.refuse("a person has no columns here")
    return (_taken(call, person, np.asarray(call.required(1)).ravel(), len(person.shape) - 1),)


def _labelled(call: Call, decided: Decided, labels: AnyArray) -> Decided:
    """Classes by numbers become classes by labels."""
    found = labels.ravel()
    if call.integer("axis", 0) != 0 or not all(
        isinstance(one, int) and 0 <= one < len(found) for one in decided.labels
    ):
        raise call.refuse(f"{len(found)} labels for the classes {decided.labels}")
    named = tuple(found[one] if found.dtype == object else found[one].item() for one in decided.labels)
    return replace(decided, labels=named)


def _taken(call: Call, value: PersonValue, indices: AnyArray, axis: int) -> PersonValue:
    if indices.dtype.kind not in "iu":
        raise call.refuse(f"indices of {indices.dtype}")
    checked_width(max(1, indices.size) * prod(value.shape[:axis]) * prod(value.shape[axis + 1 :]))
    size = value.shape[axis]
    if indices.size and not (-size <= indices.min() and indices.max() < size):
        raise call.refuse(f"column {int(indices.max())} of {size}")
    return pick(value, np.take(places_of(value), indices, axis=axis), call.where)


def slice_(call: Call) -> tuple[Value, ...]:
    value = call.value(0)
    if isinstance(value, Constant):
        raise call.refuse("a slice of a constant", fix="export it with constants folded")
    starts, ends = (call.whole_numbers(place, name) for place, name in ((1, "starts"), (2, "ends")))
    steps = call.constant(4)
    step = [1] * len(starts) if steps is None else np.asarray(steps).ravel().tolist()
    axes = call.whole_numbers(3, "axes") or tuple(range(len(starts)))
    if not len(starts) == len(ends) == len(axes) == len(step) or 0 in step:
        raise call.refuse("its starts, ends, axes and steps do not fit together")
    places: IntArray = places_of(value)
    for start, end, axis, by in zip(starts, ends, axes, step, strict=True):
        at = call.axis(int(axis), len(value.shape) + 1) - 1
        index: list[slice] = [slice(None)] * places.ndim
        index[at] = slice(start, None if by < 0 and end < -places.shape[at] else end, by)
        places = places[tuple(index)]
    return (pick(value, places, call.where),)


def split(call: Call) -> tuple[Value, ...]:
    value = call.person_value(0)
    axis = call.axis(call.integer("axis", 0), len(value.shape) + 1) - 1
    sizes, parts = list(call.whole_numbers(1, "split")), len(call.node.outputs)
    if not sizes:
        each = -(-value.shape[axis] // parts)
        sizes = [each] * (parts - 1) + [value.shape[axis] - each * (parts - 1)]
    if len(sizes) != parts or sum(sizes) != value.shape[axis] or min(sizes) < 1:
        raise call.refuse(f"{value.shape[axis]} columns in parts of {sizes}")
    pieces = np.split(places_of(value), np.cumsum(sizes)[:-1], axis=axis)
    return tuple(pick(value, piece, call.where) for piece in pieces)


def _check_size(call: Call, size: int) -> None:
    if size > LARGEST_CONSTANT:
        raise call.refuse(f"a constant of {size} numbers", fix=f"at most {LARGEST_CONSTANT} are read")
