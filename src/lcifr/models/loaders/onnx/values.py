"""Values of an ONNX graph as formulas of the table's columns, and what operators ask of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.columns import Block, Dtype
from lcifr.models.loaders.dataflow import FlowVector, affine, checked_width, chosen, joined, leaf
from lcifr.models.loaders.onnx.graph import AnyArray, Node
from lcifr.models.rule import Kind

# Values of an ONNX graph without any people: what each tensor is as a formula of the table's columns.
#
# The first dimension of everything that depends on a person is the people, and no operation may mix those. Values here
# describe one of them: ``shape`` is that of the other dimensions, and components are counted in row-major order.

IntArray = NDArray[np.int64]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Constant:
    """The same in every row."""

    array: AnyArray


@dataclass(frozen=True)
class TextColumn:
    """A text for each value of a category, in the order of the schema; None where the model raises."""

    attribute: str
    texts: tuple[str | None, ...]


@dataclass(frozen=True)
class Texts:
    """Categories as the table writes them."""

    columns: tuple[TextColumn, ...]
    shape: Shape


@dataclass(frozen=True)
class Columns:
    """Numbers, each of one column of the table: still part of the encoding."""

    block: Block
    shape: Shape

    @property
    def dtype(self) -> Dtype:
        return self.block.dtype


@dataclass(frozen=True)
class Hidden:
    """Numbers of the function, behind the encoding."""

    vector: FlowVector
    dtype: Dtype
    shape: Shape


@dataclass(frozen=True)
class Exponentials:
    """exp(exponents), or 1 + exp(exponents)."""

    exponents: FlowVector
    plus_one: bool
    dtype: Dtype
    shape: Shape


@dataclass(frozen=True)
class Probability:
    """The logistic function of a margin, or 1 minus that, as a runtime rounds it.

    Parameters
    ----------
    margin : one number.
    """

    margin: FlowVector
    complement: bool = False


@dataclass(frozen=True)
class Probabilities:
    """Logistic functions, side by side."""

    parts: tuple[Probability, ...]
    dtype: Dtype
    shape: Shape


@dataclass(frozen=True)
class Softmax:
    """The softmax of scores, or its logarithm."""

    scores: FlowVector
    dtype: Dtype
    shape: Shape


@dataclass(frozen=True)
class Decided:
    """A class by its label.

    Parameters
    ----------
    scores : one margin for ``Kind.SIGN``, one score for each class for ``Kind.CLASS``.
    band : of the margin, or of the lead; see :class:`lcifr.models.rule.Rule`.
    labels : of the classes, as the value holds them. dtype : of the scores.
    log_odds : whether the margin is the log-odds of the second label.
    """

    scores: FlowVector
    kind: Kind
    band: tuple[float, float]
    labels: tuple[Any, ...]
    dtype: Dtype
    shape: Shape
    log_odds: bool = False


def logistic(value: Hidden) -> Probabilities:
    """The logistic function of each number."""
    parts = tuple(Probability(chosen(value.vector, [i])) for i in range(value.vector.width))
    return Probabilities(parts, value.dtype, value.shape)


PersonValue = Texts | Columns | Hidden | Exponentials | Probabilities | Softmax | Decided
Value = Constant | PersonValue


def places_of(value: PersonValue) -> IntArray:
    """The numbers of the components, in the shape of the value."""
    return np.arange(prod(value.shape)).reshape(value.shape)


def pick(value: PersonValue, places: IntArray, where: str) -> PersonValue:
    """The components with these numbers, in the shape of ``places``."""
    flat, shape = places.ravel().tolist(), places.shape
    checked_width(len(flat))
    if flat == list(range(prod(value.shape))):
        return replace(value, shape=shape)
    if isinstance(value, Texts):
        return Texts(tuple(value.columns[i] for i in flat), shape)
    if isinstance(value, Columns):
        return Columns(replace(value.block, columns=tuple(value.block.columns[i] for i in flat)), shape)
    if isinstance(value, Hidden):
        return replace(value, vector=chosen(value.vector, flat), shape=shape)
    if isinstance(value, Exponentials):
        return replace(value, exponents=chosen(value.exponents, flat), shape=shape)
    if isinstance(value, Probabilities):
        return replace(value, parts=tuple(value.parts[i] for i in flat), shape=shape)
    if isinstance(value, Softmax) and value.scores.width == 2 and len(flat) == 1:
        sign = 1.0 if flat[0] else -1.0  # p of the second of two classes is the logistic function of their difference
        margin = affine((np.array([[-sign, sign]]), value.scores))
        return Probabilities((Probability(margin),), value.dtype, shape)
    raise NetworkError(f"{where} takes {type(value).__name__.lower()} apart, which is not exactly representable")


def join(values: Sequence[PersonValue], axis: int, where: str) -> PersonValue:
    """Side by side along an axis of the shape."""
    offsets = np.cumsum([0, *(prod(value.shape) for value in values)])
    checked_width(int(offsets[-1]))
    places = np.concatenate(
        [places_of(value) + offset for value, offset in zip(values, offsets[:-1], strict=True)], axis
    )
    return pick(_behind_each_other(values, where), places, where)


def _behind_each_other(values: Sequence[PersonValue], where: str) -> PersonValue:
    first, total = values[0], (sum(prod(value.shape) for value in values),)
    if all(isinstance(value, Texts) for value in values):
        return Texts(tuple(column for value in values for column in value.columns), total)  # type: ignore[union-attr]
    dtypes = {value.dtype for value in values if not isinstance(value, Texts | Decided)}
    if len(dtypes) != 1 or any(isinstance(value, Texts | Decided) for value in values):
        raise NetworkError(f"{where} joins values of several types")
    if all(isinstance(value, Columns) for value in values):
        columns = tuple(column for value in values for column in value.block.columns)  # type: ignore[union-attr]
        return Columns(Block(columns, dtypes.pop()), total)
    if all(isinstance(value, Columns | Hidden) for value in values):
        return Hidden(joined([as_hidden(value, where).vector for value in values]), dtypes.pop(), total)
    if all(isinstance(value, Probabilities) for value in values):
        parts = tuple(part for value in values for part in value.parts)  # type: ignore[union-attr]
        return Probabilities(parts, dtypes.pop(), total)
    if len(values) == 1:
        return replace(first, shape=total)
    raise NetworkError(f"{where} joins probabilities with something else")


def as_hidden(value: Value, where: str) -> Hidden:
    """Numbers as the function's own: a column ends its program here."""
    if isinstance(value, Hidden):
        return value
    if isinstance(value, Columns) and value.dtype.kind == "f":
        return Hidden(leaf(value.block.columns), value.dtype, value.shape)
    if isinstance(value, Columns):
        raise NetworkError(
            f"{where} computes with {value.dtype}", fix="cast to float32 or float64 before anything is computed"
        )
    names = {Texts: "texts", Decided: "a class that is decided already", Constant: "a constant"}
    name = names.get(type(value), "probabilities, which are not piecewise linear: they may stand at the end only")
    raise NetworkError(f"{where} computes with {name}", fix="export the model without this step")


