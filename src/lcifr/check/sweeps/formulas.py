"""Rewriting φ for sweeps: about pairs that are one row, about people who all change alike, and turned around.

Trees are those of :mod:`lcifr.check.similar`. They have no negation: where a node counts as true, the tree is true of
nobody less, so it may be used wherever a region may be larger.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from lcifr.check.exact import ensure, fraction, items

Sizes = Mapping[str, int]  # of each category how many values there are
TRUE, FALSE = ["all"], ["any"]


def same(name: str, count: int) -> list[Any]:
    """The node that says that x and x′ have the same of so many categories."""
    return ["any", *(["all", *(["category", who, name, [k]] for who in ("self", "other"))] for k in range(count))]


def same_category(node: Any, sizes: Sizes) -> str | None:
    """The category of which a node says that x and x′ have the same."""
    match node:
        case ["any", ["all", ["category", _, str(name), _], *_], *_] if len(node) - 1 == sizes[name]:
            return name if node == same(name, sizes[name]) else None
    return None


def kept(node: Any, sizes: Sizes) -> set[tuple[str, bool]]:
    """What a node says by its writing: (attribute, True) where x′ is not above x, (attribute, False) not below."""
    if name := same_category(node, sizes):
        return {(name, True), (name, False)}
    match node:
        case ["all", *inside]:
            return set[Any]().union(*(kept(one, sizes) for one in inside))
        case ["any", first, *inside]:
            return kept(first, sizes).intersection(*(kept(one, sizes) for one in inside))
        case ["compare", "<=", [0, _], [[c, one, name], [d, two, again]]] if name == again and one != two:
            return {(name, (fraction(d) > 0) == (two == "other"))} if fraction(c) == -fraction(d) != 0 else set()
    return set()


def side_by_side(node: Any, others: Mapping[str, str], sizes: Sizes) -> Any:
    """A node about x and x′ as one about one row that holds both; ``others`` are what it calls the attributes of x′.

    Where it calls an attribute of both alike, that the two are the same says nothing.
    """
    kind, *inside = items(node)
    if kind in ("all", "any"):
        alike = same_category(node, sizes)
        return TRUE if alike and others[alike] == alike else [kind, *(side_by_side(n, others, sizes) for n in inside)]

    def called(who: str, name: str) -> str:
        return {"self": name, "other": others[name]}[who]

    if kind == "category":
        who, name, codes = inside
        return [kind, "other", called(who, name), codes]
    operator, constant, terms = inside
    rows = [[c, "other", called(who, name), *rank] for c, who, name, *rank in items(terms)]
    for row, (_, who, *_) in zip(rows, terms, strict=True):
        row[3:4] = [called(who, by) for by in row[3:4]]  # of a rank the category whose groups it is about
    return [kind, operator, constant, rows]


def changed(node: Any, codes: Mapping[str, int], shifts: Mapping[str, Fraction]) -> Any:
    """A node about x and the x′ who has these categories and is so much further in these numbers, as one about x."""
    kind, *inside = items(node)
    if kind in ("all", "any"):
        return [kind, *(changed(one, codes, shifts) for one in inside)]
    if kind == "category":
        who, name, allowed = inside
        known = TRUE if codes.get(name) in items(allowed) else FALSE
        return known if who == "other" and name in codes else [kind, "other", name, allowed]
    operator, constant, terms = inside
    value = fraction(constant)
    for c, who, name, *rank in items(terms):
        moved = {name, *rank[:1]} & {*codes, *shifts} if who == "other" else set()
        ensure(not (rank and moved), "a rank changes")
        value += fraction(c) * (shifts[name] if moved else 0)
    return [kind, operator, [value.numerator, value.denominator], [[c, "other", *about] for c, _, *about in terms]]


def negated(node: Any, sizes: Sizes) -> Any:
    """A node that is true just where this one is false."""
    kind, *inside = items(node)
    if kind in ("all", "any"):
        return ["any" if kind == "all" else "all", *(negated(one, sizes) for one in inside)]
    if kind == "category":
        who, name, codes = inside
        return [kind, who, name, [code for code in range(sizes[name]) if code not in items(codes)]]
    operator, (p, q), terms = inside
    opposite = [-p, q], [[[-c, d], *about] for (c, d), *about in items(terms)]
    if operator == "!=":
        return ["all", [kind, "<=", [p, q], terms], [kind, "<=", *opposite]]
    return [kind, {"<=": "<", "<": "<="}[operator], *opposite]
