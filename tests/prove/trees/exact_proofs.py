"""What a proof about trees shows, in fractions: an own reading of docs/design/trees.md, beside the checker's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from lcifr.models.trees import Trees
from lcifr.prove.oracles.enumerate import plain_cell
from lcifr.prove.proof import CellProof, to_plain
from lcifr.regions.region import Region, WholeColumn

Tree = tuple[Any, ...]
"""("leaf", value) or (kind, column, border, first, second)."""


@dataclass(frozen=True)
class ExactPart:
    """ends : of each number. left : of each category, by its first column, what is left."""

    ends: dict[int, tuple[float, float]]
    left: dict[int, frozenset[int]]

    @property
    def empty(self) -> bool:
        return any(low > high for low, high in self.ends.values()) or not all(self.left.values())

    def halves(self, kind: str, name: Any, border: Any, wholes: Sequence[WholeColumn]) -> list[ExactPart]:
        if kind == "choice":
            inside = self.left[name] & frozenset(border)
            return [replace(self, left={**self.left, name: part}) for part in (inside, self.left[name] - inside)]
        if kind == "whole":
            (one,) = (one for one in wholes if one.attribute == name)
            first, second = one.encode([float(border), float(border + 1)])  # type: ignore[arg-type]
            assert first < second, "these worlds have rising programs only"
            name = one.column
        else:
            assert kind == "numeric", kind
            first, second = border, math.nextafter(border, math.inf)
        low, high = self.ends[name]
        return [
            replace(self, ends={**self.ends, name: (low, min(high, first))}),
            replace(self, ends={**self.ends, name: (max(low, second), high)}),
        ]


def read_trees(plain: dict[str, Any], direction: dict[int, float]) -> list[Tree]:
    """Trees with the value of their leaves in a direction."""
    found = []
    for nodes in plain["trees"]:
        built: list[Tree] = []
        for kind, *inside in reversed(nodes):
            if kind == "leaf":
                total = sum((Fraction(direction.get(o, 0.0)) * Fraction(v) for o, v in inside[0]), Fraction(0))
                built.append(("leaf", total))
            else:
                built.append((kind, inside[0], inside[1], built.pop(), built.pop()))
        (tree,) = built
        found.append(tree)
    return found


def cut(tree: Tree, part: ExactPart) -> Tree:
    """Without the sides that the part does not have."""
    if tree[0] == "leaf":
        return tree
    kind, column, border, first, second = tree
    if kind == "numeric":
        low, high = part.ends[column]
        sides = low <= border, high > border
    else:
        left = part.left[column]
        sides = bool(left & set(border)), bool(left - set(border))
    assert any(sides)
    if not all(sides):
        return cut(first if sides[0] else second, part)
    inside, outside = part.halves(kind, column, border, ())
    return (kind, column, border, cut(first, inside), cut(second, outside))


def attributes(tree: Tree) -> set[int]:
    return set() if tree[0] == "leaf" else {tree[1]} | attributes(tree[3]) | attributes(tree[4])


def leaves(tree: Tree) -> list[Fraction]:
    return [tree[1]] if tree[0] == "leaf" else leaves(tree[3]) + leaves(tree[4])


def value_at(tree: Tree, where: float) -> Fraction:
    """Of a tree about one attribute: at a number, or at a column of a category."""
    while tree[0] != "leaf":
        first = where <= tree[2] if tree[0] == "numeric" else where in tree[2]
        tree = tree[3] if first else tree[4]
    return Fraction(tree[1])


def bound_of(trees: Sequence[Tree], part: ExactPart) -> Fraction:
    """Σ over attributes of the largest sum of trees about it alone, and of each other tree its largest leaf."""
    total, alone = Fraction(0), dict[int, list[Tree]]()
    for tree in (cut(tree, part) for tree in trees):
        about = attributes(tree)
        if len(about) == 1:
            alone.setdefault(about.pop(), []).append(tree)
        else:
            total += max(leaves(tree))
    for column, together in alone.items():
        if column in part.left:
            places: Sequence[float] = sorted(part.left[column])
        else:
            low, high = part.ends[column]
            borders = {t for tree in together for t in thresholds(tree)}
            places = [low, *(math.nextafter(t, math.inf) for t in borders if low <= t < high)]
        total += max(sum((value_at(tree, place) for tree in together), Fraction(0)) for place in places)
    return total


def thresholds(tree: Tree) -> set[float]:
    return set() if tree[0] == "leaf" else {tree[2]} | thresholds(tree[3]) | thresholds(tree[4])


def shown(
    trees: Trees, region: Region, person: int, proof: CellProof
) -> dict[tuple[tuple[int, float], ...], Fraction | None]:
    """For each direction of a proof what it does not exceed in its cell; None where there is nobody."""
    plain, cell = trees.to_plain(), plain_cell(region.cells[proof.cell], person)
    ends = {name: (group[0][1], group[1][1]) for (kind, name), group in cell.groups.items() if kind == "numeric"}
    left = {
        name: frozenset(column for column, _ in group)
        for (kind, name), group in cell.groups.items()
        if kind == "choice"
    }
    found = {}
    for nodes in to_plain(proof):
        waiting, bounds, key = [ExactPart(ends, left)], list[Fraction](), None
        for kind, *inside in nodes:
            part = waiting.pop()
            if kind != "leaf":
                waiting += reversed(part.halves(kind, *inside, region.whole))
                continue
            assert inside[0] == []
            for direction, lines, rows in inside[1]:
                assert not lines
                if direction:
                    assert not rows
                    key = tuple((o, v) for o, v in direction)
                    if not part.empty:
                        own = read_trees(plain, dict(key))
                        base = sum((Fraction(v) * Fraction(plain["base"][o]) for o, v in key), Fraction(0))
                        bounds.append(base + Fraction(*plain["scale"]) * bound_of(own, part))
                else:
                    assert part.empty or _no_point(cell.rows, rows, part)
        assert not waiting
        if key is not None:
            found[key] = max(bounds, default=None)
    return found


def _no_point(rows: Sequence[Sequence[float]], rates: Sequence[tuple[int, float]], part: ExactPart) -> bool:
    """Whether Σ λ·(g − G e) is below 0 everywhere in the box."""
    total = Fraction(0)
    for row, rate in rates:
        *factors, minus_limit = (Fraction(v) for v in rows[row])
        least = sum(
            (min(factors[c] * Fraction(end) for end in ends) for c, ends in part.ends.items()), Fraction(0)
        ) + sum((min(factors[c] for c in columns) for columns in part.left.values()), Fraction(0))
        total -= max(Fraction(rate), Fraction(0)) * (least + minus_limit)
    return total < 0
