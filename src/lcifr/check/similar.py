"""Who counts as similar, in exact arithmetic: a formula's canonical tree, a person, and what the tree says of others.

Numbers mean the decimals that they are written as, so every value is a fraction. With the person filled in, all that is
left of the tree speaks about the other individual: bounds, categories and linear rows, joined by and, or.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from operator import eq, le, lt, ne

from lcifr.check.exact import Rejected, number
from lcifr.check.read import fields, items, position
from lcifr.check.table import Attribute, Person, decimal, least, most

COMPARE = {"<=": le, "<": lt, "=": eq, "!=": ne}
MOST_PARTS = 4096  # of a formula at one person; the language allows fewer


@dataclass(frozen=True)
class Part:
    """A conjunction: ends of numbers (floats, the outermost that are allowed), allowed categories, rows Σ a·x′ ≤ k."""

    ends: dict[str, tuple[float, float]] = field(default_factory=dict)
    allowed: dict[str, frozenset[int]] = field(default_factory=dict)
    rows: dict[tuple[tuple[str, Fraction], ...], Fraction] = field(default_factory=dict)

    def join(self, other: Part) -> Part:
        """Both at once."""
        ends, allowed, rows = dict(self.ends), dict(self.allowed), dict(self.rows)
        for name, (low, high) in other.ends.items():
            old = ends.get(name, (low, high))
            ends[name] = max(old[0], low), min(old[1], high)
        for name, codes in other.allowed.items():
            allowed[name] = allowed.get(name, codes) & codes
        for row, limit in other.rows.items():
            rows[row] = min(rows.get(row, limit), limit)
        return Part(ends, allowed, rows)

    def possible(self) -> bool:
        """Not plainly without any individual."""
        return all(self.allowed.values()) and all(low <= high for low, high in self.ends.values())

    def within(self, other: Part) -> bool:
        """Everybody here is surely in ``other`` too."""
        return (
            all(
                name in self.ends and self.ends[name][0] >= low and self.ends[name][1] <= high
                for name, (low, high) in other.ends.items()
            )
            and all(self.allowed.get(name, {-1}) <= codes for name, codes in other.allowed.items())
            and all(row in self.rows and self.rows[row] <= limit for row, limit in other.rows.items())
        )


@dataclass(frozen=True)
class Sum:
    """A linear form with known people filled in: what is left speaks about the other individual.

    ``bent`` says that there was an absolute value, known by now.
    """

    numbers: dict[str, Fraction]
    ranks: list[tuple[dict[str, object], Fraction]]
    absolutes: list[tuple[Fraction, Sum]]
    constant: Fraction
    bent: bool = False

    def plus(self, other: Sum, factor: Fraction) -> Sum:
        """self + factor · other."""
        numbers = dict(self.numbers)
        for name, c in other.numbers.items():
            numbers[name] = numbers.get(name, Fraction(0)) + factor * c
        return Sum(
            {name: c for name, c in numbers.items() if c},
            [*self.ranks, *((table, factor * c) for table, c in other.ranks)],
            [*self.absolutes, *((factor * c, inside) for c, inside in other.absolutes)],
            self.constant + factor * other.constant,
            self.bent or other.bent,
        )


NOTHING = Sum({}, [], [], Fraction(0))


class Formula:
    """φ with its attributes; ``holds`` is its truth on a pair, ``parts`` everybody similar to one person."""

    def __init__(self, tree: object, attributes: dict[str, Attribute]) -> None:
        self.tree, self.attributes = tree, attributes

    def holds(self, x: Person, other: Person) -> bool:
        """φ(x, other)."""
        return bool(self._parts(self.tree, {"self": x, "other": other}))

    def parts(self, x: Person) -> list[Part]:
        """Conjunctions that together hold everybody similar to x."""
        return self._parts(self.tree, {"self": x})

    def _parts(self, node: object, known: dict[str, Person]) -> list[Part]:
        plain = fields(
            node, "a formula", "kind", "parts", "operator", "form", "person", "attribute", "allowed", "equal", "sides"
        )
        kind = plain.get("kind")
        if kind == "all":
            found = [Part()]
            for part in items(plain.get("parts"), "parts"):
                found = _product(found, self._parts(part, known)) if found else []
            return found
        if kind == "any":
            return _kept(p for part in items(plain.get("parts"), "parts") for p in self._parts(part, known))
        if kind == "compare":
            return self._compare(self._sum(plain.get("form"), known), str(plain.get("operator")))
        if kind == "category":
            name, codes = self._categorical(plain.get("attribute")), items(plain.get("allowed"), "allowed")
            count = len(self.attributes[name].values)
            chosen = frozenset(position(code, f"a category of {name}", count) for code in codes)
            return self._category(plain.get("person"), name, known, chosen)
        if kind == "same_category" and isinstance(plain.get("equal"), bool):
            return self._same(items(plain.get("sides"), "sides", 2), plain["equal"], known)  # type: ignore[arg-type]
        raise Rejected(f"the formula has a part of an unknown kind: {kind}")

    # -- categories ----------------------------------------------------------------------------------------------------

    def _categorical(self, name: object) -> str:
        if not isinstance(name, str) or name not in self.attributes or not self.attributes[name].values:
            raise Rejected(f"the formula speaks of a category that is not there: {name}")
        return name

    def _category(self, who: object, name: str, known: dict[str, Person], codes: frozenset[int]) -> list[Part]:
        if who not in ("self", "other"):
            raise Rejected(f"the formula speaks of nobody known: {who}")
        if who in known:
            return [Part()] if known[who].codes[name] in codes else []
        return [Part(allowed={name: codes})] if codes else []

    def _same(self, sides: list[object], equal: bool, known: dict[str, Person]) -> list[Part]:
        """The two categories have the same name, or not: one alternative for every name of the first."""
        pairs = [fields(side, "a side", "person", "attribute") for side in sides]
        (who, name), (whom, other) = ((pair.get("person"), self._categorical(pair.get("attribute"))) for pair in pairs)
        found = []
        for code, text in enumerate(self.attributes[name].values):
            match = frozenset(k for k, value in enumerate(self.attributes[other].values) if (value == text) == equal)
            first = self._category(who, name, known, frozenset({code}))
            found += _product(first, self._category(whom, other, known, match)) if first else []
        if len(found) > 1 and all(set(part.allowed) == {name} for part in found):  # one set instead of many
            found = [Part(allowed={name: frozenset().union(*(part.allowed[name] for part in found))})]
        return found

    # -- numbers -------------------------------------------------------------------------------------------------------

    def _sum(self, form: object, known: dict[str, Person]) -> Sum:
        plain = fields(form, "a linear form", "constant", "numbers", "ranks", "absolutes")
        result = Sum({}, [], [], _fraction(plain.get("constant")))
        for item in items(plain.get("numbers", []), "numbers"):
            who, name, c = items(item, "a term", 3)
            if not isinstance(name, str) or name not in self.attributes or self.attributes[name].values:
                raise Rejected(f"the formula speaks of a number that is not there: {name}")
            person = _person(who, known)
            term = Sum({name: Fraction(1)}, [], [], Fraction(0))
            if person is not None:
                term = Sum({}, [], [], decimal(person.numbers[name]))
            result = result.plus(term, _fraction(c))
        for item in items(plain.get("ranks", []), "ranks"):
            who, table, c = items(item, "a rank", 3)
            ranked, person = fields(table, "a rank table", "attribute", "by", "groups"), _person(who, known)
            if person is None:
                result = result.plus(Sum({}, [(ranked, Fraction(1))], [], Fraction(0)), _fraction(c))
            else:
                result = result.plus(Sum({}, [], [], Fraction(self._rank(ranked, person))), _fraction(c))
        for item in items(plain.get("absolutes", []), "absolutes"):
            c, inside = items(item, "an absolute value", 2)
            within = self._sum(inside, known)
            settled = not (within.numbers or within.ranks or within.absolutes)
            size = Sum({}, [], [], abs(within.constant), True) if settled else Sum({}, [], [(_PLUS, within)], _ZERO)
            result = result.plus(size, _fraction(c))
        return result

    def _groups(self, table: dict[str, object]) -> tuple[str, str, list[tuple[frozenset[int], list[float]]]]:
        """The ranked attribute, the grouping one, and for each group its categories and training values, ascending."""
        name, by, groups = table.get("attribute"), self._categorical(table.get("by")), []
        if not isinstance(name, str) or name not in self.attributes or self.attributes[name].values:
            raise Rejected(f"the formula ranks a number that is not there: {name}")
        count = len(self.attributes[by].values)
        for group in items(table.get("groups"), "groups"):
            plain = fields(group, "a group", "codes", "values")
            codes = frozenset(position(c, "a code", count) for c in items(plain.get("codes"), "codes"))
            values = [number(v, "a training value") for v in items(plain.get("values"), "values")]
            groups.append((codes, sorted(set(values))))
        if sorted(code for codes, _ in groups for code in codes) != list(range(count)):
            raise Rejected(f"the groups of a rank do not hold every value of {by} exactly once")
        return name, by, groups

    def _rank(self, table: dict[str, object], person: Person) -> int:
        name, by, groups = self._groups(table)
        values = next(values for codes, values in groups if person.codes[by] in codes)
        return 1 + sum(value > person.numbers[name] for value in values)

    def _compare(self, total: Sum, operator: str) -> list[Part]:
        """total ⋈ 0."""
        if operator not in COMPARE:
            raise Rejected(f"the formula compares by {operator}")
        if total.absolutes:
            return self._absolute(total, operator)
        if total.ranks:
            return self._ranks(total, operator)
        if not total.numbers:
            return [Part()] if COMPARE[operator](total.constant, 0) else []
        if operator == "!=" and not total.bent:
            return [Part()]  # everybody but a plane: proofs speak about everybody
        if operator == "!=":
            return _kept(half for s in (_PLUS, _MINUS) for half in self._compare(NOTHING.plus(total, s), "<"))
        part = Part()
        for sign in (_PLUS, _MINUS) if operator == "=" else (_PLUS,):
            part = part.join(_half(NOTHING.plus(total, sign), operator == "<"))
        return [part] if part.possible() else []

    def _absolute(self, total: Sum, operator: str) -> list[Part]:
        """The first |t| becomes t and −t: both must hold where it counts upward, else one of them."""
        if operator in ("=", "!="):
            sign = "<=" if operator == "=" else "<"
            sides = [self._compare(NOTHING.plus(total, s), sign) for s in (_PLUS, _MINUS)]
            return _product(*sides) if operator == "=" else _kept([*sides[0], *sides[1]])
        (c, inside), *others = total.absolutes
        rest = Sum(total.numbers, total.ranks, others, total.constant, True)
        sides = [self._compare(rest.plus(inside, s * c), operator) for s in (_PLUS, _MINUS)]
        return _product(*sides) if c > 0 else _kept([*sides[0], *sides[1]])

    def _ranks(self, total: Sum, operator: str) -> list[Part]:
        """Within a group a rank is a step function of its number; consecutive ranks that fit are one interval."""
        if len(total.ranks) > 1 or total.numbers:
            raise Rejected("a rank of the other individual stands beside other values of theirs")
        table, c = total.ranks[0]
        name, by, groups = self._groups(table)
        found = []
        for codes, values in groups:
            down = values[::-1]
            fits = [COMPARE[operator](c * rank + total.constant, 0) for rank in range(1, len(down) + 2)]
            for first, last in _runs(fits):  # rank r + 1 is at least down[r] and below down[r − 1]
                low = -_INFINITE if last == len(down) else down[last]
                high = _INFINITE if first == 0 else most(decimal(down[first - 1]), True)
                found.append(Part(ends={name: (low, high)}, allowed={by: codes}))
        return [part for part in found if part.possible()]


_ZERO, _PLUS, _MINUS, _INFINITE = Fraction(0), Fraction(1), Fraction(-1), float("inf")


def _half(total: Sum, strict: bool) -> Part:
    """total ≤ 0 or < 0: a bound of one number, or a row over several; rows are closed."""
    if len(total.numbers) > 1:
        return Part(rows={tuple(sorted(total.numbers.items())): -total.constant})
    ((name, c),) = total.numbers.items()
    limit = -total.constant / c
    return Part(ends={name: (-_INFINITE, most(limit, strict)) if c > 0 else (least(limit, strict), _INFINITE)})


def _person(who: object, known: dict[str, Person]) -> Person | None:
    if who not in ("self", "other"):
        raise Rejected(f"the formula speaks of nobody known: {who}")
    return known.get(str(who))


def _fraction(found: object) -> Fraction:
    if isinstance(found, str) and re.fullmatch(r"-?[0-9]{1,2000}(/[1-9][0-9]{0,2000})?", found):
        return Fraction(found)
    raise Rejected("a number of the formula is not a fraction p/q")


def _runs(fits: list[bool]) -> list[tuple[int, int]]:
    """First and last position of every run of True."""
    starts = [i for i, fit in enumerate(fits) if fit and not (i and fits[i - 1])]
    stops = [i for i, fit in enumerate(fits) if fit and not (i + 1 < len(fits) and fits[i + 1])]
    return list(zip(starts, stops, strict=True))


def _product(left: list[Part], right: list[Part]) -> list[Part]:
    return _kept(joint for one in left for other in right if (joint := one.join(other)).possible())


def _kept(parts: Iterable[Part]) -> list[Part]:
    """Without those inside another."""
    kept: list[Part] = []
    for part in parts:
        if not any(part.within(other) for other in kept):
            kept = [other for other in kept if not other.within(part)] + [part]
        if len(kept) > MOST_PARTS:
            raise Rejected("the formula has too many alternatives")
    return kept
