"""The checker's numbers: a float64 is an integer over a power of two, so integers suffice and nothing is rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

from lcifr.check.limits import DIGITS, at_most


def printable(text: str) -> str:
    """Foreign text for a terminal: nothing in it moves the cursor, or turns the line around."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Rejected(Exception):
    """What is claimed is not shown; the message says why."""

    def __str__(self) -> str:
        return printable(super().__str__())


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Whatever goes wrong while foreign values are used is a rejection: nothing is confirmed by an accident."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as problem:
        raise Rejected(f"{what} is not as the format says: {type(problem).__name__}: {problem!s:.200}") from None


class Vector(NamedTuple):
    """The rational numbers ``values[i] / 2**shift``."""

    values: list[int]
    shift: int

    @property
    def bits(self) -> int:
        """How long the longest of the integers is."""
        return max(map(int.bit_length, self.values), default=0)

    def times(self, factor: int) -> Vector:
        """The product with a whole number."""
        return Vector([factor * value for value in self.values], self.shift)

    def plus(self, other: Vector) -> Vector:
        """The sum, number by number."""
        shift = max(self.shift, other.shift)
        pairs = zip(self.values, other.values, strict=True)
        return Vector([(a << shift - self.shift) + (b << shift - other.shift) for a, b in pairs], shift)


def exact(values: Iterable[float]) -> Vector:
    """Floats as integers over one common power of two."""
    ratios = [value.as_integer_ratio() for value in values]
    shift = max((bottom.bit_length() for _, bottom in ratios), default=1) - 1
    return Vector([top << shift + 1 - bottom.bit_length() for top, bottom in ratios], shift)


def dot(left: Iterable[int], right: Iterable[int]) -> int:
    """Σ left·right."""
    return sum(map(mul, left, right))


def up(value: Fraction) -> float:
    """The least float that is not below the value."""
    near = value.numerator / value.denominator
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def decimal(value: float) -> Fraction:
    """The decimal that a float prints as, which is what the number in the table means."""
    return Fraction(float.__repr__(value))


def most(limit: Fraction, strict: bool, whole: bool) -> float:
    """The largest float, or whole number, whose decimal is at most (strictly: below) the limit."""
    if whole:
        return float(math.ceil(limit) - 1 if strict else math.floor(limit))
    below = math.nextafter(near := limit.numerator / limit.denominator, -math.inf)
    close = [math.nextafter(below, -math.inf), below, near, math.nextafter(near, math.inf)]
    decimals = [decimal(value) for value in close if math.isfinite(value)]  # one of these four it is
    return float(max(value for value in decimals if value < limit or (value == limit and not strict)))


def number(found: object) -> float:
    """A finite float64."""
    if not isinstance(found, float) or not math.isfinite(found):
        raise Rejected(f"{found!r:.60} is not a finite float64")
    return found


def numbers(found: object, count: int) -> list[float]:
    """A list of ``count`` finite float64."""
    if not isinstance(found, list | tuple) or len(found) != count:
        raise Rejected(f"{found!r:.60} is not a list of {count} numbers")
    return [number(item) for item in found]


def position(found: object, count: int) -> int:
    """An integer in 0 … count − 1."""
    if type(found) is not int or not 0 <= found < count:
        raise Rejected(f"{found!r:.60} is not an integer in 0 … {count - 1}")
    return found


def items(found: Any) -> list[Any]:
    """A JSON list: nothing else that one can go through."""
    if not isinstance(found, list):
        raise Rejected(f"{found!r:.60} is not a list")
    return found


def fraction(found: Any) -> Fraction:
    """[p, q], two whole numbers, the second above 0."""
    p, q = items(found)
    if type(p) is not int or type(q) is not int or q < 1:
        raise Rejected(f"{found!r:.60} is not a fraction")
    at_most(DIGITS, max(p.bit_length(), q.bit_length()), "bits in a fraction")
    return Fraction(p, q)
