"""The attributes of a table: who can exist, and how a model sees them, by the steps that its library computes."""

import math
import struct
from fractions import Fraction
from typing import Any

from lcifr.check.exact import COLUMNS, at_most, ensure, items, numbers, position, up
from lcifr.check.network import FORMATS, Group, Groups

Person = dict[str, Any]  # name → value of a number, code of a category
# Some of all individuals, by what they do not exceed: name of a category → its codes; row → a fraction, and of one
# number a float that somebody can have.
Part = dict[Any, Any]
UNDECLARED = {"lower": -math.inf, "upper": math.inf, "integer": False}
EVERY = -math.inf, math.inf
CONSTANTS = {"cast": 0, "clip": 2, "add": 1, "subtract": 1, "multiply": 1, "divide": 1}  # how many a step has


def nearest(value: Fraction, name: str) -> float:
    """The nearest number of a format; of two as near the even one."""
    if name == "float32" and abs(value) < FORMATS[name][1]:
        return round(value * 2**149) / 2**149  # the nearest float64 could be a tie that the value is not
    near = value.numerator / value.denominator
    return float(struct.unpack("<f", struct.pack("<f", near))[0]) if name == "float32" else near


class Number:
    """A numeric attribute: its feature column, its declared range, and the program of steps that makes its feature.

    A step is scale·v + offset, rounded, then clipped. Without rounding and clips the whole is x ↦ slope·x + shift, and
    ``clear`` are the numbers between which nothing is clipped.
    """

    def __init__(self, name: str, column: int, entry: Any, program: Any) -> None:
        lower, upper, self.integer = (entry.get(key, if_none) for key, if_none in UNDECLARED.items())
        right = {type(lower), type(upper)} <= {int, float} and type(self.integer) is bool and lower <= upper
        self.column, self.lower, self.upper, self.steps = column, float(lower), float(upper), list[Any]()
        self.slope, self.shift, self.clear = Fraction(1), Fraction(0), EVERY
        for operation, form, *given in items(program):
            constants = [Fraction(c) for c in numbers(given, CONSTANTS[operation])]
            right &= form in FORMATS and constants == sorted({nearest(c, form) for c in constants})
            c = constants[0] if CONSTANTS[operation] == 1 else Fraction(0)
            scale = c if operation == "multiply" else 1 / c if operation == "divide" else Fraction(1)
            offset = {"add": c, "subtract": -c}.get(operation, Fraction(0))
            self.slope, self.shift = scale * self.slope, scale * self.shift + offset
            self.steps.append((form, scale, offset, given if operation == "clip" else EVERY))
            if operation == "clip":
                ends: Any = sorted((c - self.shift) / self.slope for c in constants)
                self.clear = max(self.clear[0], ends[0]), min(self.clear[1], ends[1])
        ensure(right and self.slope and self.clear[0] < self.clear[1], f"{name} has a program or a range that is none")

    def encode(self, value: float) -> float:
        """As the model sees it, every bit; monotone, as each step is."""
        for form, scale, offset, (low, high) in self.steps:
            value = nearest(scale * Fraction(nearest(Fraction(value), form)) + offset, form)
            value = min(max(value, low), high)
        return value

    def reach(self, size: Fraction) -> tuple[Fraction, Fraction]:
        """How large the feature of a number up to ``size`` can be without rounding, and how far it is rounded."""
        error, held = Fraction(0), "float64"
        for form, scale, offset, _ in self.steps:
            unit, normal = FORMATS[form]
            error += unit * (size + error) + normal if form < held else 0  # the operand is cast
            held, size, error = form, abs(scale) * size + abs(offset), abs(scale) * error
            error += unit * (size + error) + normal
        return size, error

    def flushed(self) -> Fraction:
        """How far a machine can be that takes the tiniest numbers for 0; docs/design/arithmetic.md has the reasons."""
        lost, held = FORMATS["float64"][1], "float64"
        for form, scale, offset, _ in self.steps:
            unit, normal = FORMATS[form]
            lost, held = 2**31 * lost + 4 * normal if form < held else lost, form
            lost = (8 * lost / unit if offset else lost if scale == 1 else 4 * abs(scale) * lost) + 4 * normal
            ensure(normal <= abs(scale) <= 1 / normal and lost <= 1, "a step may lose its number where it is flushed")
        return Fraction(up(lost))


