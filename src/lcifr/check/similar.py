"""Who counts as similar, in exact arithmetic: from a person and φ as a tree to cells that hold everybody similar.

Numbers mean the decimals that they are written as, so every value is a fraction. What is left of the tree once the
person is filled in speaks about the other individual, and narrows everybody down to those who are similar.
"""

from __future__ import annotations

import math
from copy import copy
from fractions import Fraction
from typing import Any, NamedTuple

from lcifr.check.exact import Rejected, decimal, fraction, items, most, number, numbers, position, up
from lcifr.check.limits import CELLS, COLUMNS, DEEP, DIGITS, UNCOUNTED, StepCounter, at_most
from lcifr.check.proof import RationalCell

UNIT = Fraction(1, 2**53)  # a float operation is off by at most this share
TINIEST = Fraction(1, 2**1074)  # and, at the bottom of the floats, by at most this much

Person = dict[str, Any]  # name → value of a number, code of a category
People = dict[str, Person | None]  # "self" and "other"; None is anybody
Row = tuple[tuple[str, Fraction], ...]  # Σ a·x′ as ((name, a), …); of one number a is 1 or −1
# Some of all individuals, by what they do not exceed: name of a category → its codes; row → a fraction, and of one
# number a float that somebody can have.
Part = dict[Any, Any]
UNDECLARED = {"lower": -math.inf, "upper": math.inf, "integer": False}


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


class AttributeTable:
    """The attributes of ``encoding.json`` in the order of their feature columns; a category has one for each value."""

    def __init__(self, encoding: Any) -> None:
        self.numbers: dict[str, Number] = {}
        self.categories: dict[str, range] = {}
        self.width = 0
        for name, entry in encoding["schema"]["attributes"].items():
            column = self.width
            if {"categorical": True, "numeric": False}[entry["kind"]]:
                self.width += len(items(entry["values"]))
                self.categories[name] = range(column, self.width)
                continue
            self.width += 1
            mean, sd = (number(encoding["scales"][name][key]) for key in ("mean", "sd"))
            lower, upper, whole = (entry.get(key, if_none) for key, if_none in UNDECLARED.items())
            if {type(lower), type(upper)} - {int, float} or type(whole) is not bool or not (sd > 0 and lower <= upper):
                raise Rejected(f"the sd of {name} is not positive, or its range is none")
            self.numbers[name] = Number(column, mean, sd, float(lower), float(upper), whole)
        at_most(COLUMNS, self.width, "feature columns")

    def person(self, found: Any) -> Person:
        """{"numbers": […], "codes": […]} in the order of the attributes; somebody who can exist."""
        values = numbers(found["numbers"], len(self.numbers))
        for (name, about), value in zip(self.numbers.items(), values, strict=True):
            if not about.lower <= value <= about.upper or (about.integer and not value.is_integer()):
                raise Rejected(f"{name} = {value} is nobody's: out of range, or not whole")
        codes = zip(self.categories.items(), items(found["codes"]), strict=True)
        known = {name: position(code, len(columns)) for (name, columns), code in codes}
        return {**dict(zip(self.numbers, values, strict=True)), **known}

    def reals(self) -> AttributeTable:
        """The same where every number is any float: none has to be whole."""
        found = copy(self)
        found.numbers = {name: about._replace(integer=False) for name, about in self.numbers.items()}
        return found

    def everybody(self) -> Part:
        """All individuals."""
        ends = {((name, s),): s * end for name, n in self.numbers.items() for s, end in ((-1, n.lower), (1, n.upper))}
        return {**ends, **{name: frozenset(range(len(columns))) for name, columns in self.categories.items()}}

    def point(self, person: Person) -> dict[int, float]:
        """A person as the network sees them: for each attribute a column and its value; the other columns are 0."""
        known = {about.column: about.encode(person[name]) for name, about in self.numbers.items()}
        return known | {columns[person[name]]: 1.0 for name, columns in self.categories.items()}


def _possible(part: Part, key: Any) -> bool:
    """Whether a limit leaves a category, or is not below what the opposite row asks for."""
    return bool(part[key]) if isinstance(key, str) else -part.get(tuple((n, -a) for n, a in key), math.inf) <= part[key]


def _cut(parts: list[Part], limits: Part) -> list[Part]:
    """What is left of the parts within these limits, too."""

    def both(one: Any, other: Any) -> Any:
        return one & other if isinstance(one, frozenset) else min(one, other)

    joint = ({**part, **{key: both(part.get(key, limit), limit) for key, limit in limits.items()}} for part in parts)
    return [part for part in joint if all(_possible(part, key) for key in limits)]


