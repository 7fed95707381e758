"""Trees as a function: evaluation, exact sums, canonical form, what is cut off and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from lcifr.errors import NetworkError
from lcifr.models.trees import CategoryNode, NumberNode, TreeLeaf, Trees, below, cut_unreachable, preorder
from tests.prove.trees.ensembles import random_case

LOW, HIGH = TreeLeaf((1.0,)), TreeLeaf((2.0,))


def test_thresholds_belong_to_the_first_child():
    trees = Trees.of(1, [0.0], [NumberNode(0, 0.5, LOW, HIGH)])
    points = np.array([[0.5], [np.nextafter(0.5, 1)], [np.nextafter(0.5, 0)]])
    assert trees(points)[:, 0].tolist() == [1.0, 2.0, 1.0]
    strict = Trees.of(1, [0.0], [NumberNode(0, below(0.5), LOW, HIGH)])
    assert strict(points)[:, 0].tolist() == [2.0, 2.0, 1.0]


@pytest.mark.parametrize("seed", range(8))
def test_float_sums_are_within_the_error_of_exact_ones(seed):
    case = random_case(seed)
    points = case.region.sample(20, seed=seed).reshape(-1, 8)
    for point, value, error in zip(points, case.trees(points), case.trees.error(points), strict=True):
        for exact, computed, off in zip(case.trees.exactly(point), value, error, strict=True):
            assert abs(exact - Fraction(float(computed))) <= Fraction(float(off))


def test_scale_and_base_are_exact():
    trees = Trees.of(1, [0.1], [NumberNode(0, 0.0, LOW, HIGH)] * 3, Fraction(1, 3))
    assert trees.exactly([1.0]) == (Fraction(0.1) + 2,)


@pytest.mark.parametrize("seed", range(8))
def test_the_canonical_form_is_the_function(seed):
    """Whoever walks through the JSON ends at the same leaves; equal forms have equal hashes."""
    trees = random_case(seed).trees
    plain = json.loads(trees.to_bytes())
    points = random_case(seed).region.sample(5, seed=1).reshape(-1, 8)
    for point in points:
        sums = [Fraction(0)] * trees.outputs
        for nodes in plain["trees"]:
            for output, value in _walk(nodes, point):
                sums[output] += Fraction(value)
        found = tuple(Fraction(b) + Fraction(*plain["scale"]) * s for b, s in zip(plain["base"], sums, strict=True))
        assert found == trees.exactly(point)
    assert trees == random_case(seed).trees
    assert trees.hash != random_case(seed + 100).trees.hash


def _walk(nodes, point):
    """Preorder: the second child begins where the first subtree has ended."""
    at = 0
    while nodes[at][0] != "leaf":
        kind, column, border = nodes[at]
        first = point[column] <= border if kind == "numeric" else any(point[c] == 1 for c in border)
        at += 1
        if not first:
            open_ = 1
            while open_:
                open_ += 1 if nodes[at][0] != "leaf" else -1
                at += 1
    return nodes[at][1]


def test_what_nobody_can_reach_is_cut_off():
    inner = NumberNode(0, 1.0, LOW, TreeLeaf((9.0,)))
    cut = cut_unreachable(NumberNode(0, 0.5, inner, HIGH))
    assert cut == NumberNode(0, 0.5, LOW, HIGH)
    group = range(1, 4)
    nested = CategoryNode(group, frozenset({1}), CategoryNode(group, frozenset({2, 3}), TreeLeaf((9.0,)), LOW), HIGH)
    assert cut_unreachable(nested) == CategoryNode(group, frozenset({1}), LOW, HIGH)


def test_trees_deeper_than_pythons_stack():
    tree = LOW
    for t in range(5000):
        tree = NumberNode(0, float(t), tree, HIGH)
    assert sum(1 for _ in preorder(tree)) == 10_001
    assert Trees.of(1, [0.0], [tree])([[-1.0], [7.5]])[:, 0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "tree",
    [
        NumberNode(3, 0.0, LOW, HIGH),
        NumberNode(0, np.nan, LOW, HIGH),
        NumberNode(0, 0.0, LOW, TreeLeaf((np.inf,))),
        NumberNode(0, 0.0, LOW, TreeLeaf((1.0, 2.0))),
        TreeLeaf((1e101,)),
    ],
)
def test_what_is_no_tree_is_refused(tree):
    with pytest.raises(NetworkError):
        Trees.of(2, [0.0], [tree])