class AttributeTable:
    """The attributes of ``encoding.json`` in the order of their feature columns; a category has one for each value."""

    def __init__(self, encoding: Any) -> None:
        self.numbers, self.categories, self.width = dict[str, Number](), dict[str, range](), 0
        foreign, known = encoding.get("format") == 3, encoding["schema"]["attributes"]
        for name, entry in known.items():
            column = self.width
            if {"categorical": True, "numeric": False}[entry["kind"]]:
                self.width += len(items(entry["values"]))
                self.categories[name] = range(column, self.width)
            else:
                self.width += 1
                scale = encoding["scales"][name]
                own = [["subtract", "float64", scale["mean"]], ["divide", "float64", scale["sd"]]]
                self.numbers[name] = Number(name, column, entry, encoding["programs"][name] if foreign else own)
        at_most(COLUMNS, self.width, "feature columns")
        outside = items(encoding["outside"]) if foreign else []  # categories at which the model raises
        self.outside = {(name, known[name]["values"].index(value)) for name, value in outside}

    def person(self, found: Any) -> Person:
        """{"numbers": […], "codes": […]} in the order of the attributes; somebody who can exist."""
        values = dict(zip(self.numbers, numbers(found["numbers"], len(self.numbers)), strict=True))
        for (name, about), value in zip(self.numbers.items(), values.values(), strict=True):
            exists = about.lower <= value <= about.upper and (value.is_integer() or not about.integer)
            ensure(exists, f"{name} = {value} is nobody's: out of range, or not whole")
        codes = zip(self.categories.items(), items(found["codes"]), strict=True)
        known = {name: position(code, len(columns)) for (name, columns), code in codes}
        ensure(not self.outside & {*known.items()}, "the model does not take a category of theirs")
        return {**values, **known}

    def everybody(self) -> Part:
        """All individuals."""
        ends = {((name, s),): s * end for name, n in self.numbers.items() for s, end in ((-1, n.lower), (1, n.upper))}
        codes = {name: {(name, code) for code in range(len(columns))} for name, columns in self.categories.items()}
        return {**ends, **{name: frozenset(code for _, code in all_ - self.outside) for name, all_ in codes.items()}}

    def flushed(self) -> Fraction:
        """What flushing can do to a feature."""
        return max((about.flushed() for about in self.numbers.values()), default=Fraction(0))

    def groups(self, part: Part) -> Groups:
        """Individuals as the model sees them: of each number between these two of the table, of each category these."""
        groups: dict[tuple[str, int], Group] = {}
        for name, about in self.numbers.items():
            features = sorted(about.encode(end) for end in part[name])
            groups["numeric", about.column] = [(about.column, feature) for feature in features]
        for name, columns in self.categories.items():
            groups["choice", columns[0]] = [(columns[code], 1.0) for code in sorted(part[name])]
        return groups

    def point(self, person: Person) -> Groups:
        """A person as the model sees them."""
        return self.groups({name: [value] for name, value in person.items()})

    def row(self, row: Any, part: Part) -> list[float]:
        """Σ a·x′ ≤ k in features: Σ (a / slope)·e ≤ k + Σ a·shift / slope, plus all that is lost, as [G −g].

        A float and its decimal, and a feature taken back and the float, differ by a few units of rounding, and by what
        a clip cuts off; the coefficient a / slope is itself a float near that number. The far ends of the box bound it.
        """
        found, limit = [0.0] * self.width, part[row]
        for name, a in row:
            about, low, high = self.numbers[name], -part[((name, -1),)], part[((name, 1),)]
            size = max(abs(Fraction(end)) for end in (low, high, *about.clear) if math.isfinite(end))
            factor, (reach, error) = 1 / about.slope, about.reach(size)
            (unit, normal), coefficient = FORMATS["float64"], float(a) * float(factor)
            clipped = about.clear[0] - Fraction(low) if a > 0 else Fraction(high) - about.clear[1]
            limit += abs(a) * (error * abs(factor) + unit * size + normal + max(clipped, 0)) + a * factor * about.shift
            limit += abs(Fraction(coefficient) - a * factor) * (reach + error)
            found[about.column] = coefficient
        return [*found, -up(limit)]
