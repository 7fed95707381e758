"""Proofs of generated questions, and the places in them that can be changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from lcifr.check.functions import Direction
from lcifr.models.network import Network
from lcifr.prove.gate import ask, build_question
from lcifr.prove.oracles.enumerate import Enumerate
from lcifr.prove.proof import to_plain
from lcifr.regions.region import Cell, Region
from tests.prove.grown_proofs import grow_proof
from tests.prove.instances import random_instance, wild

SEEDS = 60


@dataclass(frozen=True)
class Case:
    """A proof and what it is about. ``largest`` is the exact maximum, rounded up: the float below it is too small."""

    network: Network
    cell: Cell
    proof: list
    direction: Direction
    upper: float
    largest: float


@cache
def case(seed: int) -> Case:
    """A tight proof about the first cell of a generated instance; every fourth network has numbers that hurt."""
    instance = random_instance(seed, k=1)
    cell = instance.region.cells[0]
    network = wild(np.random.default_rng(seed), instance.network) if seed % 4 == 0 else instance.network
    largest = exactly(network, cell, instance.directions[0])
    proof, _ = grow_proof(network, cell, 0, instance.directions[0], seed, largest + 1e-7, most=20)
    (tree,) = to_plain(proof)
    claim = proof.claims[0]
    return Case(network, cell, tree, tuple(map(tuple, claim.direction)), claim.upper, largest)


def exactly(network: Network, cell: Cell, direction: np.ndarray) -> float:
    region = Region(1, network.inputs, (cell,))
    return float(ask(Enumerate(), build_question(network, direction[None], region)).upper[0, 0])


def places(plain: Any, path: tuple = ()) -> list[tuple]:
    """The path to every number, position and container in a JSON value."""
    found = [path] if path else []
    inside = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, value in inside:
        found += places(value, (*path, key))
    return found


def at(plain: Any, path: tuple) -> Any:
    for key in path:
        plain = plain[key]
    return plain
