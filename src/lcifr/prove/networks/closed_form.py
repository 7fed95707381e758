"""Networks without hidden layers: bounds in closed form, and their proofs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lcifr.models.network import Network
from lcifr.models.rounding import LARGEST, gamma
from lcifr.prove.networks.rounding import UNIT_UP, RoundingBound, largest_numbers
from lcifr.prove.proof import CellProof, Entry, Leaf, Multipliers, ProvedBound, entries, interval_leaves
from lcifr.prove.question import Answer, FloatArray, IntArray, Proofs, Question, Status, still_open
from lcifr.regions.region import Cell, Choice, LinearRows, Region

# Closed form of an affine function on cells without linear rows: its largest value, and the vertex that has it.
#
# Each column has one coefficient in a direction, direction · W. So the largest value is a sum over the attributes: of a
# number at the better end of its interval, and of the best category that is allowed. Everything is looked up and added
# for all people at once, in an order that does not depend on who else is asked about.


def bound_affine(question: Question, *, climbing: bool = True) -> Answer:
    """The largest value of every direction, rounded outward, and where it is reached.

    ``climbing`` : whether to look for points at all.
    """
    upper, best = np.full(question.directions.shape[:2], -np.inf), question.reached()
    witness = np.full((*best.shape, question.region.features), np.nan)
    slopes = _Slopes.of(question)
    for cell in question.region.cells:
        who = np.flatnonzero(cell.present)
        here = cell if len(who) == len(cell.present) else cell.take(who)
        some = slopes.take(who)
        bound = _bound(question, some, here)
        upper[who] = np.maximum(upper[who], bound)
        if climbing:
            _reach(question, some, here, who, bound, witness, best)
    return Answer.claimed(question, upper, witness)


@dataclass(frozen=True)
class _Slopes:
    """Coefficients by the kind of a person, which is one set of K directions.

    Parameters
    ----------
    table : (features, kinds, K) of each column. level : (kinds, K) of the bias.
    rows : (kinds, K, outputs) the directions. kind : (n,) of each person.
    """

    table: FloatArray
    level: FloatArray
    rows: FloatArray
    kind: IntArray

    @classmethod
    def of(cls, question: Question) -> _Slopes:
        (layer,), rows, people = question.network.layers, question.rows, question.region.people
        if question.alike:
            kind = np.zeros(people, np.intp)
        elif rows[0].size == 1:  # a sign: two kinds of people
            values, kind = np.unique(rows.reshape(-1), return_inverse=True)
            rows = values[:, None, None]
        else:
            kind = np.arange(people)
        table = np.ascontiguousarray(np.moveaxis(rows @ layer.weight, 2, 0))
        return cls(table, rows @ layer.bias, rows, kind)

    def take(self, who: NDArray[np.intp]) -> _Slopes:
        """Of some of the people."""
        return _Slopes(self.table, self.level, self.rows, self.kind[who])

    def at(self, column: int | NDArray[np.intp]) -> FloatArray:
        """(n, K) of one column, or of each person's own."""
        return np.asarray(self.table[column, self.kind])

    def largest(self, choice: Choice) -> FloatArray:
        """(n, K) of the best category that is allowed."""
        if choice.only is not None:
            return self.at(choice.columns[choice.only])
        found = np.full((len(self.kind), self.table.shape[2]), -np.inf)
        for allowed, column in zip(choice.allowed.T, choice.columns.tolist(), strict=True):
            np.maximum(found, self.at(column), out=found, where=allowed[:, None])
        return found

    def sizes(self) -> FloatArray:
        """(n, K, outputs) of the directions, or (1, K, outputs) where they are alike."""
        sizes = np.abs(self.rows)
        return sizes[:1] if (sizes == sizes[:1]).all() else sizes[self.kind]


def _bound(question: Question, slopes: _Slopes, cell: Cell) -> FloatArray:
    """(n, K) at least direction · (W x′ + b) everywhere in the cell."""
    (layer,) = question.network.layers
    rounding = RoundingBound.of([(layer.weight, layer.bias)], cell.numeric, [choice.columns for choice in cell.choices])
    with np.errstate(invalid="ignore", over="ignore"):
        upper = slopes.level[slopes.kind]
        for place, column in enumerate(cell.numeric.tolist()):
            lower, higher, slope = cell.lower[:, place], cell.upper[:, place], slopes.at(column)
            center = (lower + higher) * 0.5
            radius = np.maximum(higher - center, center - lower)
            radius = np.where(radius > 0, radius * UNIT_UP + 1e-300, radius)
            upper += center[:, None] * slope
            upper += radius[:, None] * np.abs(slope)
        for choice in cell.choices:
            upper += slopes.largest(choice)
        upper += rounding.rounding_error(0, slopes.sizes(), largest_numbers(cell))
    upper[np.isnan(upper)] = np.inf
    return upper


