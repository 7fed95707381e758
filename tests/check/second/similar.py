"""The second checker's people and φ: what ``docs/design/proofs.md`` says of them, without rows over several numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tests.check.second.program import encode, falls, flushing, right

INFINITE = math.inf
Person = dict[str, Any]
Group = tuple[Any, ...]  # ("number", column, low, high) or ("choice", first column, columns)


class Refused(Exception):
    """Not confirmed, for this reason."""


BROKEN = (Refused, ArithmeticError, LookupError, RuntimeError, StopIteration, TypeError, ValueError)
"""What comes of values that are not as the page says."""


def decimal(value: float) -> Fraction:
    """What the number in the table means."""
    return Fraction(repr(float(value)))


def true(value: Fraction, operator: str) -> bool:
    return {"<=": value <= 0, "<": value < 0, "=": value == 0, "!=": value != 0}[operator]


def outermost(end: Any, strict: bool, upper: bool, whole: bool) -> Any:
    """The last float64, or whole number, that is still on the right side of an end."""
    if isinstance(end, float):
        return end

    def fits(value: Fraction) -> bool:
        room = end - value if upper else value - end
        return room > 0 or (room == 0 and not strict)

    if whole:
        found = math.floor(end) if upper else math.ceil(end)
        return found if fits(Fraction(found)) else found + (-1 if upper else 1)
    value, inward = float(end), -INFINITE if upper else INFINITE
    while not fits(decimal(value)):
        value = math.nextafter(value, inward)
    while fits(decimal(beyond := math.nextafter(value, -inward))):
        value = beyond
    return value


class World:
    """Who there can be, and who is similar to whom."""

    def __init__(self, encoding: Any, formula: Any) -> None:
        self.attributes = encoding["schema"]["attributes"]
        self.programs = encoding["programs"]
        self.outside = {(name, value) for name, value in encoding["outside"]}
        self.numbers = [name for name, about in self.attributes.items() if about["kind"] == "numeric"]
        self.categories = [name for name, about in self.attributes.items() if about["kind"] == "categorical"]
        self.formula = formula
        if not all(right(self.programs[name]) for name in self.numbers):
            raise Refused("a program is none")

    def person(self, found: Any) -> Person:
        for name, value in zip(self.numbers, found["numbers"], strict=True):
            about = self.attributes[name]
            inside = about.get("lower", -INFINITE) <= value <= about.get("upper", INFINITE)
            if not inside or (about.get("integer") and value % 1):
                raise Refused(f"{name} is nobody's")
        for name, code in zip(self.categories, found["codes"], strict=True):
            if (name, self.attributes[name]["values"][code]) in self.outside:
                raise Refused(f"{name} is outside")
        numbers = zip(self.numbers, found["numbers"], strict=True)
        return dict(numbers) | dict(zip(self.categories, found["codes"], strict=True))

    def scaled(self, name: str, value: float) -> Fraction:
        return encode(self.programs[name], float(value))

    def encode(self, person: Person) -> list[Any]:
        features: list[Any] = []
        for name, about in self.attributes.items():
            if about["kind"] == "numeric":
                features.append(self.scaled(name, person[name]))
            else:
                features += [float(code == person[name]) for code in range(len(about["values"]))]
        return features

    def holds(self, node: Any, x: Person, other: Person) -> bool:
        kind, *inside = node
        if kind in ("all", "any"):
            return {"all": all, "any": any}[kind](self.holds(one, x, other) for one in inside)
        pair = {"self": x, "other": other}
        if kind == "same":
            (name,) = inside
            return bool(x[name] == other[name])
        if kind == "category":
            return pair[inside[0]][inside[1]] in inside[2]
        operator, constant, terms = inside
        return true(Fraction(*constant) + sum(Fraction(*c) * decimal(pair[who][n]) for c, who, n in terms), operator)

    @property
    def flushed(self) -> Fraction:
        """F, what flushing can do to a feature; 0 where there is no number."""
        return max((flushing(self.programs[name]) for name in self.numbers), default=Fraction(0))

    def point(self, x: Person) -> list[Group]:
        """The cell whose ends are one person."""
        groups, column = [], 0
        for name, about in self.attributes.items():
            if about["kind"] == "numeric":
                groups.append(("number", column, *[Fraction(self.scaled(name, x[name]))] * 2))
                column += 1
            else:
                groups.append(("choice", column, frozenset({column + x[name]})))
                column += len(about["values"])
        return groups

    def wholes(self, universe: str) -> dict[str, int]:
        """The columns of the attributes that are whole in a universe."""
        found, column = {}, 0
        for name, about in self.attributes.items():
            if about["kind"] == "numeric" and about.get("integer") and universe == "whole":
                found[name] = column
            column += len(about["values"]) if about["kind"] == "categorical" else 1
        return found

    def cells(self, x: Person, universe: str) -> list[list[Group]]:
        if universe not in ("reals", "whole"):
            raise Refused("no such universe")
        start: dict[str, Any] = {}
        for name, about in self.attributes.items():
            low, high = about.get("lower"), about.get("upper")
            ends = (
                (-INFINITE if low is None else decimal(low), False),
                (INFINITE if high is None else decimal(high), False),
            )
            values = list(enumerate(about.get("values", ())))
            left = frozenset(code for code, value in values if (name, value) not in self.outside)
            start[name] = ends if about["kind"] == "numeric" else left
        found = (self._features(cell, universe) for cell in self._narrow([start], self.formula, x))
        return [cell for cell in found if cell is not None]

    def _narrow(self, cells: list[Any], node: Any, x: Person) -> list[Any]:
        kind, *inside = node
        if kind == "all":
            for one in inside:
                cells = self._narrow(cells, one, x)
            return cells
        if kind == "any":
            return [cell for one in inside for cell in self._narrow(cells, one, x)]
        if kind == "same":
            (name,) = inside
            if name in self.numbers:
                kind, inside = "compare", ["=", [0, 1], [[[1, 1], "other", name], [[-1, 1], "self", name]]]
            else:
                kind, inside = "category", ["other", name, [x[name]]]
        if kind == "category":
            who, name, codes = inside
            if who == "self":
                return cells if x[name] in codes else []
            return [cell | {name: cell[name] & set(codes)} for cell in cells if cell[name] & set(codes)]
        operator, constant, terms = inside
        value, others = Fraction(*constant), {}
        for c, who, name in terms:
            if who == "self":
                value += Fraction(*c) * decimal(x[name])
            else:
                others[name] = others.get(name, Fraction(0)) + Fraction(*c)
        others = {name: a for name, a in others.items() if a}
        if not others:
            return cells if true(value, operator) else []
        if len(others) > 1 or operator == "!=":
            return cells  # a row, or a hole: left out, which makes the cell larger
        ((name, a),) = others.items()
        for upper in (True, False) if operator == "=" else (a > 0,):
            cells = [cell | {name: _closer(cell[name], -value / a, operator == "<", upper)} for cell in cells]
        return cells

    def _features(self, cell: Any, universe: str) -> list[Group] | None:
        groups: list[Group] = []
        column = 0
        for name, about in self.attributes.items():
            if about["kind"] == "numeric":
                whole = universe == "whole" and bool(about.get("integer"))
                low, high = (
                    outermost(*end, upper, whole) for end, upper in zip(cell[name], (False, True), strict=True)
                )
                if low > high:
                    return None
                ends = [self.scaled(name, end) for end in (low, high)]
                groups.append(("number", column, *(reversed(ends) if falls(self.programs[name]) else ends)))
                column += 1
            else:
                groups.append(("choice", column, frozenset(column + code for code in cell[name])))
                column += len(about["values"])
        return groups


def _closer(ends: Any, end: Fraction, strict: bool, upper: bool) -> Any:
    """The tighter of two ends on that side; of equal ones the strict one."""
    low, high = ends
    if upper:
        return low, min((high, (end, strict)), key=lambda one: (one[0], not one[1]))
    return max((low, (end, strict)), key=lambda one: (one[0], one[1])), high
