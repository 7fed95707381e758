"""Who counts as similar, in exact arithmetic: from a person and φ as a tree to cells that hold everybody similar.

Numbers mean the decimals that they are written as, so every value is a fraction. What is left of the tree once the
person is filled in speaks about the other individual, and narrows everybody down to those who are similar.
"""

import math
from fractions import Fraction
from typing import Any

from lcifr.check.exact import decimal, ensure, fraction, items, most, number, numbers, position, up
from lcifr.check.limits import CELLS, DEEP, DIGITS, at_most, spend
from lcifr.check.proof import RationalCell
from lcifr.check.table import AttributeTable, Part, Person

UNIT = Fraction(1, 2**53)  # a float operation is off by at most this share
TINIEST = Fraction(1, 2**1074)  # and, at the bottom of the floats, by at most this much

People = dict[str, Person | None]  # "self" and "other"; None is anybody
Row = tuple[tuple[str, Fraction], ...]  # Σ a·x′ as ((name, a), …); of one number a is 1 or −1


def _possible(part: Part, key: Any) -> bool:
    """Whether a limit leaves a category, or is not below what the opposite row asks for."""
    return bool(part[key]) if isinstance(key, str) else -part.get(tuple((n, -a) for n, a in key), math.inf) <= part[key]


def _cut(parts: list[Part], limits: Part) -> list[Part]:
    """What is left of the parts within these limits, too."""

    def both(one: Any, other: Any) -> Any:
        return one & other if isinstance(one, frozenset) else min(one, other)

    spend(sum(100 + 20 * len(part) + 100 * sum(map(len, _rows(part))) for part in parts))
    joint = ({**part, **{key: both(part.get(key, limit), limit) for key, limit in limits.items()}} for part in parts)
    return [part for part in joint if all(_possible(part, key) for key in limits)]


def _within(part: Part, other: Part) -> bool:
    """Whether a part is inside another: codes are among codes, limits not above limits."""
    spend(4 * len(other))
    return all(part.get(key, math.inf) <= limit for key, limit in other.items())


def _true(value: Fraction, operator: str) -> bool:
    """Value ⋈ 0."""
    return {"<=": value <= 0, "<": value < 0, "!=": value != 0}[operator]


class Formula:
    """φ with its attributes; ``holds`` is its truth on a pair, ``parts`` everybody similar to one person.

    Nodes are ["all", …], ["any", …], ["category", person, name, codes] and ["compare", ⋈, constant, terms] for
    constant + Σ c·term ⋈ 0. A term is [c, person, name of a number] or, for its rank, [c, person, name, by, groups]: in
    the group [codes, values] of the category ``by`` the rank is 1 + how many of these values are above the number.
    Constant and c are fractions [p, q].
    """

    def __init__(self, tree: Any, table: AttributeTable) -> None:
        self.tree, self.table = tree, table

    def holds(self, x: Person, other: Person) -> bool:
        """φ(x, other)."""
        return bool(self._narrow(self.tree, {"self": x, "other": other}, [{}]))

    def parts(self, x: Person) -> list[Part]:
        """Parts that together hold everybody similar to x."""
        return self._narrow(self.tree, {"self": x, "other": None}, [self.table.everybody()])

    def _narrow(self, node: Any, people: People, parts: list[Part], deep: int = 0) -> list[Part]:
        """What is left of the parts where the node is true."""
        kind, *inside = items(node)
        at_most(DEEP, deep, "nodes of the formula inside each other")
        spend(30 + len(parts))
        if kind == "all":
            for one in inside:
                parts = self._narrow(one, people, parts, deep + 1)
            return parts
        if kind == "any":
            found: list[Part] = []
            for part in (part for one in inside for part in self._narrow(one, people, parts, deep + 1)):
                if not any(_within(part, other) for other in found):
                    found = [*(other for other in found if not _within(other, part)), part]
                    at_most(CELLS, len(found), "cells of a person")  # the language allows half as many
            return found
        return {"category": self._category, "compare": self._compare}[kind](people, parts, *inside)

    def _category(self, people: People, parts: list[Part], who: str, name: str, codes: Any) -> list[Part]:
        spend(20 * len(codes))
        allowed = {position(code, len(self.table.categories[name])) for code in items(codes)}
        if (person := people[who]) is not None:
            return parts if person[name] in allowed else []
        return _cut(parts, {name: frozenset(allowed)})

    def _compare(self, people: People, parts: list[Part], operator: str, constant: Any, terms: Any) -> list[Part]:
        value, others, ranks = fraction(constant), dict.fromkeys(self.table.numbers, Fraction(0)), []
        spend(100 * len(terms) + len(others))
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
        if ranks:
            ensure(not row and len(ranks) == 1, "a rank of the other individual stands beside other values of theirs")
            return self._ranks(parts, value, operator, ranks[0])
        if operator == "!=" or not row:  # not equal is everybody but a plane: proofs speak about everybody
            return parts if row or _true(value, operator) else []
        strict = {"<=": False, "<": True}[operator]
        if len(row) > 1:  # rows are closed
            return _cut(parts, {row: -value})
        ((name, a),) = row
        limit = most(-value / abs(a), strict, self.table.numbers[name].integer)
        return _cut(parts, {((name, 1 if a > 0 else -1),): limit})

    def _steps(self, by: str, groups: Any) -> list[tuple[list[int], list[float]]]:
        """For each group of a rank its categories and its distinct training values, descending."""
        spend(100 * len(self.table.categories[by]) + 60 * sum(len(items(values)) for _, values in groups))
        once = sorted(code for codes, _ in groups for code in codes) == [*range(len(self.table.categories[by]))]
        ensure(once, "the groups of a rank do not hold every category exactly once")
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
                found += _cut(parts, {by: frozenset(codes), ((name, -1),): -low, ((name, 1),): high})
                at_most(CELLS, len(found), "cells of a person")
        return found


def derive(formula: Formula, x: Person) -> list[RationalCell]:
    """Cells that together hold the features of every individual similar to x; those without a point are left out."""
    parts, table = formula.parts(x), formula.table
    for _ in range(2 * len(table.numbers)):  # each round may bound one more end
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
        spend(200 * len(row) ** 2)
        for name, a in row:
            far = [(abs(c), part[((other, -1 if c > 0 else 1),)]) for other, c in row if other != name]
            if all(math.isfinite(end) for _, end in far):
                limit = (part[row] + sum(c * decimal(end) for c, end in far)) / abs(a)
                left = _cut(left, {((name, 1 if a > 0 else -1),): most(limit, False, table.numbers[name].integer)})
    return left


def _cell(part: Part, table: AttributeTable) -> RationalCell:
    spend(10 * table.width)
    groups = {}
    for name, about in table.numbers.items():
        ends = -part[((name, -1),)], part[((name, 1),)]
        ensure(all(map(math.isfinite, ends)), f"the formula leaves {name} without a bound")
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
    spend(15 * table.width + 400 * len(row))
    found, limit = [0.0] * table.width, part[row]
    for name, a in row:
        about, ends = table.numbers[name], (part[((name, -1),)], part[((name, 1),)])
        mean, sd, coefficient = Fraction(about.mean), Fraction(about.sd), float(a) * about.sd
        far = max(abs(Fraction(end)) for end in ends) + abs(mean)  # |e| is at most 2·far / sd + the tiniest
        limit += abs(Fraction(coefficient) - a * sd) * (2 * far / sd + TINIEST) - a * mean
        limit += abs(a) * (4 * UNIT * far + (1 + sd) * TINIEST)
        found[about.column] = coefficient
    return [*found, -up(limit)]
