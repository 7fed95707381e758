"""The attributes of a table: who can exist, and how a model sees them, by the steps that its library computes."""

import math
import struct
from fractions import Fraction
from typing import Any, NamedTuple

from lcifr.check.exact import COLUMNS, at_most, ensure, items, numbers, position, up
from lcifr.check.functions import FORMATS, Group, Groups

Person = dict[str, Any]  # name → value of a number, code of a category; or Unknown
# Some of all individuals, by what they do not exceed: name of a category → its codes; row → a fraction, and of one
# number a float that somebody can have.
Part = dict[Any, Any]
UNDECLARED = {"lower": -math.inf, "upper": math.inf, "integer": False}
EVERY = -math.inf, math.inf
CONSTANTS = {"cast": 0, "clip": 2, "add": 1, "subtract": 1, "multiply": 1, "divide": 1}  # how many a step has


class Unknown(NamedTuple):
    """What is looked for: an attribute of a table, or a number that is so much more."""

    name: str
    more: Fraction = Fraction(0)


def nearest(value: Fraction, form: str) -> float:
    """The nearest number of a format; of two as near the even one."""
    if form == "float32" and abs(value) < FORMATS[form][1]:
        return round(value * 2**149) / 2**149  # the nearest float64 could be a tie that the value is not
    near = value.numerator / value.denominator
    return float(struct.unpack("<f", struct.pack("<f", near))[0]) if form == "float32" else near


class Number:
    """A numeric attribute: its declared range, and the program of steps that makes its feature.

    A step is scale·v + offset, rounded, then clipped; v is cast before if its format is wider. Without rounding and
    clips the whole is x ↦ slope·x + shift, and ``clear`` are the numbers between which nothing is clipped. ``lost`` is
    how far a machine can be that takes the tiniest numbers for 0 (docs/design/arithmetic.md), infinite if unknown.
    """

    def __init__(self, name: str, entry: Any, program: Any) -> None:
        lower, upper, self.integer = (entry.get(key, if_none) for key, if_none in UNDECLARED.items())
        right = {type(lower), type(upper)} <= {int, float} and type(self.integer) is bool and lower <= upper
        self.lower, self.upper, self.steps = float(lower), float(upper), list[Any]()
        self.slope, self.shift, self.clear, held = Fraction(1), Fraction(0), EVERY, "float64"
        lost, known = FORMATS[held][1], True
        for operation, form, *given in items(program):
            constants = [Fraction(c) for c in numbers(given, CONSTANTS[operation])]
            right &= constants == sorted({nearest(c, form) for c in constants})
            c = constants[0] if CONSTANTS[operation] == 1 else Fraction(0)
            scale = c if operation == "multiply" else 1 / c if operation == "divide" else Fraction(1)
            offset = {"add": c, "subtract": -c}.get(operation, Fraction(0))
            self.slope, self.shift = scale * self.slope, scale * self.shift + offset
            (unit, normal), cast, held = FORMATS[form], form < held, form
            self.steps.append((form, cast, scale, offset, given if operation == "clip" else EVERY))
            if operation == "clip":
                ends: Any = sorted((c - self.shift) / self.slope for c in constants)
                self.clear = max(self.clear[0], ends[0]), min(self.clear[1], ends[1])
            lost = 2**31 * lost + 4 * normal if cast else lost
            lost = (8 * lost / unit if offset else lost if scale == 1 else 4 * abs(scale) * lost) + 4 * normal
            known &= normal <= abs(scale) <= 1 / normal and lost <= 1
        self.lost = up(lost) if known else math.inf
        ensure(right and self.slope and self.clear[0] < self.clear[1], f"{name} has a program or a range that is none")

    def encode(self, value: float) -> float:
        """As the model sees it, every bit; monotone, as each step is."""
        for form, _, scale, offset, (low, high) in self.steps:
            value = nearest(scale * Fraction(nearest(Fraction(value), form)) + offset, form)
            value = min(max(value, low), high)
        return value

    def reach(self, size: Fraction) -> tuple[Fraction, Fraction]:
        """How large the feature of a number up to ``size`` can be without rounding, and how far it is rounded."""
        error = Fraction(0)
        for form, cast, scale, offset, _ in self.steps:
            unit, normal = FORMATS[form]
            error += (unit * (size + error) + normal) * cast
            size, error = abs(scale) * size + abs(offset), abs(scale) * error
            error += unit * (size + error) + normal
        return size, error


class AttributeTable:
    """The attributes of ``encoding.json`` in the order of their feature columns; a category has one for each value.

    In a table of pairs ``others`` are what the attributes of the second person are called; they stand after those of
    the first, or are the same. Of the ``codes`` of a category the model takes those ``allowed``; at others it raises.
    """

    def __init__(self, encoding: Any, others: dict[str, str] | None = None) -> None:
        self.encoding, self.numbers, self.codes = encoding, dict[str, Number](), dict[str, range]()
        self.columns, self.allowed, self.width = dict[str, range](), dict[str, frozenset[int]](), 0
        known = encoding["schema"]["attributes"]
        nobody = {(name, known[name]["values"].index(value)) for name, value in items(encoding["outside"])}
        for name, entry in known.items():
            choice = {"categorical": True, "numeric": False}[entry["kind"]]
            values = items(entry["values"]) if choice else [name]
            once, codes = {*map(type, values)} == {str} and len({*values}) == len(values), range(len(values))
            ensure(once, f"the values of {name} are not texts, each once")
            for called in dict.fromkeys((name, others[name] if others else name)):
                self.columns[called] = range(self.width, self.width + len(codes))
                self.width += len(codes)
                if choice:
                    self.codes[called] = codes
                    self.allowed[called] = frozenset(code for code in codes if (name, code) not in nobody)
                else:
                    self.numbers[called] = Number(name, entry, encoding["programs"][name])
        at_most(COLUMNS, self.width, "feature columns")
        self.flushed = max((about.lost for about in self.numbers.values()), default=0.0)

    def person(self, found: Any) -> Person:
        """{"numbers": […], "codes": […]} in the order of the attributes; somebody who can exist."""
        person: Person = dict(zip(self.numbers, numbers(found["numbers"], len(self.numbers)), strict=True))
        for name, about in self.numbers.items():
            exists = about.lower <= person[name] <= about.upper and (person[name].is_integer() or not about.integer)
            ensure(exists, f"{name} = {person[name]} is nobody's: out of range, or not whole")
        for (name, codes), code in zip(self.codes.items(), items(found["codes"]), strict=True):
            person[name] = position(code, len(codes))
            ensure(code in self.allowed[name], "the model does not take a category of theirs")
        return person

    def everybody(self, whole: bool) -> Part:
        """All individuals; whole numbers up to the last one if asked for."""
        found = Part(self.allowed)
        for name, about in self.numbers.items():
            for s, end in ((-1, -about.lower), (1, about.upper)):
                last = whole and about.integer and math.isfinite(end)
                found[((name, s),)] = float(math.floor(end)) if last else end
        return found

    def groups(self, part: Part) -> Groups:
        """Individuals as the model sees them: of each number between these two of the table, of each category these."""
        groups: dict[tuple[str, int], Group] = {}
        for name, (first, *_) in self.columns.items():
            if name in self.numbers:
                groups["numeric", first] = [(first, end) for end in sorted(map(self.numbers[name].encode, part[name]))]
            else:
                groups["choice", first] = [(first + code, 1.0) for code in sorted(part[name])]
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
            found[self.columns[name][0]] = coefficient
        return [*found, -up(limit)]
