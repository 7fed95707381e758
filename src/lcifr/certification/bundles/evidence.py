"""Proofs in the shape the exact checker wants: only what the final inequality needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcifr.certification.query import BoolArray, FloatArray, Query
from lcifr.models.network import Network
from lcifr.models.trees.trees import Trees
from lcifr.prove import Answer, Budget, maximize
from lcifr.prove.proof import CellProof, Entry, Leaf, ProvedBound, to_plain, together
from lcifr.regions.region import Cell, Region

TO_THE_END = 1e-10
"""Nothing but the limit ends a proof: it is known to be true, so "close enough" would stop short of it."""


@dataclass(frozen=True)
class Evidence:
    """proofs[person] : plain trees. reached : (people,) whether every direction has a proof, and the bounds that were
    proved, rounded to the safe side, keep every limit.
    """

    proofs: list[list[Any]]
    reached: BoolArray


def prove(
    network: Network | Trees,
    query: Query,
    region: Region,
    *,
    budget: Budget | int | None = None,
    device: str | None = None,
) -> Evidence:
    """Proofs that every direction stays below its limit, for people of whom that is known to be true.

    Known from other bounds, maybe of another engine: the search for a proof may stop short of them. ``reached`` says
    of whom it did not. That a proof shows what the search says of it is left to the checker, which must be loud.
    """
    if isinstance(network, Network) and network.depth == 0 and all(cell.rows is None for cell in region.cells):
        return _closed_form(network, query, region)
    answer = maximize(
        network,
        query.directions,
        region,
        target=query.limit,
        tolerance=min(TO_THE_END, query.precision),
        budget=budget,
        device=device,
        proof=True,
    )
    last = network.layers[-1].weight if isinstance(network, Network) else None
    found = [_of_person(answer, region, person, last) for person in range(region.people)]
    whole = np.array([trees is not None for trees in found], np.bool_)
    return Evidence([trees or [] for trees in found], whole & _reached(answer, query))


def _reached(answer: Answer, query: Query) -> BoolArray:
    return np.asarray((answer.upper < query.limit).all(1))


def _of_person(answer: Answer, region: Region, person: int, last: FloatArray | None) -> list[Any] | None:
    """The trees of all cells of the person, cell by cell; None where a direction has no proof."""
    by_cell: dict[int, list[CellProof]] = {}
    for proofs in answer.proof[person] if answer.proof is not None else (None,):
        if proofs is None:
            return None
        for proof in proofs:
            if not any(proof is other for other in by_cell.setdefault(proof.cell, [])):
                by_cell[proof.cell].append(proof)
    trees: list[Any] = []
    for index in sorted(by_cell):
        order = row_order(region.cells[index])
        found = [tree for proof in by_cell[index] for tree in to_plain(proof)]
        ordered = [_renumbered(tree, order) for tree in found]
        trees += together(ordered if last is None else [_slim(tree, last) for tree in ordered])
    return trees


def _slim(tree: list[Any], last: FloatArray) -> list[Any]:
    """Leave out proved ends of the last hidden layer that the pass of a leaf does not use.

    A line below ReLU with a slope in [0, 1] holds whatever the interval. A line above it with slope s needs the lower
    end only if s > 0, the upper one only if s < 1.
    """
    if len(tree) == 1:  # its ends may serve other directions, too
        return tree
    for kind, *inside in tree:
        if kind == "leaf" and inside[0]:
            ends, ((direction, lines, _),) = inside
            ends[:] = _used(ends, lines, _weights(direction, last) > 0) if direction else ends
    return tree


def _weights(direction: list[Any], last: FloatArray) -> FloatArray:
    dense = np.zeros(len(last))
    for output, value in direction:
        dense[output] = value
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(dense @ last)


def _used(ends: list[Any], lines: list[Any], above: BoolArray) -> Iterator[list[Any]]:
    depth = max(layer for layer, *_ in ends)
    slopes = dict.fromkeys(range(len(above)), 0.0)
    for layer, k, slope, _, beta in lines:
        if layer == depth:
            slopes[k] = slope
            if beta:  # β speaks about the interval itself
                del slopes[k]
    needs = {2 * k + lower: above[k] and (s > 0 if lower else s < 1) for k, s in slopes.items() for lower in (0, 1)}
    for layer, places, *by in ends:
        if kept := [place for place in places if layer != depth or needs.get(place, True)]:
            yield [layer, kept, *by]


def row_order(cell: Cell) -> list[int]:
    """For each linear row of the engine's cell its place in the checker's: one row per matrix row, sorted."""
    if cell.rows is None:
        return []
    rows = [tuple(row) for row in cell.rows.G.tolist()]
    places = {row: place for place, row in enumerate(sorted(set(rows)))}
    return [places[row] for row in rows]


def _renumbered(tree: list[Any], order: list[int]) -> list[Any]:
    """The multipliers of rows under the checker's numbers; rows that it takes as one are added up."""
    for kind, *inside in tree if order else ():
        for *_, rows in (*inside[0], *inside[1]) if kind == "leaf" else ():
            rates: dict[int, float] = {}
            for row, rate in rows:
                rates[order[row]] = rates.get(order[row], 0.0) + rate
            rows[:] = [[row, rate] for row, rate in sorted(rates.items())]
    return tree


def _closed_form(network: Network, query: Query, region: Region) -> Evidence:
    """A linear network on boxes needs no multipliers: the claim says what a limit needs and the checker computes it."""
    proofs = []
    for person in range(region.people):
        claims = [
            ProvedBound(
                tuple(Entry(output, float(value)) for output, value in enumerate(row) if value),
                _just_below(float(limit)),
                (Leaf(),),
            )
            for row, limit in zip(query.directions[person], query.limit[person], strict=True)
        ]
        present = [index for index, cell in enumerate(region.cells) if cell.present[person]]
        proofs.append([tree for index in present for tree in to_plain(CellProof(index, tuple(claims)))])
    answer = maximize(network, query.directions, region, method="bounds")
    return Evidence(proofs, _reached(answer, query))


def _just_below(limit: float) -> float:
    return float(np.nextafter(limit, -np.inf))


def box_question(lower: FloatArray, upper: FloatArray) -> Query:
    """That every coordinate stays inside its box: ±e_j against the ends, which are never reached but by room."""
    people, width = lower.shape
    signs = np.concatenate([np.eye(width), -np.eye(width)])
    limit = np.concatenate([np.nextafter(upper, np.inf), np.nextafter(-lower, np.inf)], axis=1)
    return Query(np.broadcast_to(signs, (people, *signs.shape)), limit)
