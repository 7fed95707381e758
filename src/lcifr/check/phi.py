"""Who counts as similar, in exact arithmetic: from φ as a tree to cells that hold everybody similar.

Numbers mean the decimals that they are written as, so every value is a fraction. What is known of two people is filled
into the tree; what is left of it speaks about the unknown, and narrows everybody down to those who are similar.
"""

import math
from fractions import Fraction
from itertools import product
from typing import Any

from lcifr.check.exact import CELLS, DIGITS, at_most, decimal, ensure, fraction, items, most, numbers, position, spend
from lcifr.check.functions import RationalCell
from lcifr.check.table import AttributeTable, Part, Person, Unknown

Row = tuple[tuple[str, Fraction], ...]  # Σ a·x′ as ((name, a), …) by name; of one number a is 1 or −1
People = dict[str, Person]  # "self" and "other"
OPPOSITE = {"<=": "<", "<": "<=", "=": "!=", "!=": "="}  # of −value where this one is false of value


def _rows(part: Part) -> list[Row]:
    """Those over several numbers."""
    return [row for row in part if isinstance(row, tuple) and len(row) > 1]


def _both(one: Any, other: Any) -> Any:
    """Of two limits the tighter one; of two sets of codes those in both."""
    return one & other if isinstance(one, frozenset) else min(one, other)


def _opposite(row: Row) -> Row:
    return tuple((name, -a) for name, a in row)


def _possible(part: Part, key: Any) -> bool:
    """Whether a limit leaves a category, or is not below what the opposite row asks for."""
    return bool(part[key]) if isinstance(key, str) else -part.get(_opposite(key), math.inf) <= part[key]


def cut(parts: list[Part], alternatives: list[Part]) -> list[Part]:
    """What is left of the parts within the limits of an alternative, too."""
    found = []
    for part, limits in product(parts, alternatives):
        spend(100 + 20 * len(part) + 100 * sum(map(len, _rows(part))))
        cut = {**part, **{key: _both(part.get(key, limit), limit) for key, limit in limits.items()}}
        found += [cut] if all(_possible(cut, key) for key in limits) else []
        at_most(CELLS, len(found), "cells of a person")  # the language allows half as many
    return found


def within(part: Part, other: Part) -> bool:
    """Whether a part is inside another: codes are among codes, limits not above limits."""
    spend(4 * len(other))
    return all(part.get(key, math.inf) <= limit for key, limit in other.items())


def _true(value: Fraction, operator: str) -> bool:
    """Value ⋈ 0."""
    return {"<=": value <= 0, "<": value < 0, "=": value == 0, "!=": value != 0}[operator]


