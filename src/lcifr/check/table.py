"""What an individual is, to the checker: attributes with their columns and scales, people, and the step to features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from lcifr.check.exact import Rejected, number, numbers
from lcifr.check.read import fields, items, position


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


@dataclass(frozen=True)
class Person:
    """Numbers and category codes by attribute."""

    numbers: dict[str, float]
    codes: dict[str, int]


def decimal(value: float) -> Fraction:
    """The decimal that a float prints as, which is what the number in the table means."""
    return Fraction(repr(value))


def most(limit: Fraction, strict: bool) -> float:
    """The largest float whose decimal is at most (or, strictly, below) the limit."""
    try:
        value = limit.numerator / limit.denominator
    except OverflowError:
        raise Rejected("a bound is beyond all floats") from None
    while math.isfinite(value) and (decimal(value) > limit or (strict and decimal(value) == limit)):
        value = math.nextafter(value, -math.inf)
    while math.isfinite(up := math.nextafter(value, math.inf)) and (
        decimal(up) < limit or (not strict and decimal(up) == limit)
    ):
        value = up
    return value


def least(limit: Fraction, strict: bool) -> float:
    """The smallest float whose decimal is at least (or, strictly, above) the limit."""
    return -most(-limit, strict)


def read_attributes(encoding: object) -> dict[str, Attribute]:
    """The attributes of ``encoding.json`` in the order of their feature columns."""
    plain = fields(encoding, "the encoding", "format", "schema", "scales")
    schema = fields(plain.get("schema"), "the schema", "target", "attributes", "groups")
    scales = plain.get("scales")
    if plain.get("format") != 1 or not isinstance(schema.get("attributes"), dict) or not isinstance(scales, dict):
        raise Rejected("the encoding is not of format 1")
    result: dict[str, Attribute] = {}
    start = 0
    for name, found in schema["attributes"].items():  # type: ignore[attr-defined]
        entry = fields(found, f"attribute {name}", "kind", "values", "unit", "integer", "lower", "upper")
        if entry.get("kind") == "categorical":
            values = items(entry.get("values"), f"the values of {name}")
            if not values or len(set(map(str, values))) != len(values) or not all(isinstance(v, str) for v in values):
                raise Rejected(f"the values of {name} are not distinct texts")
            result[name] = Attribute(start, tuple(map(str, values)))
        elif entry.get("kind") == "numeric":
            scale = fields(scales.get(name), f"the scale of {name}", "mean", "sd")
            mean, sd = (number(scale.get(key), f"the {key} of {name}") for key in ("mean", "sd"))
            if not sd > 0:
                raise Rejected(f"the sd of {name} is not positive")
            low, high = (_end(entry.get(key), name) for key in ("lower", "upper"))
            ends = (-math.inf if low is None else low, math.inf if high is None else high)
            result[name] = Attribute(start, (), mean, sd, *ends, entry.get("integer") is True)
        else:
            raise Rejected(f"attribute {name} is neither numeric nor categorical")
        start += max(len(result[name].values), 1)
    return result


def _end(found: object, name: str) -> float | None:
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise Rejected(f"the range of {name} is not a number")
    return number(float(found) if abs(found) < 1e300 else math.inf, f"the range of {name}")


def read_person(found: object, attributes: dict[str, Attribute]) -> Person:
    """{"numbers": […], "codes": […]} in the order of the attributes; somebody who can exist."""
    plain = fields(found, "a person", "numbers", "codes")
    numeric = [name for name, attribute in attributes.items() if not attribute.values]
    categorical = [name for name, attribute in attributes.items() if attribute.values]
    values = dict(zip(numeric, numbers(plain.get("numbers"), "a person's numbers", len(numeric)), strict=True))
    for name, value in values.items():
        attribute = attributes[name]
        if not attribute.lower <= value <= attribute.upper or (attribute.integer and not value.is_integer()):
            raise Rejected(f"{name} = {value} is nobody's: out of range, or not whole")
    codes = items(plain.get("codes"), "a person's codes", len(categorical))
    return Person(
        values,
        {
            name: position(c, f"the code of {name}", len(attributes[name].values))
            for name, c in zip(categorical, codes, strict=True)
        },
    )


def encode(person: Person, attributes: dict[str, Attribute]) -> list[float]:
    """A person as features."""
    features: list[float] = []
    for name, attribute in attributes.items():
        if attribute.values:
            features += [float(code == person.codes[name]) for code in range(len(attribute.values))]
        else:
            features.append(attribute.encode(person.numbers[name]))
    return features