def _within(part: Part, other: Part) -> bool:
    """Whether a part is inside another: codes are among codes, limits not above limits."""
    return all(part.get(key, math.inf) <= limit for key, limit in other.items())


def _true(value: Fraction, operator: str) -> bool:
    """Value ⋈ 0."""
    return {"<=": value <= 0, "<": value < 0, "!=": value != 0}[operator]


class Formula:
    """φ with its attributes; ``holds`` is its truth on a pair, ``parts`` everybody similar to one person.

    Nodes are ["all", …], ["any", …], ["category", person, name, codes] and ["compare", ⋈, constant, terms] for
    constant + Σ c·term ⋈ 0. A term is [c, person, name of a number] or, for its rank, [c, person, name, by, groups]: in
    the group [codes, values] of the category ``by`` the rank is 1 + how many of these values are above the number.
    Constant and c are fractions [p, q]. Work is counted in ``work``, which is another one for every person.
    """

    def __init__(self, tree: Any, table: AttributeTable) -> None:
        self.tree, self.table, self.work = tree, table, UNCOUNTED
        self.size = self.least = 15 * len(table.everybody()) + 4 * table.width  # steps to copy a part; without rows

    def holds(self, x: Person, other: Person) -> bool:
        """φ(x, other)."""
        return bool(self._narrow(self.tree, {"self": x, "other": other}, [{}]))

    def parts(self, x: Person) -> list[Part]:
        """Parts that together hold everybody similar to x."""
        self.size = self.least
        return self._narrow(self.tree, {"self": x, "other": None}, [self.table.everybody()])

    def _narrow(self, node: Any, people: People, parts: list[Part], deep: int = 0) -> list[Part]:
        """What is left of the parts where the node is true."""
        kind, *inside = items(node)
        at_most(DEEP, deep, "nodes of the formula inside each other")
        self.work.spend(30 + self.size * len(parts))
        if kind == "all":
            for one in inside:
                parts = self._narrow(one, people, parts, deep + 1)
            return parts
        if kind == "any":
            found: list[Part] = []
            for part in (part for one in inside for part in self._narrow(one, people, parts, deep + 1)):
                self.work.spend(self.size // 4 * len(found))
                if not any(_within(part, other) for other in found):
                    found = [*(other for other in found if not _within(other, part)), part]
                    at_most(CELLS, len(found), "cells of a person")  # the language allows half as many
            return found
        return {"category": self._category, "compare": self._compare}[kind](people, parts, *inside)

    def _category(self, people: People, parts: list[Part], who: str, name: str, codes: Any) -> list[Part]:
        allowed = {position(code, len(self.table.categories[name])) for code in items(codes)}
        if (person := people[who]) is not None:
            return parts if person[name] in allowed else []
        return _cut(parts, {name: frozenset(allowed)})

    def _compare(self, people: People, parts: list[Part], operator: str, constant: Any, terms: Any) -> list[Part]:
        value, others, ranks = fraction(constant), dict.fromkeys(self.table.numbers, Fraction(0)), []
        self.work.spend(100 * len(terms) + len(others))
        common = value.denominator
        for c, who, name, *rank in items(terms):
            common = math.lcm(common, fraction(c).denominator)
            at_most(DIGITS, common.bit_length(), "bits in the common denominator of a comparison")
            if (person := people[who]) is not None:
                value += fraction(c) * (self._rank(person, name, *rank) if rank else decimal(person[name]))
            elif rank:
                ranks.append((fraction(c), name, *rank))
            else:
                others[name] += fraction(c)
        row: Row = tuple((name, c) for name, c in others.items() if c)
        if ranks and (row or len(ranks) > 1):
            raise Rejected("a rank of the other individual stands beside other values of theirs")
        if ranks:
            return self._ranks(parts, value, operator, ranks[0])
        if operator == "!=" or not row:  # not equal is everybody but a plane: proofs speak about everybody
            return parts if row or _true(value, operator) else []
        strict = {"<=": False, "<": True}[operator]
        if len(row) > 1:  # rows are closed
            self.size += 15 + 100 * len(row)
            self.work.spend(100 * len(row) * len(parts))
            return _cut(parts, {row: -value})
        ((name, a),) = row
        limit = most(-value / abs(a), strict, self.table.numbers[name].integer)
        return _cut(parts, {((name, 1 if a > 0 else -1),): limit})

    def _steps(self, by: str, groups: Any) -> list[tuple[list[int], list[float]]]:
        """For each group of a rank its categories and its distinct training values, descending."""
        self.work.spend(100 * len(self.table.categories[by]) + 60 * sum(len(items(values)) for _, values in groups))
        if sorted(code for codes, _ in groups for code in codes) != [*range(len(self.table.categories[by]))]:
            raise Rejected("the groups of a rank do not hold every category exactly once")
        return [(codes, sorted(set(numbers(values, len(values))), reverse=True)) for codes, values in groups]

    def _rank(self, person: Person, name: str, by: str, groups: Any) -> int:
        (values,) = (values for codes, values in self._steps(by, groups) if person[by] in codes)
        return 1 + sum(above > number(person[name]) for above in values)

    def _ranks(self, parts: list[Part], value: Fraction, operator: str, rank: Any) -> list[Part]:
        """c·rank + value ⋈ 0. Within a group a rank is a step function of its number: one interval of it fits."""
        c, name, by, groups = rank
        found, about = [], self.table.numbers[name]
        for codes, values in self._steps(by, groups):  # rank r is at least values[r − 1] and below values[r − 2]
            if fits := [r for r in range(1, len(values) + 2) if _true(c * r + value, operator)]:
                low = -math.inf if fits[-1] > len(values) else values[fits[-1] - 1]
                high = math.inf if fits[0] == 1 else most(decimal(values[fits[0] - 2]), True, about.integer)
                self.work.spend(self.size * len(parts))
                found += _cut(parts, {by: frozenset(codes), ((name, -1),): -low, ((name, 1),): high})
                at_most(CELLS, len(found), "cells of a person")
        return found


def derive(formula: Formula, x: Person, work: StepCounter = UNCOUNTED) -> list[RationalCell]:
    """Cells that together hold the features of every individual similar to x; those without a point are left out."""
    formula.work = work
    parts, table = formula.parts(x), formula.table
    for _ in range(2 * len(table.numbers)):  # each round may bound one more end
        rows = [100 * len(row) * (len(row) + len(part)) + 15 * table.width for part in parts for row in _rows(part)]
        formula.work.spend(4 * formula.size * len(parts) + sum(rows))
        before, parts = parts, [narrower for part in parts for narrower in _by_rows(part, table)]
        if parts == before:
            break
    return [_cell(part, table) for part in parts]


def _rows(part: Part) -> list[Row]:
    """Those over several numbers."""
    return [row for row in part if isinstance(row, tuple) and len(row) > 1]


def _by_rows(part: Part, table: AttributeTable) -> list[Part]:
    """What is left of a part with what each row says about one number, once the others are bounded."""
    left = [part]
    for row in _rows(part):
        for name, a in row:
            far = [(abs(c), part[((other, -1 if c > 0 else 1),)]) for other, c in row if other != name]
            if all(math.isfinite(end) for _, end in far):
                limit = (part[row] + sum(c * decimal(end) for c, end in far)) / abs(a)
                left = _cut(left, {((name, 1 if a > 0 else -1),): most(limit, False, table.numbers[name].integer)})
    return left


def _cell(part: Part, table: AttributeTable) -> RationalCell:
    groups = {}
    for name, about in table.numbers.items():
        ends = -part[((name, -1),)], part[((name, 1),)]
        if not all(map(math.isfinite, ends)):
            raise Rejected(f"the formula leaves {name} without a bound")
        last = (math.ceil(ends[0]), math.floor(ends[1])) if about.integer else ends  # the schema's need not be whole
        groups["numeric", about.column] = [(about.column, about.encode(end)) for end in last]
    for name, columns in table.categories.items():
        groups["choice", columns[0]] = [(columns[code], 1.0) for code in sorted(part[name])]
    rows = sorted(_in_features(row, part, table) for row in _rows(part))
    tightest = {tuple(row[:-1]): row for row in rows}  # of those with the same G
    wholes = {name: (about.column, about.encode) for name, about in table.numbers.items() if about.integer}
    return RationalCell(groups, [*tightest.values()], wholes)


def _in_features(row: Row, part: Part, table: AttributeTable) -> list[float]:
    """Σ a·x′ ≤ k in features: Σ (a·sd)·e ≤ k − Σ a·mean, plus all that rounding can add up to, as [G −g].

    A float and its decimal, and sd·e + mean and the float, differ by a few units of rounding; the coefficient a·sd is
    itself a float near that number. The far ends of the box bound all of it.
    """
    found, limit = [0.0] * table.width, part[row]
    for name, a in row:
        about, ends = table.numbers[name], (part[((name, -1),)], part[((name, 1),)])
        mean, sd, coefficient = Fraction(about.mean), Fraction(about.sd), float(a) * about.sd
        far = max(abs(Fraction(end)) for end in ends) + abs(mean)  # |e| is at most 2·far / sd + the tiniest
        limit += abs(Fraction(coefficient) - a * sd) * (2 * far / sd + TINIEST) - a * mean
        limit += abs(a) * (4 * UNIT * far + (1 + sd) * TINIEST)
        found[about.column] = coefficient
    return [*found, -up(limit)]