class Formula:
    """φ with its attributes; ``holds`` is its truth on a pair, ``narrow`` finds all for whom it is true, or false.

    Nodes are ["all", …], ["any", …], ["same", name] for an attribute that both people have alike,
    ["category", person, name, codes] and ["compare", ⋈, constant, terms] for constant + Σ c·term ⋈ 0. A term is
    [c, person, name of a number] or, for its rank, [c, person, name, by, groups]: in the group [codes, values] of the
    category ``by`` the rank is 1 + how many of these values are above the number. Constant and c are fractions [p, q].
    Unknown numbers are whole where the schema and ``whole`` say so.
    """

    def __init__(self, tree: Any, table: AttributeTable, whole: bool = True) -> None:
        self.tree, self.table, self.whole = tree, table, whole

    def holds(self, x: Person, other: Person) -> bool:
        """φ(x, other)."""
        return bool(self.narrow(self.tree, {"self": x, "other": other}, [{}]))

    def is_whole(self, name: str) -> bool:
        """Whether an unknown number is."""
        return self.table.numbers[name].integer and self.whole

    def narrow(self, node: Any, people: People, parts: list[Part], true: bool = True) -> list[Part]:
        """What is left of the parts where the node is true of the people, or false."""
        kind, *inside = items(node)
        if kind == "same":
            (name,) = inside
            kind, inside = "all", [] if people["self"][name] == people["other"][name] else [self._same(name)]
        if kind == ("all" if true else "any"):
            for one in inside:
                parts = self.narrow(one, people, parts, true)
            return parts
        if kind in ("all", "any"):
            found: list[Part] = []
            for part in (part for one in inside for part in self.narrow(one, people, parts, true)):
                if not any(within(part, other) for other in found):
                    found = [*(other for other in found if not within(other, part)), part]
                    at_most(CELLS, len(found), "cells of a person")
            return found
        return cut(parts, {"category": self._category, "compare": self._compare}[kind](people, true, *inside))

    def _same(self, name: str) -> Any:
        """A node that says it of a number, or of a category."""
        if name in self.table.numbers:
            return ["compare", "=", [0, 1], [[[1, 1], "self", name], [[-1, 1], "other", name]]]
        codes = self.table.codes[name]
        return ["any", *(["all", *(["category", who, name, [code]] for who in ("self", "other"))] for code in codes)]

    def _category(self, people: People, true: bool, who: str, name: str, codes: Any) -> list[Part]:
        known, every = people[who][name], self.table.codes[name]
        asked = {position(code, len(every)) for code in items(codes)}
        allowed = frozenset(code for code in every if (code in asked) == true)
        return [{known.name: allowed}] if isinstance(known, Unknown) else [{}] * (known in allowed)

    def _compare(self, people: People, true: bool, operator: str, constant: Any, terms: Any) -> list[Part]:
        sign, operator = (1, operator) if true else (-1, OPPOSITE[operator])
        value, others, ranks = sign * fraction(constant), dict[str, Fraction](), []
        common = value.denominator
        for factor, who, name, *rank in items(terms):
            ensure(name in self.table.numbers, "{} is no number", name)
            c, known = sign * fraction(factor), people[who][name]
            common = math.lcm(common, c.denominator)
            at_most(DIGITS, common.bit_length(), "bits in the common denominator of a comparison")
            if not isinstance(known, Unknown):
                value += c * (self._rank(people[who], name, *rank) if rank else decimal(known))
            elif rank:
                ranks.append((c, known, people[who][rank[0]], *rank[1:]))
            else:
                value, others[known.name] = value + c * known.more, others.get(known.name, Fraction(0)) + c
        row: Row = tuple(sorted((name, c) for name, c in others.items() if c))
        if ranks:
            ensure(not row and len(ranks) == 1, "an unknown rank stands beside other unknown values")
            return self._ranks(value, operator, *ranks[0])
        if operator == "!=" or not row:  # not equal is everybody but a plane: proofs speak about everybody
            return [{}] if row or _true(value, operator) else []
        limits = self._limit(row, -value, {"<=": False, "<": True, "=": False}[operator])
        return [limits | self._limit(_opposite(row), value) if operator == "=" else limits]

    def _limit(self, row: Row, limit: Fraction, strict: bool = False) -> Part:
        """Σ a·x′ ≤ limit; strictly (<) of one number alone: rows are closed."""
        if len(row) > 1:
            return {row: limit}
        ((name, a),) = row
        return {((name, 1 if a > 0 else -1),): most(limit / abs(a), strict, self.is_whole(name))}

    def _groups(self, by: str, groups: Any) -> list[tuple[frozenset[int], list[float]]]:
        """For each group of a rank its categories and its distinct training values, descending."""
        once = sorted(code for codes, _ in items(groups) for code in codes)
        right = once == [*range(len(once))] and len(once) == len(self.table.codes[by])
        ensure(right, "the groups of a rank do not hold every category exactly once")
        return [(frozenset(codes), sorted(set(numbers(values, len(values))), reverse=True)) for codes, values in groups]

    def _rank(self, person: Person, name: str, by: str, groups: Any) -> int:
        (values,) = (values for codes, values in self._groups(by, groups) if person[by] in codes)
        return 1 + len([above for above in values if above > person[name]])

    def _ranks(self, value: Fraction, operator: str, c: Fraction, of: Unknown, by: Any, groups: Any) -> list[Part]:
        """c·rank + value ⋈ 0. Within a group a rank is a step function of its number: one interval of it fits."""
        ensure(not of.more and isinstance(by, Unknown), "a rank changes")
        found = []
        for codes, values in self._groups(by.name, groups):  # rank r is at least values[r − 1] and below values[r − 2]
            if fits := [r for r in range(1, len(values) + 2) if _true(c * r + value, operator)]:
                limits: Part = {by.name: codes}
                if fits[-1] <= len(values):
                    limits |= self._limit(((of.name, Fraction(-1)),), -decimal(values[fits[-1] - 1]))
                if fits[0] > 1:
                    limits |= self._limit(((of.name, Fraction(1)),), decimal(values[fits[0] - 2]), strict=True)
                found.append(limits)
        return found

    def narrowed(self, part: Part) -> list[Part]:
        """What is left of a part with what each row says about one number, once the others are bounded."""
        left = [part]
        for row in _rows(part):
            spend(200 * len(row) ** 2)
            for name, a in row:
                far = [(abs(c), part[((other, -1 if c > 0 else 1),)]) for other, c in row if other != name]
                if all(math.isfinite(end) for _, end in far):
                    limit = part[row] + sum(c * decimal(end) for c, end in far)
                    left = cut(left, [self._limit(((name, a),), limit)])
        return left


def derive(formula: Formula, x: Person) -> list[RationalCell]:
    """Cells that together hold the features of every individual similar to x; those without a point are left out."""
    anybody = {name: Unknown(name) for name in formula.table.columns}
    return cells_of(formula, {"self": x, "other": anybody}, formula.table.everybody(formula.whole))


def cells_of(formula: Formula, people: People, part: Part, true: bool = True) -> list[RationalCell]:
    """Cells that hold everybody in a part of whom φ is true, or false, of these people."""
    parts = formula.narrow(formula.tree, people, [part], true)
    for _ in range(2 * len(formula.table.numbers)):  # each round may bound one more end
        before, parts = parts, [narrower for part in parts for narrower in formula.narrowed(part)]
        if parts == before:
            break
    return [cell_of(part, formula) for part in parts]


def cell_of(part: Part, formula: Formula) -> RationalCell:
    """A part as the model sees it."""
    ends, wholes, table = {}, {}, formula.table
    spend((10 * table.width + 100) * (1 + sum(map(len, _rows(part)))))
    for name, about in table.numbers.items():
        ends[name] = -part[((name, -1),)], part[((name, 1),)]
        ensure(all(map(math.isfinite, ends[name])), f"the formula leaves {name} without a bound")
        if formula.is_whole(name):
            wholes[name] = table.columns[name][0], about.encode
    rows = sorted(table.row(row, part) for row in _rows(part))
    tightest = {tuple(row[:-1]): row for row in rows}  # of those with the same G
    return RationalCell(table.groups({**part, **ends}), [*tightest.values()], wholes)