def broadcast(shape: Shape, constant: AnyArray, where: str) -> tuple[IntArray, AnyArray]:
    """Places of a person's value and of a constant, brought to one shape as numpy does; people stay people."""
    if constant.ndim > len(shape):
        if constant.ndim > len(shape) + 1 or constant.shape[0] != 1:
            raise NetworkError(f"{where}: a constant of shape {constant.shape} mixes rows")
        constant = constant[0]
    places = np.arange(prod(shape)).reshape(shape)
    checked_width(prod(np.broadcast_shapes(shape, constant.shape)))
    both = np.broadcast_arrays(places, constant)
    return both[0], both[1]


# Call: a node of a graph with the values that it is given; and what operators ask of it.


class CodedNumberError(NetworkError):
    """A number that the model takes for a category; ``attribute`` is its name."""

    def __init__(self, message: str, *, fix: str, attribute: str) -> None:
        super().__init__(message, fix=fix)
        self.attribute = attribute


@dataclass(frozen=True)
class GraphContext:
    """Facts about the whole graph that operators need.

    Parameters
    ----------
    version : of the standard operators. people : given at once, where the file says how many.
    rounded_weights : how many more times a runtime may round a weight, because it multiplies constants into it.
    divisions : the nodes that divide behind the encoding, as they are met.
    """

    version: int
    people: int | None = None
    rounded_weights: int = 0
    divisions: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Call:
    """One node and its values; None where an optional one is left out."""

    node: Node
    values: tuple[Value | None, ...]
    graph: GraphContext

    @property
    def where(self) -> str:
        return self.node.where

    def refuse(self, problem: str, fix: str | None = None) -> NetworkError:
        """The error that names this node."""
        return NetworkError(f"{self.where}: {problem}", fix=fix)

    def value(self, place: int) -> Value:
        """A value that has to be there."""
        found = self.optional(place)
        if found is None:
            raise self.refuse(f"input {place} is missing")
        return found

    def optional(self, place: int) -> Value | None:
        return self.values[place] if place < len(self.values) else None

    def person_value(self, place: int) -> PersonValue:
        """A value that depends on the person."""
        found = self.value(place)
        if isinstance(found, Constant):
            raise self.refuse(f"input {place} is a constant, and has to depend on the row here")
        return found

    def constant(self, place: int) -> AnyArray | None:
        """A constant, or None where it is left out; anything else is refused."""
        found = self.optional(place)
        if found is not None and not isinstance(found, Constant):
            raise self.refuse(f"input {place} depends on the row, and has to be a constant here")
        return None if found is None else found.array

    def required(self, place: int) -> AnyArray:
        """A constant that has to be there."""
        found = self.constant(place)
        if found is None:
            raise self.refuse(f"input {place} is missing")
        return found

    def attribute(self, name: str, default: Any, kind: type | tuple[type, ...]) -> Any:
        found = self.node.attributes.get(name, default)
        if found is not default and not isinstance(found, kind):
            raise self.refuse(f'attribute "{name}" has the wrong type')
        return found

    def integer(self, name: str, default: int) -> int:
        return int(self.attribute(name, default, int))

    def number(self, name: str, default: float) -> float:
        """A float32 attribute, finite."""
        found = float(self.attribute(name, default, float))
        if not np.isfinite(found):
            raise self.refuse(f'attribute "{name}" is {found}')
        return found

    def text(self, name: str, default: str) -> str:
        return str(self.attribute(name, default, str))

    def listed(self, name: str) -> tuple[Any, ...]:
        """A list of numbers or texts; empty where it is left out."""
        return tuple(self.attribute(name, (), tuple))

    def post_transformed(self, scores: Hidden) -> Value:
        """What the attribute post_transform makes of several scores."""
        transform = self.text("post_transform", "NONE")
        if transform == "NONE":
            return scores
        if transform == "SOFTMAX":
            return Softmax(scores.vector, scores.dtype, scores.shape)
        return logistic(scores) if transform == "LOGISTIC" else self.unread_scores(transform)

    def unread_scores(self, transform: str) -> Constant:
        """Scores that are not read; as a text, which is refused wherever it decides."""
        return Constant(np.array(f"the scores behind post_transform {transform}", dtype=object))

    def axes(self, place: int, rank: int, name: str = "axes") -> tuple[int, ...] | None:
        """Dimensions from an input (of later versions) or an attribute, counted from 0; None where neither is there."""
        if self.constant(place) is None and not self.listed(name):
            return None
        return tuple(self.axis(one, rank) for one in self.whole_numbers(place, name))

    def whole_numbers(self, place: int, name: str) -> tuple[int, ...]:
        """Whole numbers from an input (of later versions) or an attribute; none where neither is there."""
        given = self.constant(place)
        return tuple(map(int, self.listed(name) if given is None else np.asarray(given).ravel().tolist()))

    def axis(self, axis: int, rank: int) -> int:
        """A dimension counted from 0, and not that of the people."""
        found = axis + rank if axis < 0 else axis
        if not 0 <= found < rank:
            raise self.refuse(f"dimension {axis} of a tensor that has {rank}")
        if found == 0:
            raise self.refuse("the first dimension is the rows, and each is decided by itself")
        return found


Operator = Callable[[Call], tuple[Value, ...]]
