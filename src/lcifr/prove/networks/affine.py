"""Networks without a hidden layer: in closed form on a cell, and by the compiled search where linear rows cut it.

The search knows networks with hidden layers. W x + b is one of them on any bounded cell: relu(W x + C) − C + b, with C
so large that no neuron is ever off. C is a column that stands still, one number for each person, so that a giant costs
nobody else any precision. Proofs speak about the network as it is: multipliers of the rows are all that they need.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lcifr.models.network import LARGEST, Network, gamma
from lcifr.prove.answer import FloatArray
from lcifr.prove.networks.closed_form import bound_affine
from lcifr.prove.networks.request import Findings, Proofs, Request, still_open
from lcifr.prove.proof import CellProof, Entry, Leaf, Multipliers, ProvedBound
from lcifr.regions.region import Cell, LinearRows, Region

WATCHED = 64
"""Of so many people, one gets a point whatever the bound is: a bound below what its point reaches ends the run."""


def answer_people(request: Request) -> Findings:
    """Exact, but for what the budget leaves open where there are rows."""
    rows = any(cell.rows is not None for cell in request.region.cells)
    if not (rows and request.branch):
        return bound_only(request)
    from lcifr.prove.networks.kernel import call  # numba takes a good part of a second to import

    shift = _shifts(request)
    lifted = _lifted(request, shift)
    if not call.covers(lifted.network, lifted.region):
        return bound_only(request)
    moved, slack = _constants(request, shift)
    found = call.answer_people(replace(lifted, offset=request.offset + moved, proof=True))
    with np.errstate(invalid="ignore"):
        upper = np.nextafter(found.upper + moved + slack + gamma(8) * np.abs(found.upper), np.inf)
    upper = np.where(np.isneginf(found.upper), -np.inf, np.where(np.isnan(upper), np.inf, upper))
    proofs = _proofs_about(request, found.proofs, upper) if request.proof else []
    return replace(found, upper=upper, witness=found.witness[:, :, :-1], proofs=proofs)


def bound_only(request: Request) -> Findings:
    """Plain bounds; whoever they leave open is undecided.

    Where there is a target, a point is looked for only where the bound passes it, and for one person in WATCHED.
    """
    found = _bounds_of(request, climbing=request.target is None)
    rest, some, again = np.arange(len(found.upper)), request, found
    if request.target is not None:
        rest = np.union1d(still_open(request, found), np.arange(0, len(found.upper), WATCHED))
        some = request.take(rest)
        again = _bounds_of(some)
        found.put(rest, again)
    found.exhausted[rest[still_open(some, again)]] = request.branch  # nobody else was open before
    if not request.proof:
        return found
    from lcifr.prove.networks.linear_bounds.plain_proofs import plain_proofs

    return replace(found, proofs=plain_proofs(request, found.upper))


def _bounds_of(request: Request, *, climbing: bool = True) -> Findings:
    """In closed form where there is one. The other bounds need torch, which takes seconds to import."""
    if request.network.depth == 0 and all(cell.rows is None for cell in request.region.cells):
        return bound_affine(request, climbing=climbing)
    from lcifr.prove.networks.linear_bounds.chunk_bounds import bound_people

    return bound_people(request, climbing=climbing)


def _shifts(request: Request) -> FloatArray:
    """(n,) powers of two, each larger than |W x| anywhere in the person's cells."""
    (layer,), people = request.network.layers, request.region.people
    weight, size = np.abs(layer.weight), np.ones(people)
    for cell in request.region.cells:
        with np.errstate(invalid="ignore", over="ignore"):
            far = np.maximum(np.abs(cell.lower), np.abs(cell.upper)) @ weight[:, cell.numeric].T
        for choice in cell.choices:
            far = far + weight[:, choice.columns].max(1)
        size = np.maximum(size, np.where(cell.present, np.nan_to_num(far.max(1), nan=LARGEST), 1.0))
    return np.asarray(np.ldexp(1.0, np.frexp(np.minimum(size, LARGEST / 4))[1] + 1))


def _constants(request: Request, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n, K) direction · (b − C), and how far rounding can put that off."""
    (layer,) = request.network.layers
    rows = request.directions if request.directions.ndim == 3 else request.directions[None]
    level = rows @ layer.bias - shift[:, None] * rows.sum(-1)
    size = np.abs(rows) @ np.abs(layer.bias) + shift[:, None] * np.abs(rows).sum(-1)
    return level, gamma(2 * layer.bias.size + 16) * size


def _lifted(request: Request, shift: FloatArray) -> Request:
    """The same question about relu(W x + C), whose people have one more number: C."""
    (layer,), region = request.network.layers, request.region
    count = len(layer.bias)
    network = Network.from_arrays(
        [(np.column_stack([layer.weight, np.ones(count)]), np.zeros(count)), (np.eye(count), np.zeros(count))]
    )
    cells = tuple(_with_number(cell, shift, region.features) for cell in region.cells)
    wider: Region = replace(region, features=region.features + 1, cells=cells, origin=None)
    return replace(request, network=network, region=wider)


def _with_number(cell: Cell, number: FloatArray, column: int) -> Cell:
    rows = cell.rows
    if rows is not None:
        rows = LinearRows(np.column_stack([rows.G, np.zeros(len(rows.G))]), rows.g)
    lower, upper = np.column_stack([cell.lower, number]), np.column_stack([cell.upper, number])
    return replace(cell, numeric=np.append(cell.numeric, column), lower=lower, upper=upper, rows=rows)


def _proofs_about(request: Request, found: Proofs, upper: FloatArray) -> Proofs:
    """Proofs about relu(W x + C) as proofs about W x + b."""
    from lcifr.prove.networks.linear_bounds.plain_proofs import entries

    rows = np.broadcast_to(request.directions, (*upper.shape, request.network.outputs))
    lowered: Proofs = []
    for person, proofs in enumerate(found):
        bounds = {entries(rows[person, k]): float(upper[person, k]) for k in range(upper.shape[1])}
        lowered.append([[_without_lines(proof, bounds) for proof in cells] for cells in proofs])
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
