"""The second checker: trees, passes and intervals as ``docs/design/proofs.md`` has them, in plain fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from tests.check.second.similar import BROKEN, Group, Refused

Network = list[list[list[Fraction]]]  # layers of rows [w, …, b]
Cell = Sequence[Group]
Shown = dict[tuple[tuple[int, float], ...], Fraction]
Wholes = dict[str, tuple[int, Callable[[Any], float]]]  # of each whole attribute its column and its encoding
ZERO = Fraction(0)


def exact(layers: Any) -> Network:
    return [[[Fraction(value) for value in row] for row in layer] for layer in layers]


def identity(width: int) -> Network:
    """What stands for no layer at all, over the features and the constant."""
    return [[[Fraction(j == k) for k in range(width)] for j in range(width - 1)]]


def merge(encoder: Network, model: Network) -> Network:
    """The encoder's last layer and the model's first have no ReLU between them."""
    last, rows = encoder[-1], []
    for row in model[0]:
        new = [sum((w * below[j] for w, below in zip(row, last, strict=False)), ZERO) for j in range(len(last[0]))]
        rows.append([*new[:-1], new[-1] + row[-1]])
    return [*encoder[:-1], rows, *model[1:]]


def run(network: Network, features: Sequence[float]) -> list[Fraction]:
    values = [Fraction(value) for value in features]
    for depth, layer in enumerate(network):
        kept = [max(value, ZERO) for value in values] if depth else values
        values = [sum((w * v for w, v in zip(row, kept, strict=False)), row[-1]) for row in layer]
    return values


def shown(network: Network, cell: Cell, tree: Any, wholes: Wholes) -> Shown | None:
    """What a tree shows of every direction on a cell; None if it shows that nobody is there."""
    nodes = iter(tree)
    leaves = [one for one in _walk(network, cell, nodes, {}, wholes) if one is not None]
    if next(nodes, None) is not None:
        raise Refused("nodes are left over")
    if not leaves:
        return None
    return {d: max(one[d] for one in leaves) for d in leaves[0] if all(d in one for one in leaves)}


def _walk(network: Network, cell: Cell | None, nodes: Iterator[Any], phases: Any, wholes: Wholes) -> list[Shown | None]:
    kind, *inside = next(nodes)
    if kind == "leaf":
        return [] if cell is None else [_leaf(network, cell, phases, *inside)]
    if kind == "whole":
        (name, k), kind = inside, "numeric"
        if type(k) is not int:
            raise Refused("no whole number")
        column, encode = wholes[name]
        inside, sides = [column], [Fraction(encode(k)), Fraction(encode(k + 1))]  # not of infinity
        turned = sides[0] > sides[1]  # a program that falls: whoever is at most k has at least this feature
    else:
        sides, turned = inside[1:] * 2, False
    found = []
    for side in (0, 1):
        below, decided = cell, phases
        if kind == "relu":
            decided = phases | {(*inside, side): True}
        elif cell is not None:
            below = _half(cell, kind, inside[0], sides[side], 1 - side if turned else side)
        found += _walk(network, below, nodes, decided, wholes)
    return found


def _half(cell: Cell, kind: str, column: int, border: Any, side: int) -> Cell | None:
    (place,) = (k for k, group in enumerate(cell) if group[:2] == ({"numeric": "number"}.get(kind, kind), column))
    if kind == "numeric":
        low, high = cell[place][2:]
        low, high = (low, min(high, Fraction(border))) if side == 0 else (max(low, Fraction(border)), high)
        new, empty = ("number", column, low, high), low > high
    else:
        kept = {k for k in cell[place][2] if (k in border) == (side == 0)}
        new, empty = ("choice", column, kept), not kept  # type: ignore[assignment]
    return None if empty else [*cell[:place], new, *cell[place + 1 :]]


def _top(cell: Cell, c: Sequence[Fraction]) -> Fraction:
    """The largest c·x on a cell."""
    return sum(
        (max(c[g[1]] * end for end in g[2:]) if g[0] == "number" else max(c[k] for k in g[2]) for g in cell), ZERO
    )


def _backward(network: Network, cell: Cell, ends: Any, layer: int, c: Sequence[Fraction], lines: Any) -> Fraction:
    """A number that c · y of a layer does not exceed."""
    said = {(at, k): [Fraction(value) for value in line] for at, k, *line in lines}
    constant = ZERO
    while True:
        rows = network[layer]
        *v, more = (sum((a * row[j] for a, row in zip(c, rows, strict=True)), ZERO) for j in range(len(rows[0])))
        constant += more
        if layer == 0:
            return constant + _top(cell, v)
        layer, c = layer - 1, []
        for k, coefficient in enumerate(v):
            above, below, beta = said.get((layer, k), (ZERO, ZERO, ZERO))
            slope = coefficient * (above if coefficient > 0 else below) + beta
            low, high = ends[layer][k]
            constant += max(coefficient * max(y, ZERO) - slope * y for y in (low, high, min(max(low, ZERO), high)))
            c.append(slope)


def _outward(value: Fraction) -> Fraction:
    near = float(value)
    return Fraction(near if Fraction(near) >= value else math.nextafter(near, math.inf))


def _leaf(network: Network, cell: Cell, phases: Any, proved: Any, passes: Any) -> Shown | None:
    ends: list[list[tuple[Fraction, Fraction]]] = []
    for layer, rows in enumerate(network[:-1]):
        tops = [_backward(network, cell, ends, layer, _unit(len(rows), p), ()) for p in range(2 * len(rows))]
        for at, places, lines, _ in proved:
            for place in places if at == layer else ():
                tops[place] = min(tops[place], _backward(network, cell, ends, layer, _unit(len(rows), place), lines))
        tops = [_outward(min(top, ZERO) if (layer, p // 2, p % 2) in phases else top) for p, top in enumerate(tops)]
        ends.append([(-tops[2 * k + 1], tops[2 * k]) for k in range(len(rows))])
        if any(low > high for low, high in ends[-1]):
            return None
    found: Shown = {}
    for direction, lines, _ in passes:
        given = dict(direction)
        c = [Fraction(given.get(k, 0)) for k in range(len(network[-1]))]
        bound = _backward(network, cell, ends, len(network) - 1, c, lines)
        if not direction and bound < 0:
            return None
        key = tuple((k, float(a)) for k, a in direction)
        found[key] = min(bound, found.get(key, bound))
    return found


def _unit(count: int, place: int) -> list[Fraction]:
    return [Fraction((1 - 2 * (place % 2)) * (k == place // 2)) for k in range(count)]


def proves(
    network: Network,
    cells: Sequence[Cell],
    trees: Any,
    needed: dict[Any, Callable[[Fraction], bool]],
    off: Callable[[Cell], list[Fraction]],
    wholes: Wholes | None = None,
) -> bool:
    """Whether on every cell the trees together show all that is needed, whatever a machine is off by there."""
    for cell in cells:
        known: Shown = {}
        errors = off(cell)
        for tree in trees:
            try:
                bounds = shown(network, cell, tree, wholes or {})
            except BROKEN:
                continue  # it shows nothing; another one may
            if bounds is None:
                break
            known |= {d: min(bound, known.get(d, bound)) for d, bound in bounds.items()}
        else:
            margins = {d: sum((abs(Fraction(a)) * errors[k] for k, a in d), ZERO) for d in needed}
            if not all(d in known and enough(known[d] + margins[d]) for d, enough in needed.items()):
                return False
    return True
