"""Who counts as similar, in exact arithmetic: people, a formula's canonical tree, and what it says of others.

Numbers mean the decimals that they are written as, so every value is a fraction. With the person filled in, all that is
left of the tree speaks about the other individual: categories and linear rows, joined by and, or.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from lcifr.check.exact import Rejected, number, numbers, position

MOST_PARTS = 4096  # of a formula at one person; the language allows fewer


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


class Category(NamedTuple):
    """A categorical attribute: the feature column of its first value, and its values."""

    column: int
    values: tuple[str, ...]


class Person(NamedTuple):
    """Somebody, in the table's own units."""

    numbers: dict[str, float]
    codes: dict[str, int]


People = dict[str, Person | None]  # "self" and "other"; None is anybody


class Table:
    """The attributes of ``encoding.json`` in the order of their feature columns."""

    def __init__(self, encoding: Any) -> None:
        self.numbers: dict[str, Number] = {}
        self.categories: dict[str, Category] = {}
        self.width = 0
        if encoding["format"] != 1:
            raise Rejected("the encoding is not of format 1")
        for name, entry in encoding["schema"]["attributes"].items():
            if entry["kind"] == "categorical":
                values = tuple(entry["values"])
                if not values or len(set(values)) != len(values) or not all(isinstance(v, str) for v in values):
                    raise Rejected(f"the values of {name} are not distinct texts")
                self.categories[name] = Category(self.width, values)
            elif entry["kind"] == "numeric":
                mean, sd = (number(encoding["scales"][name][key]) for key in ("mean", "sd"))
                low, high = (entry.get(key) for key in ("lower", "upper"))
                low, high = -math.inf if low is None else float(low), math.inf if high is None else float(high)
                self.numbers[name] = Number(self.width, mean, sd, low, high, entry.get("integer") is True)
                if not (sd > 0 and low <= high):
                    raise Rejected(f"the sd or the range of {name} is none")
            else:
                raise Rejected(f"attribute {name} is neither numeric nor categorical")
            self.width += len(entry["values"]) if entry["kind"] == "categorical" else 1

    def person(self, found: Any) -> Person:
        """{"numbers": […], "codes": […]} in the order of the attributes; somebody who can exist."""
        values, codes = numbers(found["numbers"], len(self.numbers)), zip(self.categories, found["codes"], strict=True)
        for (name, about), value in zip(self.numbers.items(), values, strict=True):
            if not about.lower <= value <= about.upper or (about.integer and not value.is_integer()):
                raise Rejected(f"{name} = {value} is nobody's: out of range, or not whole")
        known = {name: position(code, len(self.categories[name].values)) for name, code in codes}
        return Person(dict(zip(self.numbers, values, strict=True)), known)

    def features(self, person: Person) -> list[float]:
        """A person as the network sees them."""
        features = [0.0] * self.width
        for name, about in self.numbers.items():
            features[about.column] = about.encode(person.numbers[name])
        for name, code in person.codes.items():
            features[self.categories[name].column + code] = 1.0
        return features


def decimal(value: float) -> Fraction:
    """The decimal that a float prints as, which is what the number in the table means."""
    return Fraction(repr(value))


def most(limit: Fraction, strict: bool = False) -> float:
    """The largest float whose decimal is at most (or, strictly, below) the limit."""

    def fits(value: float) -> bool:
        return math.isfinite(value) and (decimal(value) < limit or (not strict and decimal(value) == limit))

    value = limit.numerator / limit.denominator
    while math.isfinite(value) and not fits(value):
        value = math.nextafter(value, -math.inf)
    while fits(above := math.nextafter(value, math.inf)):
        value = above
    return value


# A conjunction: name of a category → allowed codes; ((name, a), …) → k for a row Σ a·x′ ≤ k. Where the row is about one
# number, a is 1 or −1 and k the outermost float that is allowed.
Part = dict[Any, Any]


def ends(part: Part, name: str) -> tuple[float, float]:
    """Between which floats a number is."""
    low, high = (part.get(((name, sign),), math.inf) for sign in (-1, 1))
    return -low, high


