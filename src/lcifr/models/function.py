"""Function: the interface of whatever proofs are about, with exact evaluation and a canonical hash."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.models.arithmetic import Arithmetic

FloatArray = NDArray[np.float64]


class Function(ABC):
    """What proving needs of a model's arithmetic, and no more; :class:`lcifr.Network` is its first kind.

    A function is exact mathematics on stored float64 numbers. Calling it is one way to compute it, off by at most
    :meth:`error`.
    """

    engine: ClassVar[str] = ""
    """The proof engine of this kind of function as "module:Class"; empty where there is none. It is imported when it is
    first asked: models import nothing that proves."""

    @property
    @abstractmethod
    def inputs(self) -> int:
        """How many columns go in."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many values come out."""

    @property
    @abstractmethod
    def native(self) -> Arithmetic:
        """The arithmetic of the runtime that it was read from."""

    @property
    def divides(self) -> str:
        """The step that divides by numbers whose inverses the weights do not hold; empty where there is none."""
        return ""

    @abstractmethod
    def __call__(self, points: ArrayLike) -> FloatArray:
        """The outputs at ``points`` (…, inputs) -> (…, outputs), computed in float64."""

    @abstractmethod
    def error(self, points: ArrayLike) -> FloatArray:
        """How far ``self(points)`` can be from exact arithmetic, (…, inputs) -> (…, outputs)."""

    @abstractmethod
    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        """The outputs at one point (inputs,), without any rounding."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """The numbers and nothing else: what an exact checker reads, and what the hash is taken of."""

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the numbers: the name of exactly this function."""
        return hashlib.sha256(self.to_bytes()).hexdigest()
