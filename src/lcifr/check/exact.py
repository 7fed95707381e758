"""The checker's arithmetic: a float64 is an integer over a power of two, so integers suffice and nothing is rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from operator import mul


class Rejected(Exception):
    """The proof does not show what it claims; the message says why."""


@dataclass(frozen=True, slots=True)
class Number:
    """The rational number ``value / 2**shift``."""

    value: int
    shift: int

    def __add__(self, other: Number) -> Number:
        shift = max(self.shift, other.shift)
        return Number((self.value << shift - self.shift) + (other.value << shift - other.shift), shift)

    def __le__(self, other: Number) -> bool:
        return self.value << other.shift <= other.value << self.shift


@dataclass(frozen=True, slots=True)
class Vector:
    """The rational numbers ``values[i] / 2**shift``."""

    values: list[int]
    shift: int

    def lift(self, shift: int) -> list[int]:
        """The integers of the same numbers over another power of two, which is not smaller."""
        up = shift - self.shift
        return [value << up for value in self.values] if up else self.values.copy()

    def __add__(self, other: Vector) -> Vector:
        shift = max(self.shift, other.shift)
        return Vector([a + b for a, b in zip(self.lift(shift), other.lift(shift), strict=True)], shift)


def exact(values: Iterable[float]) -> Vector:
    """Floats as integers over one common power of two."""
    ratios = [value.as_integer_ratio() for value in values]
    shift = max((bottom.bit_length() for _, bottom in ratios), default=1) - 1
    return Vector([top << shift + 1 - bottom.bit_length() for top, bottom in ratios], shift)


def dot(left: Iterable[int], right: Iterable[int]) -> int:
    """Σ left·right, as far as both go."""
    return sum(map(mul, left, right))


def number(found: object, what: str) -> float:
    """A finite float64, given as one or as hexadecimal text (what files hold); anything else is rejected."""
    if isinstance(found, str) and len(found) < 40 and found.removeprefix("-").startswith("0x"):
        try:
            found = float.fromhex(found)
        except (ValueError, OverflowError):
            raise Rejected(f"{what} is not a hexadecimal float64: {found}") from None
    if not isinstance(found, float) or not math.isfinite(found):
        raise Rejected(f"{what} is not a finite float64")
    return found


def numbers(found: object, what: str, count: int) -> list[float]:
    """A list of ``count`` finite float64."""
    if not isinstance(found, list | tuple) or len(found) != count:
        raise Rejected(f"{what} is not a list of {count} numbers")
    return [number(item, what) for item in found]
