"""The checker's numbers: a float64 is an integer over a power of two, so integers suffice and nothing is rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

from lcifr.check.limits import DIGITS, at_most, spend


def printable(text: str) -> str:
    """Foreign text for a terminal: nothing in it moves the cursor, or turns the line around."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Rejected(Exception):
    """What is claimed is not shown; the message says why."""

    def __str__(self) -> str:
        return printable(super().__str__())


def ensure(true: object, otherwise: str, *about: object) -> None:
    """Reject what is not so; the values that it is about are cut short."""
    if not true:
        raise Rejected(otherwise.format(*(f"{value!r:.60}" for value in about)) if about else otherwise)


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

    def plus(self, other: Vector) -> Vector:
        """The sum, number by number."""
        shift = max(self.shift, other.shift)
        pairs = zip(self.values, other.values, strict=True)
        return Vector([(a << shift - self.shift) + (b << shift - other.shift) for a, b in pairs], shift)


def exact(values: Iterable[float]) -> Vector:
    """Floats as integers over one common power of two."""
    ratios = [value.as_integer_ratio() for value in values]
    spend(10 * len(ratios))
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


def number(found: Any) -> float:
    """A finite float64."""
    ensure(isinstance(found, float) and math.isfinite(found), "{} is not a finite float64", found)
    return float(found)


def numbers(found: Any, count: int) -> list[float]:
    """A list of ``count`` finite float64."""
    ensure(isinstance(found, list | tuple) and len(found) == count, "{} is not a list of {} numbers", found, count)
    return [number(item) for item in found]


def position(found: Any, count: int) -> int:
    """An integer in 0 … count − 1."""
    ensure(type(found) is int and 0 <= found < count, "{} is not an integer in 0 … {}", found, count - 1)
    return int(found)


def items(found: Any) -> list[Any]:
    """A JSON list: nothing else that one can go through."""
    ensure(isinstance(found, list), "{} is not a list", found)
    return list(found)


def fraction(found: Any) -> Fraction:
    """[p, q], two whole numbers, the second above 0."""
    p, q = items(found)
    ensure(type(p) is type(q) is int and q > 0, "{} is not a fraction", found)
    at_most(DIGITS, max(p.bit_length(), q.bit_length()), "bits in a fraction")
    return Fraction(p, q)
