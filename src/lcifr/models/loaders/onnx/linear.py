"""Operators of ONNX that mix columns: Gemm, MatMul, BatchNormalization, LinearRegressor, LinearClassifier, Scaler."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.models.columns import Block
from lcifr.models.loaders.dataflow import FloatArray, Normalisation, affine, joined, negative, scaled
from lcifr.models.loaders.onnx.categories import cast_to_floats
from lcifr.models.loaders.onnx.graph import AnyArray, finite
from lcifr.models.loaders.onnx.values import (
    Call,
    Columns,
    Constant,
    Decided,
    Hidden,
    Probability,
    Value,
    as_hidden,
    logistic,
)
from lcifr.models.rule import Kind

FLOAT32 = np.dtype(np.float32)


def gemm(call: Call) -> tuple[Value, ...]:
    weight = _matrix(call, call.required(1))
    weight = weight.T if call.integer("transB", 0) else weight
    if call.integer("transA", 0):
        raise call.refuse("transA mixes people")
    alpha, beta = (_power_of_two(call, name) for name in ("alpha", "beta"))
    given = call.constant(2)
    bias = np.zeros(weight.shape[1]) if given is None else finite(given, f"{call.where}, its bias")
    if bias.ndim > 1 and bias.shape[0] == 1:
        bias = bias[0]
    if bias.ndim > 1 or bias.size not in (1, weight.shape[1]):
        raise call.refuse(f"a bias of the shape {bias.shape} for {weight.shape[1]} outputs")
    shift = beta * np.broadcast_to(bias, (weight.shape[1],))
    value = _inputs(call, given if given is not None else call.required(1))
    return (_product(call, value, alpha * weight.T, shift, 0),)


def _power_of_two(call: Call, name: str) -> float:
    """A factor that rounds nothing."""
    found = call.number(name, 1.0)
    if found != 0 and abs(math.frexp(found)[0]) != 0.5:
        raise call.refuse(f"{name} = {found:g} is no power of 2", fix="multiply it into the weights before the export")
    return found


def matmul(call: Call) -> tuple[Value, ...]:
    if isinstance(call.value(0), Constant):
        raise call.refuse("the person's values stand on the right of a matrix, which mixes people")
    given = call.required(1)
    if given.ndim == 1:
        hidden = _product(call, _inputs(call, given), _matrix(call, given[:, None]).T, None, call.graph.rounded_weights)
        return (Hidden(hidden.vector, hidden.dtype, hidden.shape[:-1]),)
    return (_product(call, _inputs(call, given), _matrix(call, given).T, None, call.graph.rounded_weights),)


def _matrix(call: Call, array: AnyArray) -> FloatArray:
    if array.ndim != 2 or 0 in array.shape:
        raise call.refuse(f"weights of the shape {array.shape}, where a matrix belongs")
    return finite(array, f"{call.where}, its weights")


def _inputs(call: Call, constant: AnyArray) -> Hidden:
    value = as_hidden(call.value(0), call.where)
    if value.dtype != constant.dtype:
        raise call.refuse(f"values of {value.dtype} and constants of {constant.dtype}")
    return value


def _product(call: Call, value: Hidden, weight: FloatArray, bias: FloatArray | None, spare: int) -> Hidden:
    """weight (outputs, inputs) times the last dimension; the others have to be 1."""
    if not value.shape or value.shape[-1] != weight.shape[1] or value.vector.width != weight.shape[1]:
        raise call.refuse(f"{weight.shape[1]} numbers are expected, and a person has the shape {value.shape}")
    vector = affine((weight, value.vector), bias=bias, spare=spare)
    return Hidden(vector, value.dtype, (*value.shape[:-1], weight.shape[0]))


def batch_normalization(call: Call) -> tuple[Value, ...]:
    trains = call.integer("training_mode", 0) or len([name for name in call.node.outputs if name]) > 1
    if trains or not call.integer("spatial", 1):
        raise call.refuse("it is in training mode", fix="export the model with module.eval()")
    value = as_hidden(call.value(0), call.where)
    if len(value.shape) != 1:
        raise call.refuse(f"a person has the shape {value.shape}, and one dimension is expected")
    constants = [finite(call.required(i), f"{call.where}, its constants") for i in range(1, 5)]
    epsilon = call.number("epsilon", float(np.float32(1e-5)))
    learned = Normalisation(constants[0], constants[1], constants[2], constants[3], epsilon)
    call.graph.divisions.append(call.where)
    return (Hidden(learned.of(value.vector, call.where), value.dtype, value.shape),)


def scaler(call: Call) -> tuple[Value, ...]:
    """(x − offset) · scale: in float32 for float32 and whole numbers, in float64 and cast for float64."""
    value = call.person_value(0)
    width = value.shape[-1] if value.shape else 0
    offset, scale = (np.array(call.listed(name), dtype=np.float64) for name in ("offset", "scale"))
    if len(value.shape) != 1 or offset.shape != scale.shape or len(scale) not in (1, width):
        raise call.refuse(f"offsets {offset.shape} and scales {scale.shape} for a person of the shape {value.shape}")
    offset, scale = (np.broadcast_to(finite(one, call.where), (width,)) for one in (offset, scale))
    if isinstance(value, Columns):
        if not scale.all():
            raise call.refuse("a scale is 0")
        return (_scaled_columns(call, value, offset, scale),)
    hidden = as_hidden(value, call.where)
    vector = scaled(scaled(hidden.vector, 1.0, -offset), scale)
    return (Hidden(vector, FLOAT32, value.shape),)


def _scaled_columns(call: Call, value: Columns, offset: FloatArray, scale: FloatArray) -> Columns:
    wide = value.dtype == np.float64
    kind = StepFormat.FLOAT64 if wide else StepFormat.FLOAT32
    cast = (ProgramStep(Operation.CAST, StepFormat.FLOAT32),)
    steps = [
        (
            *(() if value.dtype.kind == "f" else cast),
            *((ProgramStep(Operation.SUBTRACT, kind, (float(o),)),) if o else ()),
            *((ProgramStep(Operation.MULTIPLY, kind, (float(s),)),) if s != 1 else ()),
            *(cast if wide else ()),
        )
        for o, s in zip(offset, scale, strict=True)
    ]
    block = Block(value.block.columns, FLOAT32).stepwise(steps, call.where)
    return Columns(block, value.shape)


def linear_regressor(call: Call) -> tuple[Value, ...]:
    value, targets = _float32(call), call.integer("targets", 1)
    weight, bias = _coefficients(call, value, targets, use_bias=len(call.listed("intercepts")) == targets)
    if call.text("post_transform", "NONE") != "NONE":
        raise call.refuse("a transformed regression", fix="use post_transform NONE")
    return (_product(call, value, weight, bias, 0),)


def linear_classifier(call: Call) -> tuple[Value, ...]:
    """The first of the largest scores decides, before they become probabilities; a single score is compared with 0."""
    value = _float32(call)
    count = len(call.listed("intercepts"))
    weight, bias = _coefficients(call, value, count, use_bias=True)
    labels = call.listed("classlabels_ints") or call.listed("classlabels_strings")
    classes = max(count, 2)
    if len(labels) != classes:
        raise call.refuse(f"{len(labels)} labels for {classes} classes")
    scores = _product(call, value, weight, bias, 0)
    if count == 2 and (weight[0] == -weight[1]).all() and bias[0] == -bias[1]:
        # Two sums that differ in sign alone: beyond what either can be off, one says what the other says.
        margin = affine((weight[1:], value.vector), bias=bias[1:])
        scores = replace(scores, vector=joined([negative(margin), margin]))
        decided = Decided(margin, Kind.SIGN, (0.0, 0.0), labels, scores.dtype, ())
    else:
        kind = Kind.SIGN if count == 1 else Kind.CLASS
        decided = Decided(scores.vector, kind, (0.0, 0.0), labels, scores.dtype, ())
    return decided, _probabilities(call, scores, count)


def _probabilities(call: Call, scores: Hidden, count: int) -> Value:
    if count > 1:
        return call.post_transformed(scores)
    transform, found = call.text("post_transform", "NONE"), logistic(scores)
    if transform != "LOGISTIC":
        return call.unread_scores(transform)
    return replace(found, parts=(Probability(scores.vector, complement=True), *found.parts), shape=(2,))


def _float32(call: Call) -> Hidden:
    """The input of a linear model of ai.onnx.ml, which computes in float32 whatever it is given."""
    value = call.person_value(0)
    if isinstance(value, Columns) and value.dtype != np.float32:
        value = cast_to_floats(call, value, FLOAT32)
    hidden = as_hidden(value, call.where)
    if hidden.dtype != np.float32:
        hidden = Hidden(scaled(hidden.vector, 1.0), FLOAT32, hidden.shape)
    return hidden


def _coefficients(call: Call, value: Hidden, outputs: int, *, use_bias: bool) -> tuple[FloatArray, FloatArray]:
    width = value.shape[-1] if len(value.shape) == 1 else 0
    coefficients = np.array(call.listed("coefficients"), dtype=np.float64)
    if outputs < 1 or coefficients.shape != (outputs * width,):
        raise call.refuse(f"{coefficients.size} coefficients for {outputs} outputs and a person of {value.shape}")
    bias = np.array(call.listed("intercepts"), dtype=np.float64) if use_bias else np.zeros(outputs)
    return finite(coefficients, call.where).reshape(outputs, width), finite(bias, call.where)
