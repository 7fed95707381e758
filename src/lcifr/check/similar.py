"""Who counts as similar, in exact arithmetic: from a person and φ as a tree to cells that hold everybody similar.

Numbers mean the decimals that they are written as, so every value is a fraction. What is left of the tree once the
person is filled in speaks about the other individual, and narrows everybody down to those who are similar.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from lcifr.check.exact import Rejected, decimal, most, number, numbers, position, up
from lcifr.check.proof import Cell

UNIT = Fraction(1, 2**53)  # a float operation is off by at most this share
TINIEST = Fraction(1, 2**1074)  # and, at the bottom of the floats, by at most this much

Person = dict[str, Any]  # name → value of a number, code of a category
People = Mapping[str, Person | None]  # "self" and "other"; None is anybody
# Some of all individuals, by what they do not exceed: name of a category → its codes; row ((name, a), …) → k, for
# Σ a·x′ ≤ k. In a row of one number a is 1 or −1, and k is a float.
Part = dict[Any, Any]
Row = tuple[tuple[str, Fraction], ...]


class Number(NamedTuple):
    """A numeric attribute: its feature column, scale and declared range."""

    column: int
    mean: float
    sd: float
    lower: float
    upper: float
    integer: bool

    def encode(self, value: float) -> float:
        """As the network sees it, in the float arithmetic of every user; monotone, as float arithmetic is."""
        return (value - self.mean) / self.sd


class Table:
    """The attributes of ``encoding.json`` in the order of their feature columns; a category has one for each value."""

    def __init__(self, encoding: Any) -> None:
        self.numbers: dict[str, Number] = {}
        self.categories: dict[str, range] = {}
        self.width = 0
        for name, entry in encoding["schema"]["attributes"].items():
            column = self.width
            if entry["kind"] == "categorical":
                self.width += len(entry["values"])
                self.categories[name] = range(column, self.width)
            elif entry["kind"] == "numeric":
                self.width += 1
                mean, sd = (number(encoding["scales"][name][key]) for key in ("mean", "sd"))
                low, high = (entry.get(key) for key in ("lower", "upper"))
                ends = -math.inf if low is None else float(low), math.inf if high is None else float(high)
                self.numbers[name] = Number(column, mean, sd, *ends, entry.get("integer") is True)
                if not sd > 0:
                    raise Rejected(f"the sd of {name} is not positive")
            else:
                raise Rejected(f"attribute {name} is neither numeric nor categorical")

    def person(self, found: Any) -> Person:
        """{"numbers": […], "codes": […]} in the order of the attributes; somebody who can exist."""
        values = numbers(found["numbers"], len(self.numbers))
        for (name, about), value in zip(self.numbers.items(), values, strict=True):
            if not about.lower <= value <= about.upper or (about.integer and not value.is_integer()):
                raise Rejected(f"{name} = {value} is nobody's: out of range, or not whole")
        codes = zip(self.categories.items(), found["codes"], strict=True)
        known = {name: position(code, len(columns)) for (name, columns), code in codes}
        return {**dict(zip(self.numbers, values, strict=True)), **known}

    def everybody(self) -> Part:
        """All individuals."""
        ends = {((name, s),): s * end for name, n in self.numbers.items() for s, end in ((-1, n.lower), (1, n.upper))}
        return {**ends, **{name: frozenset(range(len(columns))) for name, columns in self.categories.items()}}

    def features(self, person: Person) -> list[float]:
        """A person as the network sees them."""
        features = [0.0] * self.width
        for name, about in self.numbers.items():
            features[about.column] = about.encode(person[name])
        for name, columns in self.categories.items():
            features[columns[person[name]]] = 1.0
        return features


def _meet(one: Any, other: Any) -> Any:
    """Both limits at once."""
    return one & other if isinstance(one, frozenset) else min(one, other)


def _possible(part: Part, key: Any) -> bool:
    """Whether a limit leaves a category, or is not below what the opposite row asks for."""
    return bool(part[key]) if isinstance(key, str) else -part.get(tuple((n, -a) for n, a in key), math.inf) <= part[key]


def _cut(parts: list[Part], limits: Part) -> list[Part]:
    """What is left of the parts within these limits, too."""
    joint = ({**part, **{key: _meet(part.get(key, limit), limit) for key, limit in limits.items()}} for part in parts)
    return [part for part in joint if all(_possible(part, key) for key in limits)]


def _within(part: Part, other: Part) -> bool:
    """Whether a part is inside another: codes are among codes, limits not above limits."""
    return all(part.get(key, math.inf) <= limit for key, limit in other.items())


def _fraction(found: Any) -> Fraction:
    """[p, q], whole numbers: text could be one without end."""
    return Fraction(*map(int.__index__, found))


def _true(value: Fraction, operator: str) -> bool:
    """Value ⋈ 0."""
    return {"<=": value <= 0, "<": value < 0, "!=": value != 0}[operator]


class Formula:
    """φ with its attributes; ``holds`` is its truth on a pair, ``parts`` everybody similar to one person.

    Nodes are ["all", …], ["any", …], ["category", person, name, codes] and ["compare", ⋈, constant, terms] for
    constant + Σ c·(number or rank of a person) ⋈ 0 with terms [c, person, name of the number or table of the rank];
    constant and c are fractions [p, q].
    """

    def __init__(self, tree: Any, table: Table) -> None:
        self.tree, self.table = tree, table

    def holds(self, x: Person, other: Person) -> bool:
        """φ(x, other)."""
        return bool(self._narrow(self.tree, {"self": x, "other": other}, [{}]))

    def parts(self, x: Person) -> list[Part]:
        """Parts that together hold everybody similar to x."""
        return self._narrow(self.tree, {"self": x, "other": None}, [self.table.everybody()])

    def _narrow(self, node: Any, people: People, parts: list[Part]) -> list[Part]:
        """What is left of the parts where the node is true."""
        kind, inside = node[0], node[1:]  # a mapping has no first one
        if len(parts) > 1000:  # the language allows 256 cells
            raise Rejected("the formula has too many alternatives")
        if kind == "all":
            for one in inside:
                parts = self._narrow(one, people, parts)
            return parts
        if kind == "any":
            found: list[Part] = []
            for part in (part for one in inside for part in self._narrow(one, people, parts)):
                if not any(_within(part, other) for other in found):
                    found = [*(other for other in found if not _within(other, part)), part]
            return found
        return {"category": self._category, "compare": self._compare}[kind](people, parts, *inside)

    def _category(self, people: People, parts: list[Part], who: str, name: str, codes: Any) -> list[Part]:
        allowed = {position(code, len(self.table.categories[name])) for code in codes}
        if (person := people[who]) is not None:
            return parts if person[name] in allowed else []
        return _cut(parts, {name: frozenset(allowed)})

    def _compare(self, people: People, parts: list[Part], operator: str, constant: Any, terms: Any) -> list[Part]:
        value, others, ranks = self._known(people, _fraction(constant), terms)
        if ranks and (others or len(ranks) > 1):
            raise Rejected("a rank of the other individual stands beside other values of theirs")
        if ranks:
            return self._ranks(parts, value, operator, *ranks[0])
        if operator == "!=" or not others:  # not equal is everybody but a plane: proofs speak about everybody
            return parts if others or _true(value, operator) else []
        strict = {"<=": False, "<": True}[operator]
        if len(others) > 1:  # rows are closed
            return _cut(parts, {tuple(sorted(others.items())): -value})
        ((name, c),) = others.items()
        return _cut(parts, {((name, c / abs(c)),): most(-value / abs(c), strict)})

    def _known(self, people: People, value: Fraction, terms: Any) -> tuple[Fraction, dict[str, Fraction], list[Any]]:
        """A sum with known people filled in: its constant, the other's numbers, their ranks with factors."""
        others, ranks = dict.fromkeys(self.table.numbers, Fraction(0)), []
        for c, who, what in terms:
            person, factor = people[who], _fraction(c)
            if person is None and isinstance(what, str):
                others[what] += factor
            elif person is None:
                ranks.append((factor, what))
            elif isinstance(what, str):
                value += factor * decimal(person[what])
            else:
                (values,) = (values for codes, values in self._groups(what) if person[what["by"]] in codes)
                value += factor * (1 + sum(above > person[what["attribute"]] for above in values))
        return value, {name: c for name, c in others.items() if c}, ranks

    def _groups(self, table: Any) -> list[tuple[list[int], list[float]]]:
        """For each group of a rank its categories and its distinct training values, descending."""
        groups = [(group["codes"], sorted({number(v) for v in group["values"]})[::-1]) for group in table["groups"]]
        every = range(len(self.table.categories[table["by"]]))
        if sorted(c for codes, _ in groups for c in codes) != [*every] or table["attribute"] not in self.table.numbers:
            raise Rejected("a rank is of no number, or its groups do not hold every category exactly once")
        return groups

    def _ranks(self, parts: list[Part], value: Fraction, operator: str, c: Fraction, table: Any) -> list[Part]:
        """c·rank + value ⋈ 0. Within a group a rank is a step function of its number: one interval of it fits."""
        name, found = table["attribute"], []
        for codes, values in self._groups(table):  # rank r is at least values[r − 1] and below values[r − 2]
            if fits := [r for r in range(1, len(values) + 2) if _true(c * r + value, operator)]:
                low = -math.inf if fits[-1] > len(values) else values[fits[-1] - 1]
                high = math.inf if fits[0] == 1 else most(decimal(values[fits[0] - 2]), True)
                found += _cut(parts, {table["by"]: frozenset(codes), ((name, -1),): -low, ((name, 1),): high})
        return found