def _reach(
    question: Question,
    slopes: _Slopes,
    cell: Cell,
    who: NDArray[np.intp],
    upper: FloatArray,
    witness: FloatArray,
    best: FloatArray,
) -> None:
    """Keep the vertex of each answer's most promising direction where it is better than what is known."""
    offset, every = question.offset[who], np.arange(len(who))
    shared = question.shared is not None
    asked = [(upper + offset).argmax(1)] if shared else [np.full(len(who), k) for k in range(upper.shape[1])]
    for answer, which in enumerate(asked):
        points = _vertices(slopes, cell, which, question.region.features)
        directions = slopes.rows[slopes.kind, which]
        value = (question.network(points) * directions).sum(1) + offset[every, which]
        better = np.flatnonzero(value > best[who, answer])
        witness[who[better], answer] = points[better]
        best[who[better], answer] = value[better]


def _vertices(slopes: _Slopes, cell: Cell, which: NDArray[np.intp], features: int) -> FloatArray:
    """(n, features) where direction ``which`` (n,) is largest."""
    every, points = np.arange(len(which)), np.zeros((len(which), features))
    for place, column in enumerate(cell.numeric.tolist()):
        rising = slopes.table[column, slopes.kind, which] > 0
        points[:, column] = np.where(rising, cell.upper[:, place], cell.lower[:, place])
    for choice in cell.choices:
        value = choice.only
        if value is None:
            parts = slopes.table[choice.columns][:, slopes.kind, which]
            value = np.where(choice.allowed.T, parts, -np.inf).argmax(0)
        points[every, choice.columns[value]] = 1.0
    return points


# Networks without a hidden layer: in closed form on a cell, and by the compiled search where linear rows cut it.
#
# The search knows networks with hidden layers. W x + b is one of them on any bounded cell: relu(W x + C) − C + b, with
# C so large that no neuron is ever off. C is a column that stands still, one number for each person, so that a giant
# costs no other person any precision. Proofs speak about the network as it is: multipliers of the rows are all that
# they need.

WATCHED = 64
"""Of so many people, one gets a point whatever the bound is: a bound below what its point reaches ends the run."""


def answer_people(question: Question) -> Answer:
    """Exact, but for what the budget leaves open where there are rows."""
    rows = any(cell.rows is not None for cell in question.region.cells)
    if not (rows and question.branch):
        return bound_only(question)
    from lcifr.prove.networks.kernel import call  # numba takes a good part of a second to import

    shift = _shifts(question)
    moved, slack = _constants(question, shift)
    lifted = _lifted(question, shift, moved)
    if not call.covers(lifted.network, lifted.region):
        return bound_only(question)
    found = call.answer_people(lifted)
    with np.errstate(invalid="ignore"):
        upper = np.nextafter(found.upper + moved + slack + gamma(8) * np.abs(found.upper), np.inf)
    upper = np.where(np.isneginf(found.upper), -np.inf, np.where(np.isnan(upper), np.inf, upper))
    proofs = _proofs_about(question, found.proof or [], upper) if question.proof else None
    return replace(found, upper=upper, witness=found.witness[:, :, :-1], proof=proofs)


def bound_only(question: Question) -> Answer:
    """Plain bounds; people they leave open are undecided.

    Where there is a target, a point is looked for only where the bound passes it, and for one person in WATCHED.
    """
    found = _bounds_of(question, climbing=question.target is None)
    rest, some, again = np.arange(len(found.upper)), question, found
    if question.target is not None:
        rest = np.union1d(still_open(question, found), np.arange(0, len(found.upper), WATCHED))
        some = question.take(rest)
        again = _bounds_of(some)
        found = found.replaced(rest, again)
    status = found.status.copy()
    if question.branch:  # no others were open before
        status[rest[still_open(some, again)]] = Status.BUDGET
    return replace(found, status=status, proof=_plain_proofs(question, found.upper) if question.proof else None)


