"""The claims of a proof, each confirmed over its split tree or rejected with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lcifr.check.bound import Place, backward, by_intervals, settle
from lcifr.check.exact import Number, Rejected, Vector, exact, number
from lcifr.check.problem import Cell, Layer, Problem, pose, read_network
from lcifr.check.read import Reader, fields, items, position


@dataclass(frozen=True)
class Finding:
    """What became of the claim "direction · network(x′) ≤ upper for every x′ in the cell".

    Parameters
    ----------
    direction : its entries that are not zero, by output.
    reason : why it is not confirmed; empty if it is.
    """

    direction: dict[int, float]
    upper: float
    reason: str


def confirm(
    layers: Sequence[tuple[Sequence[Sequence[float]], Sequence[float]]],
    cell: Cell,
    direction: Sequence[float],
    upper: float,
    proof: object,
) -> str:
    """Why this proof does not show direction · network(x′) ≤ upper for every x′ in the cell; empty if it does."""
    try:
        wanted = {output: number(value, "the direction") for output, value in enumerate(direction) if value}
        return missing(examine(read_network(layers), cell, proof), wanted, number(upper, "the bound"))
    except Rejected as rejected:
        return str(rejected)


def missing(findings: Sequence[Finding], direction: dict[int, float], upper: float) -> str:
    """What is missing for direction · network(x′) ≤ upper to follow from these findings; empty if nothing is.

    A confirmed 0 ≤ −1 says that the cell has no point, and then every bound holds.
    """
    if any(not f.reason and not f.direction and f.upper < 0 for f in findings):
        return ""
    about = [f for f in findings if f.direction == direction]
    if any(not f.reason and f.upper <= upper for f in about):
        return ""
    reasons = [f.reason or f"only {f.upper} is shown, not {upper}" for f in about]
    return "; ".join(reasons) or "the proof claims nothing about this direction"


def examine(network: tuple[Layer, ...], cell: Cell, proof: object) -> list[Finding]:
    """Every claim of a cell's proof, confirmed or not. Raises Rejected where the proof cannot be read at all."""
    problem = pose(network, cell)
    reader = Reader(problem)
    plain = fields(proof, "the proof", "cell", "bounds", "claims")
    bounds = reader.bounds(plain.get("bounds", {}))
    root = Place(problem.lower, problem.upper, problem.allowed)
    root = root if root.without_points() else settle(problem, root, bounds)
    return [_judge(problem, reader, root, claim) for claim in items(plain.get("claims"), "claims")]


def _judge(problem: Problem, reader: Reader, root: Place, claim: object) -> Finding:
    plain = fields(claim, "a claim", "direction", "upper", "nodes")
    outputs = len(problem.layers[-1].bias.values)
    entries = reader.terms(plain.get("direction"), "direction", outputs)
    direction = {output: value for (output,), value in entries.items() if value}
    upper = number(plain.get("upper"), "upper")
    start, limit = exact(direction.get(output, 0.0) for output in range(outputs)), exact([upper])
    try:
        _walk(problem, reader, root, start, Number(limit.values[0], limit.shift), items(plain.get("nodes"), "nodes"))
    except Rejected as rejected:
        return Finding(direction, upper, str(rejected))
    return Finding(direction, upper, "")


def _walk(problem: Problem, reader: Reader, root: Place, start: Vector, upper: Number, nodes: list[object]) -> None:
    """Follow the tree in preorder; rejected unless every leaf shows the bound and the nodes are exactly one tree."""
    waiting = [root]
    for count, found in enumerate(nodes):
        if not waiting:
            raise Rejected(f"node {count} has no place in the tree")
        place, (kind, inside, bounds) = waiting.pop(), reader.node(found)
        if not place.without_points():
            place = settle(problem, place, bounds)
        if kind not in ("leaf", "empty"):
            first, second = halves(place, kind, inside, reader)
            waiting += second, first
        elif not place.without_points() and not _shown(problem, reader, place, kind, inside, start, upper):
            raise Rejected(f"node {count} does not show {'the bound' if kind == 'leaf' else 'that no point is left'}")
    if waiting:
        raise Rejected(f"the tree lacks {len(waiting)} of its branches")


def _shown(
    problem: Problem, reader: Reader, place: Place, kind: str, inside: object, start: Vector, upper: Number
) -> bool:
    depth = len(problem.layers) - 1
    if kind == "empty":  # something that is ≥ 0 at every point of the node is < 0 at every point
        nothing = Vector([0] * len(start.values), 0)
        return backward(problem, place, depth, nothing, reader.multipliers(inside)).value < 0
    if inside is not None:
        return backward(problem, place, depth, start, reader.multipliers(inside)) <= upper
    return by_intervals(problem, place, start) <= upper


def halves(place: Place, kind: str, inside: object, reader: Reader) -> tuple[Place, Place]:
    """The two parts of a node; they share their border, so that nothing falls between."""
    one, other = items(inside, f"a {kind} split", 2)
    if kind == "numeric":
        at, t = reader.problem.columns.get(one if type(one) is int else -1), number(other, "a threshold")
        if at is None:
            raise Rejected("a numeric split is not on a numeric column that moves")
        upper = tuple(min(end, t) if column == at else end for column, end in enumerate(place.upper))
        lower = tuple(max(end, t) if column == at else end for column, end in enumerate(place.lower))
        return replace(place, upper=upper, stale=0), replace(place, lower=lower, stale=0)
    if kind == "choice":
        choice = position(one, "the choice of a split", len(reader.problem.choices))
        columns = reader.problem.choices[choice]
        values = frozenset(columns[position(v, "a value of a split", len(columns))] for v in items(other, "values"))
        sides = place.allowed[choice] & values, place.allowed[choice] - values
        left, right = (replace(place, allowed={**place.allowed, choice: side}, stale=0) for side in sides)
        return left, right
    layer, neuron = reader.neuron([one, other], "a relu split")
    if not place.intervals:  # no point is here, so none was computed
        return place, place
    before, known, after = place.intervals[:layer], place.intervals[layer], place.intervals[layer + 1 :]
    cuts = (known.cut_one(neuron, sign, Number(0, 0)) for sign in (1, -1))
    off, on = (replace(place, intervals=(*before, cut, *after), stale=layer + 1) for cut in cuts)
    return off, on