def derive(formula: Formula, x: Person) -> list[Cell]:
    """Cells that together hold the features of every individual similar to x; those without a point are left out."""
    return [cell for part in formula.parts(x) if (cell := _cell(part, formula.table)) is not None]


def _cell(part: Part, table: Table) -> Cell | None:
    rows = {row: limit for row, limit in part.items() if isinstance(row, tuple) and len(row) > 1}
    box = {name: (-part[((name, -1),)], part[((name, 1),)]) for name in table.numbers}
    box = _tightened(box, rows, table, len(box) if rows else 0)
    if any(low > high for low, high in box.values()):
        return None
    if any(math.isinf(end) for ends in box.values() for end in ends):
        raise Rejected("the formula leaves a number without a bound")
    groups = {}
    for name, about in table.numbers.items():
        groups["numeric", about.column] = [(about.column, about.encode(end)) for end in box[name]]
    for name, columns in table.categories.items():
        groups["choice", columns[0]] = [(columns[code], 1.0) for code in sorted(part[name])]
    G: dict[tuple[float, ...], float] = {}
    for row, limit in rows.items():
        coefficients, bound = _in_features(row, limit, table, box)
        dense = tuple(coefficients.get(column, 0.0) for column in range(table.width))
        G[dense] = min(G.get(dense, math.inf), bound)
    return Cell(groups, sorted(G), [G[row] for row in sorted(G)])