def _plain_proofs(question: Question, upper: FloatArray) -> Proofs:
    if question.network.depth == 0:
        return interval_leaves(question.directions, question.region, upper)
    from lcifr.prove.networks.linear_search import plain_proofs

    return plain_proofs(question, upper)


def _bounds_of(question: Question, *, climbing: bool = True) -> Answer:
    """In closed form where there is one. The other bounds need torch, which takes seconds to import."""
    if question.network.depth == 0 and all(cell.rows is None for cell in question.region.cells):
        return bound_affine(question, climbing=climbing)
    from lcifr.prove.networks.linear_search import bound_people

    return bound_people(question, climbing=climbing)


def _shifts(question: Question) -> FloatArray:
    """(n,) powers of two, each larger than |W x| anywhere in the person's cells."""
    (layer,), people = question.network.layers, question.region.people
    weight, size = np.abs(layer.weight), np.ones(people)
    for cell in question.region.cells:
        with np.errstate(invalid="ignore", over="ignore"):
            far = np.maximum(np.abs(cell.lower), np.abs(cell.upper)) @ weight[:, cell.numeric].T
        for choice in cell.choices:
            far = far + weight[:, choice.columns].max(1)
        size = np.maximum(size, np.where(cell.present, np.nan_to_num(far.max(1), nan=LARGEST), 1.0))
    return np.asarray(np.ldexp(1.0, np.frexp(np.minimum(size, LARGEST / 4))[1] + 1))


def _constants(question: Question, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n, K) direction · (b − C), and how far rounding can put that off."""
    (layer,), rows = question.network.layers, question.rows
    level = rows @ layer.bias - shift[:, None] * rows.sum(-1)
    size = np.abs(rows) @ np.abs(layer.bias) + shift[:, None] * np.abs(rows).sum(-1)
    return level, gamma(2 * layer.bias.size + 16) * size


def _lifted(question: Question, shift: FloatArray, moved: FloatArray) -> Question:
    """The same question about relu(W x + C), whose people have one more number: C; with the proofs that it needs.

    ``moved`` : (n, K) what is to be added to the values.
    """
    (layer,), region = question.network.layers, question.region
    count = len(layer.bias)
    network = Network.from_arrays(
        [(np.column_stack([layer.weight, np.ones(count)]), np.zeros(count)), (np.eye(count), np.zeros(count))]
    )
    cells = tuple(_with_number(cell, shift, region.features) for cell in region.cells)
    wider: Region = replace(region, features=region.features + 1, cells=cells, origin=None)
    return replace(question, function=network, region=wider, moved=question.offset + moved, proof=True)


def _with_number(cell: Cell, number: FloatArray, column: int) -> Cell:
    rows = cell.rows
    if rows is not None:
        rows = LinearRows(np.column_stack([rows.G, np.zeros(len(rows.G))]), rows.g)
    lower, upper = np.column_stack([cell.lower, number]), np.column_stack([cell.upper, number])
    return replace(cell, numeric=np.append(cell.numeric, column), lower=lower, upper=upper, rows=rows)


def _proofs_about(question: Question, found: Proofs, upper: FloatArray) -> Proofs:
    """Proofs about relu(W x + C) as proofs about W x + b."""
    lowered: list[list[list[CellProof]]] = []
    for directions, bounds, proofs in zip(question.directions, upper.tolist(), found, strict=True):
        known = dict(zip(map(entries, directions), bounds, strict=True))
        lowered.append([[_without_lines(proof, known) for proof in cells] for cells in proofs])
    return lowered


def _without_lines(proof: CellProof, bounds: dict[tuple[Entry, ...], float]) -> CellProof:
    """Neurons that are always on stand for themselves; an empty cell's claim has no direction, and keeps its bound."""
    claims = []
    for claim in proof.claims:
        nodes = tuple(
            replace(node, by=Multipliers(rows=node.by.rows), ends=()) if isinstance(node, Leaf) else node
            for node in claim.nodes
        )
        bound = claim.upper if claim.upper < 0 and not claim.direction else bounds[claim.direction]
        claims.append(ProvedBound(claim.direction, bound, nodes))
    return CellProof(proof.cell, tuple(claims))