def _meet(one: Any, other: Any) -> Any:
    """Both constraints of one key at once."""
    return one & other if isinstance(one, frozenset) else min(one, other)


def _possible(part: Part) -> bool:
    """Not plainly without any individual."""
    boxes = (ends(part, key[0][0]) for key in part if isinstance(key, tuple) and len(key) == 1)
    return frozenset() not in part.values() and all(low <= high for low, high in boxes)


def _both(left: list[Part], right: list[Part]) -> list[Part]:
    """One of the left and one of the right alternatives at once."""
    pairs = ((one, other) for one in left for other in right)
    joint = ({**one, **{key: _meet(one.get(key, k), k) for key, k in other.items()}} for one, other in pairs)
    return _either(joint)


def _either(parts: Iterable[Part]) -> list[Part]:
    """Alternatives, without those that are impossible or inside another."""
    kept: list[Part] = []
    for part in parts:
        if _possible(part) and not any(_within(part, other) for other in kept):
            kept = [other for other in kept if not _within(other, part)] + [part]
        if len(kept) > MOST_PARTS:
            raise Rejected("the formula has too many alternatives")
    return kept


def _within(part: Part, other: Part) -> bool:
    return all(key in part and _meet(part[key], limit) == part[key] for key, limit in other.items())


class Form(NamedTuple):
    """constant + Σ c·(number or rank of a person) + Σ c·|form|."""

    constant: Fraction
    terms: list[tuple[Fraction, str, Any]]
    absolutes: list[tuple[Fraction, Any]]

    def plus(self, factor: Fraction | int, other: Form) -> Form:
        return Form(
            self.constant + factor * other.constant,
            self.terms + [(factor * c, who, what) for c, who, what in other.terms],
            self.absolutes + [(factor * c, inside) for c, inside in other.absolutes],
        )


def _read_form(plain: Any) -> Form:
    terms = [(_fraction(c), who, what) for key in ("numbers", "ranks") for who, what, c in plain.get(key, ())]
    absolutes = [(_fraction(c), _read_form(inside)) for c, inside in plain.get("absolutes", ())]
    return Form(_fraction(plain["constant"]), terms, absolutes)


def _fraction(found: Any) -> Fraction:
    if isinstance(found, str) and re.fullmatch(r"-?[0-9]{1,2000}(/[1-9][0-9]{0,2000})?", found):
        return Fraction(found)
    raise Rejected("a number of the formula is not a fraction p/q")


