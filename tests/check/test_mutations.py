"""Proofs that were tampered with: whenever exact enumeration says that a claim is false, the checker must reject it."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.check.exact import Rejected
from lcifr.check.functions import read_network
from lcifr.check.proof import Bounds, Problem, examine, follows
from lcifr.models.network import Network
from lcifr.prove.oracles.enumerate import plain_cell
from lcifr.regions.region import Cell
from tests.check.mutations import SEEDS, Case, at, case, exactly, places
from tests.effort import sampled


def findings(one: Case, proof: Any) -> Bounds:
    """What the checker confirms; nothing, if it rejects the whole."""
    try:
        problem = Problem(read_network(one.network.rows()), plain_cell(one.cell, 0))
        return examine(problem, proof)
    except Rejected:
        return {}


def assert_true(network: Network, cell: Cell, found: Bounds) -> None:
    """No bound is below the exact maximum, which enumeration rounds up: the float below that is too small."""
    for direction, bound in found.items():
        dense = np.array([dict(direction).get(output, 0.0) for output in range(network.outputs)])
        assert bound > np.nextafter(exactly(network, cell, dense), -np.inf) or np.isneginf(
            exactly(network, cell, dense)
        )


def mutated(proof: list, rng: np.random.Generator) -> list:
    """One to three changes: numbers, positions, nodes exchanged, removed or repeated."""
    result = copy.deepcopy(proof)
    for _ in range(rng.integers(1, 4)):
        paths = places(result)
        if not paths:
            return result
        path = paths[rng.integers(len(paths))]
        parent, key, value = at(result, path[:-1]), path[-1], at(result, path)
        if isinstance(value, float):
            changes = [-value, 0.0, value / 2, value * 1.5, value + rng.normal(), 1.0, math.nextafter(value, -9e9)]
            parent[key] = float(changes[rng.integers(len(changes))])
        elif isinstance(value, int):
            parent[key] = int(rng.integers(4))
        elif isinstance(value, str):
            parent[key] = ("relu", "choice", "numeric", "leaf")[rng.integers(4)]
        elif isinstance(value, list) and len(value) > 1 and rng.random() < 0.7:
            one, other = rng.integers(len(value), size=2)
            value[one], value[other] = value[other], value[one]
        elif isinstance(parent, list):
            parent.insert(int(key), copy.deepcopy(value)) if rng.random() < 0.5 else parent.pop(key)
        else:
            del parent[key]
    return result


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_proof_itself_is_confirmed_tight_and_survives_writing(seed: int) -> None:
    one = case(seed)
    assert findings(one, one.proof)
    assert findings(one, json.loads(json.dumps(one.proof))) == findings(one, one.proof)
    ((direction, bound),) = findings(one, one.proof).items()
    assert direction == one.direction
    assert bound <= one.upper  # nothing is lost from the engine's arithmetic to the checker's
    assert bound > math.nextafter(one.largest, -math.inf) or not direction


@sampled(1500)
@given(st.integers(0, SEEDS - 1), st.integers(0, 2**32))
def test_a_false_claim_is_never_confirmed(seed: int, change: int) -> None:
    one = case(seed)
    if math.isinf(one.largest):
        return
    proof = mutated(one.proof, np.random.default_rng(change))
    below = Fraction(math.nextafter(one.largest, -math.inf))
    assert not follows(findings(one, proof), one.direction, below)


@sampled(800)
@given(st.integers(0, SEEDS - 1), st.integers(0, 2**32))
def test_whatever_is_confirmed_after_a_change_is_true(seed: int, change: int) -> None:
    one = case(seed)
    assert_true(one.network, one.cell, findings(one, mutated(one.proof, np.random.default_rng(change))))


@sampled(300)
@given(st.integers(0, SEEDS - 1), st.integers(0, 2**32), st.booleans())
def test_a_node_removed_or_repeated_is_rejected(seed: int, where: int, repeat: bool) -> None:
    one = case(seed)
    proof = copy.deepcopy(one.proof)
    place = where % len(proof)
    proof[place : place + 1] = [proof[place]] * (2 if repeat else 0)
    assert not findings(one, proof)


@sampled(300)
@given(st.integers(0, SEEDS - 1), st.integers(0, 2**32))
def test_a_proof_about_another_person_shows_nothing_false(seed: int, other: int) -> None:
    one = case(seed)
    rng = np.random.default_rng(other)
    moved = Cell(
        one.cell.numeric,
        one.cell.lower + rng.normal(size=one.cell.lower.shape) * 0.1,
        one.cell.upper + 0.1 + rng.normal(size=one.cell.upper.shape) * 0.1,
        one.cell.choices,
        one.cell.rows,
        one.cell.present,
    )
    neighbour = replace(one, cell=moved)
    assert_true(one.network, moved, findings(neighbour, one.proof))
