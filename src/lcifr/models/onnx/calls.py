"""Call: a node of a graph with the values that it is given; and what operators ask of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.onnx.graph import Node
from lcifr.models.onnx.tensors import AnyArray
from lcifr.models.onnx.values import Constant, PersonValue, Value


class CodedNumberError(NetworkError):
    """A number that the model takes for a category; ``attribute`` is its name."""

    def __init__(self, message: str, *, fix: str, attribute: str) -> None:
        super().__init__(message, fix=fix)
        self.attribute = attribute


@dataclass(frozen=True)
class Circumstances:
    """What holds of the whole graph.

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
    graph: Circumstances

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
            raise self.refuse(f"input {place} is a constant where a value of the person belongs")
        return found

    def constant(self, place: int) -> AnyArray | None:
        """A constant, or None where it is left out; anything else is refused."""
        found = self.optional(place)
        if found is not None and not isinstance(found, Constant):
            raise self.refuse(f"input {place} depends on the person, and has to be a constant here")
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

    def axes(self, place: int, rank: int, name: str = "axes") -> tuple[int, ...] | None:
        """Dimensions from an input (of later versions) or an attribute, counted from 0; None where neither is there."""
        given = self.constant(place)
        found = self.listed(name) if given is None else tuple(np.asarray(given).ravel().tolist())
        if not found and given is None:
            return None
        return tuple(self.axis(int(one), rank) for one in found)

    def axis(self, axis: int, rank: int) -> int:
        """A dimension counted from 0, and not that of the people."""
        found = axis + rank if axis < 0 else axis
        if not 0 <= found < rank:
            raise self.refuse(f"dimension {axis} of a tensor that has {rank}")
        if found == 0:
            raise self.refuse("the first dimension is the people, and decisions are made one by one")
        return found


Operator = Callable[[Call], tuple[Value, ...]]