class Formula:
    """φ with its attributes; ``holds`` is its truth on a pair, ``parts`` everybody similar to one person."""

    def __init__(self, tree: Any, table: Table) -> None:
        self.tree, self.table = tree, table

    def holds(self, x: Person, other: Person) -> bool:
        """φ(x, other)."""
        return bool(self._parts(self.tree, {"self": x, "other": other}))

    def parts(self, x: Person) -> list[Part]:
        """Conjunctions that together hold everybody similar to x."""
        return self._parts(self.tree, {"self": x, "other": None})

    def _parts(self, node: Any, people: People) -> list[Part]:
        kind, found = node["kind"], [Part()]
        if kind == "all":
            for part in node["parts"]:
                found = _both(found, self._parts(part, people)) if found else []
            return found
        if kind == "any":
            return _either(found for part in node["parts"] for found in self._parts(part, people))
        if kind == "compare":
            return self._compare(_read_form(node["form"]), node["operator"], people)
        if kind == "category":
            count = len(self.table.categories[node["attribute"]].values)
            return self._category(node, {position(code, count) for code in node["allowed"]}, people)
        if kind != "same_category" or not isinstance(node["equal"], bool):
            raise Rejected(f"the formula has a part of an unknown kind: {kind}")
        one, other = sorted(node["sides"], key=lambda side: people[side["person"]] is None)  # somebody known first
        texts, others = (self.table.categories[side["attribute"]].values for side in (one, other))
        matches = ([k for k, text in enumerate(others) if (text == own) == node["equal"]] for own in texts)
        pairs = ((self._category(one, [k], people), self._category(other, m, people)) for k, m in enumerate(matches))
        return _either(part for pair in pairs for part in _both(*pair))

    def _category(self, side: Any, codes: Iterable[int], people: People) -> list[Part]:
        """The person's category is one of these."""
        name, person = side["attribute"], people[side["person"]]
        return _either([{name: frozenset(codes)}] if person is None else [{}] if person.codes[name] in codes else [])

    def _compare(self, form: Form, operator: str, people: People) -> list[Part]:
        """form ⋈ 0, first without = and ≠, then without absolute values, then as a row or an interval."""
        constant, others, ranks = self._known(form, people)
        if operator == "!=" and others and not form.absolutes:
            return [{}]  # everybody but a plane: proofs speak about everybody
        if operator in ("=", "!="):  # |form| ≤ 0, or −|form| < 0
            sign, operator = (1, "<=") if operator == "=" else (-1, "<")
            form = Form(Fraction(0), [], [(Fraction(sign), form)])
        if operator not in ("<=", "<"):
            raise Rejected(f"the formula compares by {operator}")
        if form.absolutes:  # |t| is the larger of t and −t: both must hold where it counts upward, else one of them
            (c, inside), *rest = form.absolutes
            without = Form(form.constant, form.terms, rest)
            sides = [self._compare(without.plus(sign * c, inside), operator, people) for sign in (1, -1)]
            return _both(*sides) if c > 0 else _either(sides[0] + sides[1])
        strict = operator == "<"
        if ranks and (others or len(ranks) > 1):
            raise Rejected("a rank of the other individual stands beside other values of theirs")
        if ranks:
            return self._ranks(*ranks[0], constant, strict)
        if not others:
            return [{}] if constant < 0 or (constant == 0 and not strict) else []
        if len(others) > 1:  # rows are closed
            return [{tuple(sorted(others.items())): -constant}]
        ((name, c),) = others.items()
        return [{((name, 1 if c > 0 else -1),): most(-constant / abs(c), strict)}]

    def _known(self, form: Form, people: People) -> tuple[Fraction, dict[str, Fraction], list[tuple[Fraction, Any]]]:
        """The form with known people filled in: its constant, the other's numbers, the other's ranks."""
        constant, others, ranks = form.constant, dict.fromkeys(self.table.numbers, Fraction(0)), []
        for c, who, what in form.terms:
            person = people[who]
            if person is None and isinstance(what, str):
                others[what] += c
            elif person is None:
                ranks.append((c, what))
            elif isinstance(what, str):
                constant += c * decimal(person.numbers[what])
            else:
                (values,) = (values for codes, values in self._groups(what) if person.codes[what["by"]] in codes)
                constant += c * (1 + sum(value > person.numbers[what["attribute"]] for value in values))
        return constant, {name: c for name, c in others.items() if c}, ranks

    def _groups(self, table: Any) -> list[tuple[frozenset[int], list[float]]]:
        """For each group of a rank its categories and its distinct training values, descending."""
        groups = [(frozenset(g["codes"]), sorted({number(v) for v in g["values"]})[::-1]) for g in table["groups"]]
        every = range(len(self.table.categories[table["by"]].values))
        if sorted(c for codes, _ in groups for c in codes) != [*every] or table["attribute"] not in self.table.numbers:
            raise Rejected("a rank is of no number, or its groups do not hold every category exactly once")
        return groups

    def _ranks(self, c: Fraction, table: Any, constant: Fraction, strict: bool) -> list[Part]:
        """c·rank + constant ⋈ 0. Within a group a rank is a step function of its number: one interval of it fits."""
        name, found = table["attribute"], []
        for codes, values in self._groups(table):
            ranks = range(1, len(values) + 2)  # rank r is at least values[r − 1] and below values[r − 2]
            fits = [r for r in ranks if c * r + constant < 0 or (c * r + constant == 0 and not strict)]
            if fits:
                low = -math.inf if fits[-1] > len(values) else values[fits[-1] - 1]
                high = math.inf if fits[0] == 1 else most(decimal(values[fits[0] - 2]), True)
                found.append({((name, -1),): -low, ((name, 1),): high, table["by"]: codes})
        return _either(found)
