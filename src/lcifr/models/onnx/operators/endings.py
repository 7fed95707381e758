"""Operators of ONNX behind the last layer: Sigmoid, Softmax, ArgMax, comparisons, ZipMap. They go into the rule.

How far a runtime's sigmoid or softmax is off is assumed (:mod:`lcifr.models.probability`): absolutely, because
onnxruntime's float32 sigmoid is exact to a few units of roundoff of 1, and of small probabilities not relatively.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.columns import Dtype
from lcifr.models.dataflow.vectors import FlowVector, chosen, components, negative
from lcifr.models.onnx.calls import Call
from lcifr.models.onnx.tensors import finite
from lcifr.models.onnx.values import (
    Constant,
    Decided,
    Exponentials,
    PersonValue,
    Probabilities,
    Probability,
    Softmax,
    Texts,
    Value,
    as_hidden,
)
from lcifr.models.probability import ASSUMED_ROUNDOFFS, probability_band
from lcifr.models.rule import Kind

ABOVE = ("Greater", "GreaterOrEqual")


def roundoff(dtype: Dtype) -> float:
    """The unit of roundoff of a float type."""
    return float(np.finfo(dtype).eps) / 2


def sigmoid(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    parts = tuple(Probability(chosen(value.vector, [i])) for i in range(value.vector.width))
    return (Probabilities(parts, value.dtype, value.shape),)


def softmax(call: Call) -> tuple[Value, ...]:
    """Also LogSoftmax, which is in the same order."""
    value = as_hidden(call.value(0), call.where)
    rank = len(value.shape) + 1
    axis = call.axis(call.integer("axis", -1 if call.graph.version >= 13 else 1), rank)
    if rank != 2 or axis != 1 or value.vector.width < 2:
        raise call.refuse(f"a softmax over a person of the shape {value.shape}")
    return (Softmax(value.vector, value.dtype, value.shape),)


def exponential(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    return (Exponentials(value.vector, False, value.dtype, value.shape),)


def zip_map(call: Call) -> tuple[Value, ...]:
    """Gives names to scores or probabilities, and changes none."""
    return (call.value(0),)


def arg_max(call: Call) -> tuple[Value, ...]:
    value = call.person_value(0)
    rank = len(value.shape) + 1
    call.axis(call.integer("axis", 0), rank)
    if rank != 2 or call.integer("select_last_index", 0):
        raise call.refuse("it takes the last of the largest, or a person has several dimensions")
    return (first_of_largest(value, (1,) if call.integer("keepdims", 1) else (), call.where),)


def first_of_largest(value: PersonValue, shape: tuple[int, ...], where: str) -> Decided:
    """The class of the largest score or probability; of several the first."""
    labels = tuple(range(prod(value.shape)))
    if isinstance(value, Softmax):
        lead = 2 * ASSUMED_ROUNDOFFS * roundoff(value.dtype)  # two exponentials, each as exact as assumed
        return Decided(value.scores, Kind.CLASS, (-lead, lead), labels, value.dtype, shape)
    if isinstance(value, Probabilities):
        return _more_probable(value, shape, where)
    hidden = as_hidden(value, where)
    if len(labels) < 2:
        raise NetworkError(f"{where}: the largest of one number")
    parts = components(hidden.vector)
    if len(parts) == 2 and parts[0][:2] == parts[1][:2] and parts[0][2] == -parts[1][2]:  # −s and s
        return Decided(chosen(hidden.vector, [1]), Kind.SIGN, (0.0, 0.0), labels, hidden.dtype, shape)
    return Decided(hidden.vector, Kind.CLASS, (0.0, 0.0), labels, hidden.dtype, shape)


def _more_probable(value: Probabilities, shape: tuple[int, ...], where: str) -> Decided:
    """1 − p and p. Two sigmoids of two scores can both be rounded to 1, and then the first is largest."""
    first, second = value.parts if len(value.parts) == 2 else (None, None)
    if first is None or second is None or components(first.margin) != components(second.margin):
        raise NetworkError(
            f"{where} compares sigmoids of different scores, which are rounded to ties",
            fix="let the largest score decide instead, before the sigmoid",
        )
    if first.complement == second.complement:
        raise NetworkError(f"{where} compares a probability with itself")
    band = probability_band(0.5, roundoff(value.dtype), where, absolute=True)
    margin = second.margin if first.complement else negative(second.margin)
    return Decided(margin, Kind.SIGN, (band.lower, band.upper), (0, 1), value.dtype, shape, log_odds=True)


def compare(call: Call) -> tuple[Value, ...]:
    """A score or probability and a constant; at a tie the decision is within the band, where nobody relies on it."""
    left, right = call.value(0), call.value(1)
    turned = isinstance(left, Constant)
    value, constant = (right, left) if turned else (left, right)
    if not isinstance(constant, Constant) or isinstance(value, Constant) or constant.array.size != 1:
        raise call.refuse("it compares two values of the person", fix="compare one score with one constant")
    if prod(value.shape) != 1:
        raise call.refuse(f"it compares {prod(value.shape)} numbers with one", fix="choose the one that decides")
    threshold = float(finite(constant.array, call.where).ravel()[0])
    above = (call.node.operator in ABOVE) != turned
    return (above_threshold(value, threshold, call.where, labels=(False, True), above=above),)


def above_threshold(
    value: PersonValue, threshold: float, where: str, labels: tuple[object, object], *, above: bool = True
) -> Decided:
    """The second label where one number is above a threshold; below it, where not ``above``."""
    margin, band = _margin(value, threshold, where)
    if not above:
        margin, band = negative(margin), (-band[1], -band[0])
    dtype = value.dtype if not isinstance(value, Texts) else np.dtype(np.float64)
    return Decided(margin, Kind.SIGN, band, labels, dtype, value.shape, isinstance(value, Probabilities))


def _margin(value: PersonValue, threshold: float, where: str) -> tuple[FlowVector, tuple[float, float]]:
    if not isinstance(value, Probabilities):
        hidden = as_hidden(value, where)
        rounded = float(np.asarray(threshold).astype(hidden.dtype))  # runtimes may round it before they compare
        return hidden.vector, (min(threshold, rounded), max(threshold, rounded))
    part = value.parts[0]
    found = probability_band(threshold, roundoff(value.dtype), where, second=not part.complement, absolute=True)
    if not part.complement:
        return part.margin, (found.lower, found.upper)
    return negative(part.margin), (-found.upper, -found.lower)


def negation(call: Call) -> tuple[Value, ...]:
    value = call.value(0)
    if not isinstance(value, Decided) or not all(isinstance(label, bool) for label in value.labels):
        raise call.refuse("it negates something that is no decision")
    return (replace(value, labels=tuple(not label for label in value.labels)),)


def where_(call: Call) -> tuple[Value, ...]:
    """One constant for a decision, another one for the other."""
    value, yes, no = call.value(0), call.required(1), call.required(2)
    if not isinstance(value, Decided) or not all(isinstance(label, bool) for label in value.labels):
        raise call.refuse("it chooses by something that is no decision")
    if yes.size != 1 or no.size != 1:
        raise call.refuse("it chooses between several numbers at once")
    given = {True: yes.ravel().tolist()[0], False: no.ravel().tolist()[0]}
    return (replace(value, labels=tuple(given[label] for label in value.labels)),)
