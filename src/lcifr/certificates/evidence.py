"""What was proved of whom? Proofs in the shape the exact checker wants: only what the final inequality needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcifr.certificates.decision import Asked, BoolArray, FloatArray
from lcifr.network import Network
from lcifr.prove import Answer, Budget, maximize
from lcifr.prove.proof import CellProof, Claim, Entry, Leaf, Multipliers, to_plain
from lcifr.similarity.region import Cell, Region

TO_THE_END = 1e-10
"""Nothing but the limit ends a proof: it is known to be true, so "close enough" would stop short of it."""


@dataclass(frozen=True)
class Evidence:
    """proofs[person] : plain proofs, one per cell. word[person] : "" where every direction has a proof, else whose word
    it rests on."""

    proofs: list[list[dict[str, Any]]]
    word: list[str]


def prove(
    network: Network,
    asked: Asked,
    region: Region,
    *,
    budget: Budget | int | None = None,
    device: str | None = None,
) -> Evidence:
    """Proofs that every direction stays below its limit, for people of whom that is known to be true."""
    if network.depth == 0:
        return _closed_form(asked, region)
    answer = maximize(
        network,
        asked.directions,
        region,
        target=asked.limit,
        tolerance=TO_THE_END,
        budget=budget,
        device=device,
        proof=True,
    )
    last = network.layers[-1].weight
    found = [_of_person(answer, asked, region, person, last) for person in range(region.people)]
    return Evidence([proofs for proofs, _ in found], [word for _, word in found])


def _of_person(
    answer: Answer, asked: Asked, region: Region, person: int, last: FloatArray
) -> tuple[list[dict[str, Any]], str]:
    """One proof per cell of the person, the claims of all directions together."""
    by_cell: dict[int, list[CellProof]] = {}
    word = ""
    for direction in range(asked.limit.shape[1]):
        proofs: Sequence[CellProof] | None = answer.proof[person][direction] if answer.proof is not None else None
        if proofs is None:
            word = answer.methods[answer.method[person, direction]]
        for proof in proofs or ():
            if not any(proof is other for other in by_cell.setdefault(proof.cell, [])):
                by_cell[proof.cell].append(proof)
    plain: list[dict[str, Any]] = []
    for index in sorted(by_cell):
        order = row_order(region.cells[index])
        plain += _together([_renumbered(to_plain(proof), order) for proof in by_cell[index]])
    for claim in (claim for proof in plain for claim in proof["claims"]):
        _slim(claim, last)
    return plain, word


def _slim(claim: dict[str, Any], last: FloatArray) -> None:
    """Leave out proved ends of the last hidden layer that the pass of a leaf does not use.

    A line below ReLU holds whatever the interval. A line above it with slope s needs the lower end only if s > 0, the
    upper one only if s < 1.
    """
    direction = np.zeros(len(last))
    for output, value in claim["direction"]:
        direction[output] = float.fromhex(value)
    with np.errstate(over="ignore", invalid="ignore"):
        above = direction @ last > 0
    for node in claim["nodes"]:
        by, bounds = node.get("leaf"), node.get("bounds", {})
        if by and bounds.get("neurons"):
            bounds["neurons"] = list(_used(bounds["neurons"], by, above))


def _used(neurons: list[Any], by: dict[str, Any], above: BoolArray) -> Iterator[list[Any]]:
    depth = max(item[0] for item in neurons)
    slopes = {k: float.fromhex(s) for layer, k, s in by.get("slopes", ()) if layer == depth}
    for layer, k, _ in by.get("beta", ()):  # β speaks about the interval itself
        if layer == depth:
            slopes.pop(k, None)
    for layer, side, places, more in neurons:
        kept = places
        if layer == depth:
            needs = {k: above[k] and (s > 0 if side == "lower" else s < 1) for k, s in slopes.items()}
            kept = [k for k in places if needs.get(k, True)]
        if kept:
            yield [layer, side, kept, more]


def _together(proofs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One proof for all claims that rest on the same bounds, so that these are written and confirmed once."""
    by_bounds: dict[str, dict[str, Any]] = {}
    for proof in proofs:
        for claim in proof["claims"]:
            bounds, first = proof.get("bounds"), claim["nodes"][0]
            if not bounds and len(claim["nodes"]) == 1:
                bounds = first.pop("bounds", None)
            kept = {"direction": claim["direction"], "nodes": claim["nodes"]}
            fresh = {"cell": proof["cell"], **({"bounds": bounds} if bounds else {}), "claims": []}
            by_bounds.setdefault(json.dumps(bounds), fresh)["claims"].append(kept)
    return list(by_bounds.values())


def row_order(cell: Cell) -> list[int]:
    """For each linear row of the engine's cell its place in the checker's: one row per matrix row, sorted."""
    if cell.rows is None:
        return []
    rows = [tuple(row) for row in cell.rows.G.tolist()]
    places = {row: place for place, row in enumerate(sorted(set(rows)))}
    return [places[row] for row in rows]


def _renumbered(plain: Any, order: list[int]) -> Any:
    """The multipliers of rows under the checker's numbers; rows that it takes as one are added up."""
    if not order:
        return plain
    if isinstance(plain, list):
        return [_renumbered(item, order) for item in plain]
    if not isinstance(plain, dict):
        return plain
    result = {key: _renumbered(value, order) for key, value in plain.items() if key != "rows"}
    if "rows" in plain:
        rates: dict[int, float] = {}
        for row, rate in plain["rows"]:
            rates[order[row]] = rates.get(order[row], 0.0) + float.fromhex(rate)
        result["rows"] = [[row, rate.hex()] for row, rate in sorted(rates.items())]
    return result


def _closed_form(asked: Asked, region: Region) -> Evidence:
    """A linear network needs no multipliers: the claim says what a person's limit needs and the checker computes it."""
    proofs = []
    for person in range(region.people):
        claims = [
            Claim(
                tuple(Entry(output, float(value)) for output, value in enumerate(row) if value),
                _just_below(float(limit)),
                (Leaf(Multipliers()),),
            )
            for row, limit in zip(asked.directions[person], asked.limit[person], strict=True)
        ]
        present = [index for index, cell in enumerate(region.cells) if cell.present[person]]
        proofs.append([to_plain(CellProof(index, tuple(claims))) for index in present])
    return Evidence(proofs, [""] * region.people)


def _just_below(limit: float) -> float:
    return float(np.nextafter(limit, -np.inf))


def box_question(lower: FloatArray, upper: FloatArray) -> Asked:
    """That every coordinate stays inside its box: ±e_j against the ends, which are never reached but by room."""
    people, width = lower.shape
    signs = np.concatenate([np.eye(width), -np.eye(width)])
    limit = np.concatenate([np.nextafter(upper, np.inf), np.nextafter(-lower, np.inf)], axis=1)
    return Asked(np.broadcast_to(signs, (people, *signs.shape)), limit)
