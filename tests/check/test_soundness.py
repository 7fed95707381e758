"""Proofs that nobody meant: trees, passes, ends and rows at random. What the checker makes of them is never false."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lcifr.check.functions import RationalCell, read_network
from lcifr.check.proof import Problem, examine, follows
from lcifr.prove.gate import ask, build_question
from lcifr.prove.oracles.enumerate import Enumerate, plain_cell
from tests.effort import sampled
from tests.prove.instances import Instance, random_instance, wild

SEEDS = 24


@cache
def truth(seed: int) -> tuple[Instance, Any, np.ndarray, np.ndarray]:
    """An instance, its network (every fourth has numbers that hurt), two directions and their exact maxima."""
    one = random_instance(seed, k=1)
    network = wild(np.random.default_rng(seed), one.network) if seed % 4 == 0 else one.network
    directions = np.concatenate([one.directions[:1], -one.directions[:1]])
    question = build_question(network, directions, type(one.region)(1, network.inputs, one.region.cells[:1]))
    return one, network, directions, ask(Enumerate(), question).upper[0]


class Adversary:
    """Writes proofs at random: everything has the right shape, no number means anything."""

    def __init__(self, rng: np.random.Generator, network: Any, cell: Any, directions: np.ndarray) -> None:
        self.rng, self.network, self.cell = rng, network, cell
        self.widths = [len(layer.bias) for layer in network.layers]
        self.directions = [[[j, float(v)] for j, v in enumerate(row) if v] for row in directions]

    def number(self) -> float:
        scale = self.rng.choice([1.0, 1.0, 1.0, 1e-9, 1e9, 0.0])
        value = self.rng.choice([self.rng.normal() * scale, 0.0, 1.0, -1.0, 0.5, 5e-324])
        return float(value)

    def by(self) -> list[Any]:
        """Lines and rows; some of neurons and rows that are not there."""
        lines = [
            [layer, k, *(self.number() for _ in range(3))]
            for layer, width in enumerate(self.widths)
            for k in range(-1, width + 1)
            if self.rng.random() < 0.6
        ]
        rows = [[row, self.number()] for row in range(-1, 4) if self.rng.random() < 0.5]
        return [lines, rows if self.rng.random() < 0.7 else []]

    def leaf(self) -> list[Any]:
        ends = []
        for layer, width in enumerate(self.widths[:-1]):
            for _ in range(2):
                places = [place for place in range(2 * width) if self.rng.random() < 0.3]
                ends += [[layer, places, *self.by()]] if self.rng.random() < 0.7 else []
        passes = [[direction, *self.by()] for direction in (*self.directions, []) if self.rng.random() < 0.9]
        return ["leaf", ends, passes]

    def tree(self, most: int) -> list[Any]:
        if most <= 0 or self.rng.random() < 0.2:
            return [self.leaf()]
        there = {"relu": len(self.widths) > 1, "numeric": len(self.cell.numeric), "choice": len(self.cell.choices)}
        kind = str(self.rng.choice([kind for kind, count in there.items() if count]))
        if kind == "relu":
            layer = int(self.rng.integers(len(self.widths) - 1))
            split = [kind, layer, int(self.rng.integers(self.widths[layer]))]
        elif kind == "choice":
            columns = self.rng.integers(self.network.inputs, size=self.rng.integers(4))
            choice = self.cell.choices[self.rng.integers(len(self.cell.choices))]
            split = [kind, int(choice.columns[0]), columns.tolist()]
        else:
            split = ["numeric", int(self.rng.choice(self.cell.numeric)), self.number()]
        return [split, *self.tree(most - 1), *self.tree(most - 1)]


@sampled(150)
@given(st.integers(0, SEEDS - 1), st.integers(0, 2**32))
def test_no_numbers_prove_something_false(seed: int, choice: int) -> None:
    one, network, directions, largest = truth(seed)
    cell = one.region.cells[0]
    problem = Problem(read_network(network.rows()), plain_cell(cell, 0))
    adversary = Adversary(np.random.default_rng(choice), network, cell, directions)
    found = examine(problem, adversary.tree(3))
    for direction, exact in zip(directions, largest, strict=True):
        wanted = tuple((j, float(v)) for j, v in enumerate(direction) if v)
        if np.isfinite(exact):
            assert not follows(found, wanted, float(np.nextafter(exact, -np.inf)))


def test_the_adversary_is_one() -> None:
    """Its proofs are read, some show something, some of that is not far from the truth."""
    shown, tight, everything = 0, 0, 0
    for seed in range(SEEDS):
        one, network, directions, largest = truth(seed)
        problem = Problem(read_network(network.rows()), plain_cell(one.region.cells[0], 0))
        adversary = Adversary(np.random.default_rng(seed), network, one.region.cells[0], directions)
        for _ in range(5):
            found = examine(problem, adversary.tree(2))
            wanted = tuple((j, float(v)) for j, v in enumerate(directions[0]) if v)
            everything += 1
            shown += wanted in found
            if wanted in found and np.isfinite(largest[0]):
                tight += found[wanted] <= largest[0] + 1.0 + abs(largest[0])
    assert shown > everything / 4
    assert tight > 2


def narrower(cell: RationalCell, rng: np.random.Generator) -> RationalCell:
    """A cell inside: some numbers stand still, some have less room, some categories are gone."""
    groups = {}
    for (kind, column), corners in cell.groups.items():
        if kind == "choice":
            kept = [corner for corner in corners if rng.random() < 0.7]
            groups[kind, column] = kept or list(corners[:1])
            continue
        low, high = sorted(float(np.clip(v, corners[0][1], corners[1][1])) for v in rng.normal(size=2))
        groups[kind, column] = [(column, low), (column, low if rng.random() < 0.5 else high)]
    return RationalCell(groups, cell.rows)


@sampled(150)
@given(st.integers(0, SEEDS - 1), st.integers(0, 2**32))
def test_a_proof_about_a_cell_is_one_about_every_cell_inside(seed: int, choice: int) -> None:
    """Producers prove boxes of reals, the checker derives whole numbers: a split may lie where nothing moves now."""
    one, network, directions, _ = truth(seed)
    rng, layers = np.random.default_rng(choice), read_network(network.rows())
    cell = plain_cell(one.region.cells[0], 0)
    nodes = Adversary(rng, network, one.region.cells[0], directions).tree(3)
    about = examine(Problem(layers, cell), nodes)
    inside = examine(Problem(layers, narrower(cell, rng)), nodes)
    for direction, bound in about.items():
        assert follows(inside, direction, bound)
