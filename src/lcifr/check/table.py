"""What an individual is, to the checker: attributes with their columns and scales, people, and the step to features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lcifr.check.exact import Rejected, number, numbers, position


@dataclass(frozen=True)
class Attribute:
    """A number (no values) or a category, and the first feature column that it has."""

    start: int
    values: tuple[str, ...] = ()
    mean: float = 0.0
    sd: float = 1.0
    lower: float = -math.inf
    upper: float = math.inf
    integer: bool = False

    def encode(self, value: float) -> float:
        """A number as the network sees it, in the float arithmetic of every user; monotone, as float arithmetic is."""
        return (value - self.mean) / self.sd


Attributes = dict[str, Attribute]
Person = dict[str, Any]  # a float for each number, a code for each category


def decimal(value: float) -> Fraction:
    """The decimal that a float prints as, which is what the number in the table means."""
    return Fraction(repr(value))


def most(limit: Fraction, strict: bool) -> float:
    """The largest float whose decimal is at most (or, strictly, below) the limit."""

    def fits(value: float) -> bool:
        return math.isfinite(value) and (decimal(value) < limit or (not strict and decimal(value) == limit))

    value = limit.numerator / limit.denominator
    while math.isfinite(value) and not fits(value):
        value = math.nextafter(value, -math.inf)
    while fits(above := math.nextafter(value, math.inf)):
        value = above
    return value


def least(limit: Fraction, strict: bool) -> float:
    """The smallest float whose decimal is at least (or, strictly, above) the limit."""
    return -most(-limit, strict)


def read_attributes(encoding: Any) -> Attributes:
    """The attributes of ``encoding.json`` in the order of their feature columns."""
    if encoding["format"] != 1:
        raise Rejected("the encoding is not of format 1")
    result: Attributes = {}
    start = 0
    for name, entry in encoding["schema"]["attributes"].items():
        if entry["kind"] == "categorical":
            values = tuple(entry["values"])
            if not values or len(set(values)) != len(values) or not all(isinstance(v, str) for v in values):
                raise Rejected(f"the values of {name} are not distinct texts")
            result[name] = Attribute(start, values)
        elif entry["kind"] == "numeric":
            mean, sd = (number(encoding["scales"][name][key]) for key in ("mean", "sd"))
            if not sd > 0:
                raise Rejected(f"the sd of {name} is not positive")
            low, high = (entry.get(key) for key in ("lower", "upper"))
            ends = -math.inf if low is None else number(float(low)), math.inf if high is None else number(float(high))
            result[name] = Attribute(start, (), mean, sd, *ends, entry.get("integer") is True)
        else:
            raise Rejected(f"attribute {name} is neither numeric nor categorical")
        start += max(len(result[name].values), 1)
    return result


def read_person(found: Any, attributes: Attributes) -> Person:
    """{"numbers": […], "codes": […]} in the order of the attributes; somebody who can exist."""
    numeric = [name for name, attribute in attributes.items() if not attribute.values]
    categorical = [name for name, attribute in attributes.items() if attribute.values]
    person: Person = dict(zip(numeric, numbers(found["numbers"], len(numeric)), strict=True))
    for name, value in person.items():
        attribute = attributes[name]
        if not attribute.lower <= value <= attribute.upper or (attribute.integer and not value.is_integer()):
            raise Rejected(f"{name} = {value} is nobody's: out of range, or not whole")
    for name, code in zip(categorical, found["codes"], strict=True):
        person[name] = position(code, len(attributes[name].values))
    return person


def encode(person: Person, attributes: Attributes) -> list[float]:
    """A person as features."""
    features: list[float] = []
    for name, attribute in attributes.items():
        codes = range(len(attribute.values))
        features += [float(code == person[name]) for code in codes] if codes else [attribute.encode(person[name])]
    return features
