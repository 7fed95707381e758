"""Operators of ONNX after the last layer: Sigmoid, Softmax, ArgMax, comparisons, ZipMap; they become part of the rule.

How far a runtime's sigmoid or softmax is off is assumed (:mod:`lcifr.models.rule`): absolutely, because
onnxruntime's float32 sigmoid is exact to a few units of roundoff of 1, and of small probabilities not relatively.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.columns import Dtype
from lcifr.models.description import DescribedOutput, Label, Meaning
from lcifr.models.loaders.dataflow import FlowVector, chosen, components, negative
from lcifr.models.loaders.onnx.graph import Graph, GraphTensor, finite
from lcifr.models.loaders.onnx.values import (
    Call,
    Columns,
    Constant,
    Decided,
    Exponentials,
    Hidden,
    PersonValue,
    Probabilities,
    Softmax,
    Texts,
    Value,
    as_hidden,
    logistic,
    pick,
)
from lcifr.models.rule import ASSUMED_ROUNDOFFS, Kind, Rule, probability_band
from lcifr.models.source import quoted

ABOVE = ("Greater", "GreaterOrEqual")


def roundoff(dtype: Dtype) -> float:
    """The unit of roundoff of a float type."""
    return float(np.finfo(dtype).eps) / 2


def sigmoid(call: Call) -> tuple[Value, ...]:
    return (logistic(as_hidden(call.value(0), call.where)),)


def softmax(call: Call) -> tuple[Value, ...]:
    """Also LogSoftmax, which is in the same order."""
    value = as_hidden(call.value(0), call.where)
    rank = len(value.shape) + 1
    axis = call.axis(call.integer("axis", -1 if call.graph.version >= 13 else 1), rank)
    if rank != 2 or axis != 1 or value.vector.width < 2:
        raise call.refuse(f"a softmax over rows of the shape {value.shape}")
    return (Softmax(value.vector, value.dtype, value.shape),)


def exponential(call: Call) -> tuple[Value, ...]:
    value = as_hidden(call.value(0), call.where)
    return (Exponentials(value.vector, False, value.dtype, value.shape),)


def zip_map(call: Call) -> tuple[Value, ...]:
    """Names scores or probabilities without changing them."""
    return (call.value(0),)


def arg_max(call: Call) -> tuple[Value, ...]:
    value = call.person_value(0)
    rank = len(value.shape) + 1
    call.axis(call.integer("axis", 0), rank)
    if rank != 2 or call.integer("select_last_index", 0):
        raise call.refuse("it picks the last of several largest values, or rows have several dimensions")
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
        raise NetworkError(f"{where} takes the largest of one number")
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
    """A score or probability and a constant; a tie is within the band, where nothing is certified."""
    left, right = call.value(0), call.value(1)
    turned = isinstance(left, Constant)
    value, constant = (right, left) if turned else (left, right)
    if not isinstance(constant, Constant) or isinstance(value, Constant) or constant.array.size != 1:
        raise call.refuse("it compares two values that depend on the row", fix="compare one score with one constant")
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
        raise call.refuse("it negates something that is not a decision")
    return (replace(value, labels=tuple(not label for label in value.labels)),)


def where_(call: Call) -> tuple[Value, ...]:
    """One constant for a decision, another one for the other."""
    value, yes, no = call.value(0), call.required(1), call.required(2)
    if not isinstance(value, Decided) or not all(isinstance(label, bool) for label in value.labels):
        raise call.refuse("it chooses by something that is not a decision")
    if yes.size != 1 or no.size != 1:
        raise call.refuse("it chooses between several numbers at once")
    given = {True: yes.ravel().tolist()[0], False: no.ravel().tolist()[0]}
    return (replace(value, labels=tuple(given[label] for label in value.labels)),)


# Decisions of ONNX models: which output decides, by which rule, and what its classes are called.

DESCRIBE = "say in a model.toml what it means: [output] meaning, classes, comparison and threshold"
OF_SCORES = (Meaning.SCORE, Meaning.PROBABILITY, Meaning.SCORES, Meaning.NUMBER)


@dataclass(frozen=True)
class ReadDecision:
    """The numbers that decide, and how.

    Parameters
    ----------
    labels : of the classes, in their order; None for numbers. own_labels : as the file has them.
    """

    scores: FlowVector
    rule: Rule
    labels: NDArray[Any] | None = None
    own_labels: tuple[Any, ...] = ()


def deciding_output(graph: Graph, described: DescribedOutput | None) -> str:
    """The name of the output that decides.

    Raises
    ------
    NetworkError
        If there are several that could.
    """
    names = [one.name for one in graph.outputs]
    if described is not None and described.name is not None:
        if described.name not in names:
            raise NetworkError(
                f'the model has no output "{described.name}".{did_you_mean(described.name, names)}',
                fix=f"one of {', '.join(names)}",
            )
        return described.name
    of_classes = [one.name for one in graph.outputs if _is_class(one)]
    of_scores = [one.name for one in graph.outputs if not _is_class(one)]
    wanted = of_scores if described is not None and described.meaning in OF_SCORES else of_classes or of_scores
    if len(wanted) != 1:
        raise NetworkError(f"it is not clear which of its outputs decides: {', '.join(names)}", fix=DESCRIBE)
    return wanted[0]


def _is_class(tensor: GraphTensor) -> bool:
    return tensor.dtype is not None and tensor.dtype.kind != "f"


def read_decision(value: Value, described: DescribedOutput | None, name: str) -> ReadDecision:
    """The rule by which an output decides.

    Raises
    ------
    NetworkError
        Where only a description could say it, or where it is not exactly representable.
    """
    if isinstance(value, Constant) and value.array.dtype == object and not value.array.ndim:  # see operators
        raise NetworkError(
            f"the output {quoted(name)} is {value.array}, which are not read",
            fix='decide by the class instead: meaning = "class"',
        )
    if isinstance(value, Constant):
        raise NetworkError(f"the output {quoted(name)} is the same for every row, or not a decision")
    if described is None or described.meaning is Meaning.CLASS:
        return _by_itself(value, described, name)
    where = f"the output {quoted(name)}"
    if isinstance(value, Decided):
        raise NetworkError(
            f"{where} is a class already, not a {described.meaning}",
            fix='use meaning = "class", or name another output',
        )
    if described.meaning is Meaning.NUMBER:
        hidden = as_hidden(value, where)
        return ReadDecision(hidden.vector, Rule(Kind.NUMBER, hidden.vector.width))
    if described.meaning is Meaning.SCORES:
        return _decided(first_of_largest(value, (), where), described.classes, name)
    labels = described.classes or (0, 1)
    if len(labels) != 2:
        raise NetworkError(f"{where}: a score is compared, so there are two classes, and {len(labels)} are named")
    one = _position(value, described.position, where)
    return _decided(above_threshold(one, described.threshold, where, labels=(0, 1)), labels, name)


def _position(value: PersonValue, position: int | None, where: str) -> PersonValue:
    size = prod(value.shape)
    place = size - 1 if position is None else position
    if not 0 <= place < size:
        raise NetworkError(f"{where} has {size} numbers, and position = {position}")
    return pick(value, np.array([place]), where)


def _by_itself(value: PersonValue, described: DescribedOutput | None, name: str) -> ReadDecision:
    """Without a described meaning: a class decides as it is, and a single number is the decision."""
    if isinstance(value, Decided):
        return _decided(value, described.classes if described else (), name)
    if isinstance(value, Columns | Hidden) and prod(value.shape) == 1 and described is None:
        hidden = as_hidden(value, name)
        return ReadDecision(hidden.vector, Rule(Kind.NUMBER, 1))
    what = "numbers" if isinstance(value, Columns | Hidden) else "probabilities"
    raise NetworkError(f"the output {quoted(name)} is {what}, and nothing says what they decide", fix=DESCRIBE)


def _decided(decided: Decided, classes: tuple[Label, ...], name: str) -> ReadDecision:
    labels = classes or decided.labels
    if len(labels) != len(decided.labels) or len(set(labels)) < len(labels):
        raise NetworkError(
            f"the output {quoted(name)} decides between {len(decided.labels)} classes, named {list(labels)}"
        )
    rule = Rule.of(decided.scores.width) if decided.kind is Kind.CLASS else Rule(Kind.SIGN, 1)
    log_odds = (1.0, 0.0) if decided.log_odds else None
    found = Rule(rule.kind, rule.outputs, rule.groups, band=decided.band, log_odds=log_odds)
    return ReadDecision(decided.scores, found, np.array(labels), decided.labels)
