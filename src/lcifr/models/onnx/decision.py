"""Decisions of ONNX models: which output decides, by which rule, and what its classes are called."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.dataflow.vectors import FlowVector
from lcifr.models.files.description import DescribedOutput, Label, Meaning
from lcifr.models.files.outline import quoted
from lcifr.models.onnx.graph import Graph, GraphTensor
from lcifr.models.onnx.operators.endings import above_threshold, first_of_largest
from lcifr.models.onnx.values import Columns, Constant, Decided, Hidden, PersonValue, Value, as_hidden, pick
from lcifr.models.rule import Kind, Rule

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
        raise NetworkError(f"the output {quoted(name)} is the same for everyone, or nothing that decides")
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
    """Without a word about scores: a class decides as it is; one number is the decision."""
    if isinstance(value, Decided):
        return _decided(value, described.classes if described else (), name)
    if isinstance(value, Columns | Hidden) and prod(value.shape) == 1 and described is None:
        hidden = as_hidden(value, name)
        return ReadDecision(hidden.vector, Rule(Kind.NUMBER, 1))
    what = "numbers" if isinstance(value, Columns | Hidden) else "probabilities"
    raise NetworkError(f"the output {quoted(name)} is {what}, and what they decide is not said", fix=DESCRIBE)


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
