"""Foreign values and exact numbers: what a file may ask for at most, how it is read, integers over a power of two."""

import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

MOST, LETTERS = 1_000_000, 200  # people of a bundle, letters of an id
BYTES, VALUES, LONGER = 16 << 20, 250_000, 1_000_000  # of a JSON file; values of one person's line
COLUMNS, WEIGHTS = 10_000, 1 << 26  # features; bits of all weights of a network
CELLS, DIGITS = 512, 4_096  # of a person; bits of the common denominator of a comparison
STEPS = 50_000_000  # of work for one person, each below a tenth of a microsecond


class Limit(Exception):
    """More than a limit allows: the whole bundle is refused, whoever it came up with."""


def at_most(most: float, found: float, what: str) -> None:
    """Refuse what is beyond a limit, before any work is done on it."""
    if found > most:
        raise Limit(f"beyond a limit: at most {most:,} {what}")


class StepCounter(threading.local):
    """Counts steps before they are taken, so that no file decides how long the checker runs, or how much it holds."""

    most, done = math.inf, 0


COUNTER = StepCounter()  # of this thread


def spend(steps: int) -> None:
    """About to take so many more steps."""
    COUNTER.done += steps
    at_most(COUNTER.most, COUNTER.done, "steps of work for one person")


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
def reading(what: str, steps: float = math.inf) -> Iterator[None]:
    """Whatever goes wrong while foreign values are used is a rejection: nothing is confirmed by an accident.

    Where steps are given, so many may be taken, from here on.
    """
    if steps < math.inf:
        COUNTER.most, COUNTER.done = steps, 0
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as problem:
        raise Rejected(f"{what} is not as the format says: {type(problem).__name__}: {problem!s:.200}") from None
    finally:
        COUNTER.most = math.inf if steps < math.inf else COUNTER.most


def number(found: Any) -> float:
    """A finite float64."""
    ensure(isinstance(found, float) and math.isfinite(found), "{} is not a finite float64", found)
    return float(found)


def items(found: Any) -> list[Any]:
    """A JSON list: nothing else that one can go through."""
    ensure(isinstance(found, list | tuple), "{} is not a list", found)
    spend(20 + 20 * len(found))
    return list(found)


def numbers(found: Any, count: int) -> list[float]:
    """A list of ``count`` finite float64."""
    ensure(len(listed := items(found)) == count, "{} is not a list of {} numbers", found, count)
    return [number(item) for item in listed]


def position(found: Any, count: int) -> int:
    """An integer in 0 … count − 1."""
    ensure(type(found) is int and 0 <= found < count, "{} is not an integer in 0 … {}", found, count - 1)
    return int(found)


def fraction(found: Any) -> Fraction:
    """[p, q], two whole numbers, the second above 0."""
    p, q = items(found)
    ensure(type(p) is type(q) is int and q > 0, "{} is not a fraction", found)
    return Fraction(p, q)


class Vector(NamedTuple):
    """The rational numbers ``values[i] / 2**shift``."""

    values: list[int]
    shift: int

    @property
    def bits(self) -> int:
        """How long the longest of the integers is."""
        return max(map(int.bit_length, self.values), default=0)

    def plus(self, other: "Vector") -> "Vector":
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
    value = up(limit)  # the decimal of a larger float is above the limit
    while decimal(value) > limit or (strict and decimal(value) == limit):
        value = math.nextafter(value, -math.inf)
    return value
