"""Pockets planted in generated ensembles are always found; proofs that were tampered with never show too much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcifr.models.trees import CategoryNode, NumberNode, TreeLeaf, TreeNode, Trees
from lcifr.prove import maximize
from lcifr.prove.proof import CellProof, Leaf, Node, NumericSplit
from tests.effort import spread
from tests.prove.trees.ensembles import CHOICES, NUMBERS, WIDTH, Case, random_case, random_tree
from tests.prove.trees.exact_proofs import shown
from tests.prove.trees.oracles import largest_by_cells

GAIN = 50.0
"""More than all other trees together can add."""


def pocket_at(point: np.ndarray) -> TreeNode:
    """A tree that gives the first output more at one point alone: of numbers one float64, of categories one value."""
    node: TreeNode = TreeLeaf((GAIN,))
    for start, count in CHOICES:
        chosen = start + int(point[start : start + count].argmax())
        node = CategoryNode(range(start, start + count), frozenset({chosen}), node, TreeLeaf((0.0,)))
    for column in range(NUMBERS):
        at = float(point[column])
        node = NumberNode(
            column, at, NumberNode(column, float(np.nextafter(at, -np.inf)), TreeLeaf((0.0,)), node), TreeLeaf((0.0,))
        )
    return node


def planted(seed: int) -> tuple[Case, np.ndarray]:
    """A case with a pocket at one point of the first person's region, which it returns too."""
    rng, case = np.random.default_rng(seed), random_case(seed)
    point = case.region.sample(1)[0, 0]
    trees = [random_tree(rng, int(rng.integers(1, 7)), 1) for _ in range(rng.integers(1, 6))]
    made = Trees.of(WIDTH, [0.0], [*trees, pocket_at(point)])
    return replace(case, trees=made, directions=np.ones((len(case.directions), 1, 1))), point


@pytest.mark.parametrize("seed", spread(range(300), quick=10, long=300))
def test_a_pocket_of_one_point_is_found(seed: int) -> None:
    case, point = planted(seed)
    target = np.full((len(case.directions), 1), GAIN / 2)
    answer = maximize(case.trees, case.directions, case.region, target=target, method="branch")
    assert answer.upper[0, 0] >= GAIN / 2
    assert answer.best[0, 0] > GAIN / 2
    np.testing.assert_array_equal(answer.witness[0, 0], point)


def end_of(nodes: tuple[Node, ...], start: int) -> int:
    """Where the subtree of a node, in preorder, ends."""
    waiting, at = 1, start
    while waiting:
        waiting += -1 if isinstance(nodes[at], Leaf) else 1
        at += 1
    return at


def tampered(rng: np.random.Generator, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Another proof of the right form: a split moved, a subtree cut off, or a leaf split at random."""
    at, found = int(rng.integers(len(nodes))), list(nodes)
    here = found[at]
    if isinstance(here, NumericSplit) and rng.random() < 0.6:
        found[at] = replace(here, threshold=float(here.threshold + rng.choice([-1.0, -1e-9, 1e-9, 1.0]) * rng.random()))
    elif isinstance(here, Leaf):
        found[at : at + 1] = [NumericSplit(int(rng.integers(NUMBERS)), float(rng.normal())), Leaf(), Leaf()]
    else:
        found[at : end_of(nodes, at)] = [Leaf()]
    return tuple(found)


@pytest.mark.parametrize("start", spread(range(0, 300, 10), quick=1, long=30))
def test_a_tampered_proof_never_shows_less_than_somebody_reaches(start: int) -> None:
    changed = 0
    for seed in range(start, start + 10):
        case, rng = random_case(seed, people=1), np.random.default_rng(seed)
        answer = maximize(case.trees, case.directions, case.region, method="branch", proof=True)
        truth = largest_by_cells(case.trees, case.region, 0, case.directions[0, 0])
        (proof,) = answer.proof[0][0]  # type: ignore[index]
        (claim,) = proof.claims
        for _ in range(10):
            other = tampered(rng, claim.nodes)
            changed += other != claim.nodes
            for bound in shown(
                case.trees, case.region, 0, CellProof(proof.cell, (replace(claim, nodes=other),))
            ).values():
                assert bound is not None
                assert float(bound) >= truth - 1e-9
    assert changed > 50