def _tightened(given: Part, rows: Mapping[Row, Fraction], table: Table, rounds: int) -> Part:
    """The ends of every number, with what rows say once the others are bounded, and whole where the schema says so."""
    box = dict(given)
    for row, limit in rows.items():
        for name, a in row:
            (low, high), far = box[name], [(c, box[other][c < 0]) for other, c in row if other != name]
            if all(math.isfinite(end) for _, end in far) and low <= high:
                bound = most((limit - sum(c * decimal(end) for c, end in far)) / abs(a))
                box[name] = (low, min(high, bound)) if a > 0 else (max(low, -bound), high)
    for name, (low, high) in box.items():  # nobody's number lies between two whole ones
        if table.numbers[name].integer and math.isfinite(low) and math.isfinite(high):
            box[name] = float(math.ceil(low)), float(math.floor(high))
    return box if not rounds or box == given else _tightened(box, rows, table, rounds - 1)


def _in_features(row: Row, limit: Fraction, table: Table, box: Part) -> tuple[dict[int, float], float]:
    """Σ a·x′ ≤ k in features: Σ (a·sd)·e ≤ k − Σ a·mean, plus all that rounding can add up to.

    A float and its decimal, and sd·e + mean and the float, differ by a few units of rounding; the coefficient a·sd is
    itself a float near that number. The far ends of the box bound all of it.
    """
    coefficients = {}
    for name, a in row:
        about = table.numbers[name]
        mean, sd, coefficient = Fraction(about.mean), Fraction(about.sd), float(a) * about.sd
        low, high = map(Fraction, box[name])
        size, spread = max(abs(low), abs(high)), max(abs(low - mean), abs(high - mean))
        e = max(abs(Fraction(about.encode(end))) for end in box[name])
        limit += -a * mean + abs(Fraction(coefficient) - a * sd) * e
        limit += abs(a) * (UNIT * size + TINIEST + 3 * UNIT * spread + sd * TINIEST)
        coefficients[about.column] = coefficient
    return coefficients, up(limit)
