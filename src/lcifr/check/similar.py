"""Who counts as similar, in exact arithmetic: a formula's canonical tree, a person, and what the tree says of others.

Numbers mean the decimals that they are written as, so every value is a fraction. With the person filled in, all that is
left of the tree speaks about the other individual: bounds, categories and linear rows, joined by and, or.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lcifr.check.exact import Rejected, number, position
from lcifr.check.table import Attributes, Person, decimal, least, most

MOST_PARTS = 4096  # of a formula at one person; the language allows fewer

# A conjunction: name of a number → (low, high), the outermost floats that are allowed; name of a category → allowed
# codes; ((name, a), …) → k for a row Σ a·x′ ≤ k.
Part = dict[Any, Any]


def meet(one: Any, other: Any) -> Any:
    """Both constraints of one key at once."""
    if isinstance(one, frozenset):
        return one & other
    return (max(one[0], other[0]), min(one[1], other[1])) if isinstance(one, tuple) else min(one, other)


def possible(part: Part) -> bool:
    """Not plainly without any individual."""
    return all(k if isinstance(k, frozenset) else k[0] <= k[1] for k in part.values() if not isinstance(k, Fraction))


def both(left: list[Part], right: list[Part]) -> list[Part]:
    """One of the left and one of the right alternatives at once."""
    pairs = ((one, other) for one in left for other in right)
    joint = ({**one, **{key: meet(one.get(key, k), k) for key, k in other.items()}} for one, other in pairs)
    return either(part for part in joint if possible(part))


def either(parts: Iterable[Part]) -> list[Part]:
    """Alternatives, without those inside another."""
    kept: list[Part] = []
    for part in parts:
        if not any(_within(part, other) for other in kept):
            kept = [other for other in kept if not _within(other, part)] + [part]
        if len(kept) > MOST_PARTS:
            raise Rejected("the formula has too many alternatives")
    return kept


def _within(part: Part, other: Part) -> bool:
    return all(key in part and meet(part[key], limit) == part[key] for key, limit in other.items())


@dataclass(frozen=True)
class Sum:
    """A form with known people filled in: Σ c·number + Σ c·rank + Σ c·|Sum| + constant of the other individual."""

    constant: Fraction = Fraction(0)
    numbers: dict[str, Fraction] = field(default_factory=dict)
    ranks: tuple[tuple[Fraction, Any], ...] = ()
    absolutes: tuple[tuple[Fraction, Sum], ...] = ()

    def plus(self, other: Sum, factor: Fraction | int) -> Sum:
        """self + factor · other."""
        names = {*self.numbers, *other.numbers}
        sums = {name: self.numbers.get(name, 0) + factor * other.numbers.get(name, Fraction(0)) for name in names}
        return Sum(
            self.constant + factor * other.constant,
            {name: c for name, c in sums.items() if c},
            self.ranks + tuple((factor * c, table) for c, table in other.ranks),
            self.absolutes + tuple((factor * c, inside) for c, inside in other.absolutes),
        )


class Formula:
    """φ with its attributes; ``holds`` is its truth on a pair, ``parts`` everybody similar to one person."""

    def __init__(self, tree: Any, attributes: Attributes) -> None:
        self.tree, self.attributes = tree, attributes

    def holds(self, x: Person, other: Person) -> bool:
        """φ(x, other)."""
        return bool(self._parts(self.tree, {"self": x, "other": other}))

    def parts(self, x: Person) -> list[Part]:
        """Conjunctions that together hold everybody similar to x."""
        return self._parts(self.tree, {"self": x, "other": None})

    def _parts(self, node: Any, people: dict[str, Person | None]) -> list[Part]:
        kind = node["kind"]
        if kind == "all":
            found: list[Part] = [{}]
            for part in node["parts"]:
                found = both(found, self._parts(part, people)) if found else []
            return found
        if kind == "any":
            return either(found for part in node["parts"] for found in self._parts(part, people))
        if kind == "compare":
            return self._compare(self._sum(node["form"], people), node["operator"])
        if kind == "category":
            codes = frozenset(position(code, len(self._values(node))) for code in node["allowed"])
            return self._category(node, codes, people)
        if kind == "same_category" and isinstance(node["equal"], bool):
            one, other = node["sides"]
            return self._same(one, other, node["equal"], people)
        raise Rejected(f"the formula has a part of an unknown kind: {kind}")

    def _values(self, side: Any) -> tuple[str, ...]:
        values = self.attributes[side["attribute"]].values
        if not values:
            raise Rejected(f"{side['attribute']} is not a category")
        return values

    def _category(self, side: Any, codes: frozenset[int], people: dict[str, Person | None]) -> list[Part]:
        """The person's category is one of these."""
        name, person = side["attribute"], people[side["person"]]
        if person is not None:
            return [{}] if person[name] in codes else []
        return [{name: codes}] if codes else []

    def _same(self, one: Any, other: Any, equal: bool, people: dict[str, Person | None]) -> list[Part]:
        """The two categories have the same name, or not: one alternative for every name of the first."""
        if people[other["person"]] is not None:  # somebody known first: then it is one alternative
            one, other = other, one
        found = []
        for code, text in enumerate(self._values(one)):
            match = frozenset(k for k, value in enumerate(self._values(other)) if (value == text) == equal)
            found += both(self._category(one, frozenset({code}), people), self._category(other, match, people))
        return either(found)

    def _sum(self, form: Any, people: dict[str, Person | None]) -> Sum:
        result = Sum(_fraction(form["constant"]))
        for who, name, c in form.get("numbers", ()):
            person, of = people[who], self._numeric(name)
            result = result.plus(
                Sum(decimal(person[of])) if person is not None else Sum(numbers={of: Fraction(1)}), _fraction(c)
            )
        for who, table, c in form.get("ranks", ()):
            person = people[who]
            rank = (
                Sum(Fraction(self._rank(table, person))) if person is not None else Sum(ranks=((Fraction(1), table),))
            )
            result = result.plus(rank, _fraction(c))
        for c, inside in form.get("absolutes", ()):
            result = result.plus(Sum(absolutes=((Fraction(1), self._sum(inside, people)),)), _fraction(c))
        return result

    def _numeric(self, name: str) -> str:
        if self.attributes[name].values:
            raise Rejected(f"{name} is not a number")
        return name

    def _groups(self, table: Any) -> list[tuple[frozenset[int], list[float]]]:
        """For each group of a rank its categories and its distinct training values, descending."""
        count = len(self._values({"attribute": table["by"]}))
        groups = [
            (frozenset(group["codes"]), sorted({number(v) for v in group["values"]}, reverse=True))
            for group in table["groups"]
        ]
        if sorted(code for codes, _ in groups for code in codes) != list(range(count)):
            raise Rejected("the groups of a rank do not hold every category exactly once")
        return groups

    def _rank(self, table: Any, person: Person) -> int:
        values = next(values for codes, values in self._groups(table) if person[table["by"]] in codes)
        own: float = person[self._numeric(table["attribute"])]
        return 1 + sum(value > own for value in values)

    def _compare(self, total: Sum, operator: str) -> list[Part]:
        """total ⋈ 0, first without = and ≠, then without absolute values."""
        if operator == "!=" and total.numbers and not total.absolutes:
            return [{}]  # everybody but a plane: proofs speak about everybody
        if operator in ("=", "!="):
            sides = (self._compare(Sum().plus(total, sign), "<=" if operator == "=" else "<") for sign in (1, -1))
            return both(*sides) if operator == "=" else either(part for side in sides for part in side)
        if operator not in ("<=", "<"):
            raise Rejected(f"the formula compares by {operator}")
        if total.absolutes:  # |t| is the larger of t and −t: both must hold where it counts upward, else one of them
            (c, inside), *others = total.absolutes
            rest = Sum(total.constant, total.numbers, total.ranks, tuple(others))
            sides = (self._compare(rest.plus(inside, sign * c), operator) for sign in (1, -1))
            return both(*sides) if c > 0 else either(part for side in sides for part in side)
        if total.ranks:
            return self._ranks(total, operator)
        strict = operator == "<"
        if not total.numbers:
            return [{}] if total.constant < 0 or (total.constant == 0 and not strict) else []
        if len(total.numbers) > 1:  # rows are closed
            return [{tuple(sorted(total.numbers.items())): -total.constant}]
        ((name, c),) = total.numbers.items()
        limit = -total.constant / c
        return [{name: (-math.inf, most(limit, strict)) if c > 0 else (least(limit, strict), math.inf)}]

    def _ranks(self, total: Sum, operator: str) -> list[Part]:
        """Within a group a rank is a step function of its number, so the ranks that fit are one interval of it."""
        if len(total.ranks) > 1 or total.numbers:
            raise Rejected("a rank of the other individual stands beside other values of theirs")
        ((c, table),), found = total.ranks, []
        for codes, values in self._groups(table):
            ranks = range(1, len(values) + 2)  # rank r is at least values[r − 1] and below values[r − 2]
            fits = [r for r in ranks if self._compare(Sum(c * r + total.constant), operator)]
            if fits:
                low = -math.inf if fits[-1] > len(values) else values[fits[-1] - 1]
                high = math.inf if fits[0] == 1 else most(decimal(values[fits[0] - 2]), True)
                found.append({self._numeric(table["attribute"]): (low, high), table["by"]: codes})
        return [part for part in found if possible(part)]


def _fraction(found: Any) -> Fraction:
    if isinstance(found, str) and re.fullmatch(r"-?[0-9]{1,2000}(/[1-9][0-9]{0,2000})?", found):
        return Fraction(found)
    raise Rejected("a number of the formula is not a fraction p/q")
