"""Two copies of a network, and crossings: what they compute is what two plain evaluations give."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.models.network import crossings, merge, scores_of
from lcifr.models.rule import Rule
from tests.prove.instances import random_network

OWN, OTHERS, WIDTH = np.array([0, 1, 3]), np.array([0, 2, 4]), 5


@pytest.mark.parametrize("sizes", [[3, 1], [3, 4, 1], [3, 4, 4, 3]])
def test_copies_give_the_outputs_of_both_people(sizes: list[int]):
    rng = np.random.default_rng(len(sizes))
    network = random_network(rng, sizes)
    pairs = rng.normal(size=(50, WIDTH))
    both = network.twice(OWN, OTHERS, WIDTH)(pairs)
    alone = np.concatenate([network(pairs[:, OWN]), network(pairs[:, OTHERS])], axis=1)
    assert np.allclose(both, alone, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("middle", [0.0, 0.375])
def test_a_crossing_is_the_smaller_of_the_two_distances(middle: float):
    rng = np.random.default_rng(3)
    network = random_network(rng, [3, 4, 1])
    pairs = rng.normal(size=(200, WIDTH))
    product = merge(network.twice(OWN, OTHERS, WIDTH), crossings(np.ones((1, 1)), middle))
    s, other = network(pairs[:, OWN])[:, 0] - middle, network(pairs[:, OTHERS])[:, 0] - middle
    expected = np.stack([np.minimum(s, -other), np.minimum(-s, other)], axis=1)
    assert np.allclose(product(pairs), expected, rtol=1e-12, atol=1e-12)


def test_decisions_of_different_groups_always_cross_in_some_score():
    rng = np.random.default_rng(4)
    rule = Rule.of(4, groups=[[0, 2]])
    here, there = rng.normal(size=(2, 500, 4))
    group = rule.group_of
    differ = group[rule.decide(here)] != group[rule.decide(there)]
    found = crossings(scores_of(rule))(np.concatenate([here, there], axis=1))
    assert differ.sum() > 100
    assert (found.max(1)[differ] >= 0).all()
