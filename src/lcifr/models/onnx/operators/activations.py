"""Operators of ONNX that are piecewise linear: Relu, LeakyRelu, PRelu, Clip, Abs, Max and Min, exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.models.columns import Block
from lcifr.models.dataflow.vectors import (
    FloatArray,
    FlowVector,
    affine,
    at_least,
    clipped,
    larger,
    leaky,
    negative,
    relu,
)
from lcifr.models.onnx.calls import Call
from lcifr.models.onnx.operators.elementwise import same_shape
from lcifr.models.onnx.tensors import AnyArray, finite
from lcifr.models.onnx.values import Columns, Constant, Hidden, Value, as_hidden, broadcast, pick


def relu_(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    return (replace(value, vector=relu(value.vector)),)


def leaky_relu(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    return (replace(value, vector=leaky(value.vector, call.number("alpha", float(np.float32(0.01))))),)


def prelu(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    slopes = finite(call.required(1), f"{call.where}, its slopes")
    places, each = broadcast(value.shape, slopes, call.where)
    found = as_hidden(pick(value, places, call.where), call.where)
    return (replace(found, vector=leaky(found.vector, each.ravel())),)


def absolute(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    unit = np.eye(value.vector.width)
    return (replace(value, vector=affine((unit, relu(value.vector)), (unit, relu(negative(value.vector))))),)


def clip(call: Call) -> tuple[Value, ...]:
    """On columns of the table a step of the program; behind the encoding two ReLUs."""
    value = call.value(0)
    if not isinstance(value, Columns):
        value = as_hidden(value, call.where)
    lower, upper = _end(call, 1, "min", -np.inf), _end(call, 2, "max", np.inf)
    largest = float(np.finfo(value.dtype).max) if value.dtype.kind == "f" else np.inf
    if lower >= largest or upper <= -largest:
        raise call.refuse(f"it clips everyone to one number: between {lower:g} and {upper:g}")
    if isinstance(value, Hidden):
        ends = [np.full(value.vector.width, end) for end in (lower, upper)]
        ends = [np.where(np.abs(end) >= largest, np.copysign(np.inf, end), end) for end in ends]
        return (replace(value, vector=clipped(value.vector, *ends)),)
    as_hidden(value, call.where)  # only to refuse whole numbers
    ends_of_step = max(lower, -largest), min(upper, largest)
    if ends_of_step == (-largest, largest):
        return (value,)
    if not ends_of_step[0] < ends_of_step[1]:
        raise call.refuse(f"it clips everyone to one number: between {lower:g} and {upper:g}")
    step = ProgramStep(Operation.CLIP, StepFormat(value.dtype.name), ends_of_step)
    block = Block(value.block.columns, value.dtype).stepwise([(step,)] * len(value.block), call.where)
    return (Columns(block, value.shape),)


def _end(call: Call, place: int, name: str, default: float) -> float:
    given = call.constant(place)
    if given is None:
        return float(call.attribute(name, default, float))
    if given.size != 1:
        raise call.refuse(f"its {name} is {given.size} numbers")
    return float(given.ravel()[0])


def maximum(call: Call) -> tuple[Value, ...]:
    return (_extreme(call, 1),)


def minimum(call: Call) -> tuple[Value, ...]:
    return (_extreme(call, -1),)


def _extreme(call: Call, sign: int) -> Hidden:
    """The largest of several values; the smallest is the negative of the largest negative."""
    values = [call.value(place) for place in range(len(call.values))]
    people = [as_hidden(value, call.where) for value in values if not isinstance(value, Constant)]
    if not people:
        raise call.refuse("constants only", fix="export it with constants folded")
    found = people[0]
    for other in people[1:]:
        found, second = same_shape(call, found, other)
        found = replace(found, vector=_turned(larger(_turned(found.vector, sign), _turned(second.vector, sign)), sign))
    for value in values:
        if isinstance(value, Constant):
            found = _with_constant(call, found, value.array, sign)
    return found


def _with_constant(call: Call, value: Hidden, array: AnyArray, sign: int) -> Hidden:
    if array.dtype != value.dtype or np.isnan(array.astype(np.float64)).any():
        raise call.refuse(f"a constant of {array.dtype}, perhaps NaN, and a value of {value.dtype}")
    places, constants = broadcast(value.shape, array, call.where)
    found = as_hidden(pick(value, places, call.where), call.where)
    ends: FloatArray = sign * constants.ravel().astype(np.float64)
    if (ends == np.inf).any():
        raise call.refuse("one side is infinite")
    return replace(found, vector=_turned(at_least(_turned(found.vector, sign), ends), sign))


def _turned(vector: FlowVector, sign: int) -> FlowVector:
    return vector if sign > 0 else negative(vector)
