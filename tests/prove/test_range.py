"""Underflow and overflow: numbers from 1e-300 to 1e100, and no method below what exact arithmetic reaches."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lcifr.errors import NetworkError
from lcifr.models.network import Network, compose
from lcifr.prove import maximize, radius
from lcifr.prove.gate import build_question
from lcifr.regions.region import Region
from tests.effort import spread
from tests.prove.confirming import refusals
from tests.prove.extremes import KINDS, boxes, reached, sizes_of, some_points
from tests.prove.instances import random_network

FLOATS = ["bounds", "interval", "branch", "cascade"]
METHODS = [*FLOATS, "lp", "enumerate"]
PEOPLE = 3


def build(seed: int, kind: str) -> tuple[np.random.Generator, Network | None]:
    """The network of a seed, or None where it is refused: then a layer is named."""
    rng = np.random.default_rng(seed)
    layers = KINDS[kind](rng, sizes_of(rng))
    try:
        return rng, Network.from_arrays(layers)
    except NetworkError as refused:
        if not str(refused).startswith("layer "):
            raise
        return rng, None


def no_bound_is_below(seed: int, kind: str, method: str) -> bool:
    """Whether there was anything to look at."""
    rng, network = build(seed, kind)
    if network is None:
        return False
    region = boxes(rng, PEOPLE, network.inputs)
    directions = np.vstack([np.eye(network.outputs)[0], -np.eye(network.outputs)[0], rng.normal(size=network.outputs)])
    directions *= 10.0 ** rng.choice([0, 0, -100, 30], size=(3, 1))
    answer = maximize(network, directions, region, method=method, budget=20)
    assert not np.isnan(answer.upper).any()
    for person in range(PEOPLE):
        points = some_points(rng, region, person)
        for upper, true in zip(answer.upper[person].tolist(), reached(network, directions, points), strict=True):
            assert upper == np.inf or true <= Fraction(upper), (seed, kind, method)
    return True


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_exact_value_exceeds_a_bound(kind: str, method: str) -> None:
    looked = [no_bound_is_below(seed, kind, method) for seed in range(50 if method in FLOATS else 10)]
    assert sum(looked) >= 3  # the others are refused


@pytest.mark.parametrize("part", spread(range(20), quick=0, long=6))
def test_no_exact_value_exceeds_a_bound_in_many_networks(part: int) -> None:
    looked = 0
    for seed in range(1000 + 500 * part, 1500 + 500 * part):
        looked += no_bound_is_below(seed, list(KINDS)[seed % 2], FLOATS[seed // 2 % len(FLOATS)])
    assert looked > 100


def chain(*weights: float, bias: float = 0.0) -> Network:
    """One neuron after the other."""
    layers = [([[weight]], [0.0]) for weight in weights]
    return Network.from_arrays([*layers[:-1], (layers[-1][0], [bias])])


@pytest.mark.parametrize(
    ("weights", "layer"),
    [
        ((1e99, 1e99, 1e-200, 1e-200), 1),  # on the way back 1e-400 is 0
        ((1e-200, 1e-200, 1e99, 1e99), 3),
        ((1e-300, 1e99, 1e99, 1e99, 1e99), 2),  # on the way back 1e396 is infinite
        ((1.0, 1e100), 1),
    ],
)
def test_products_that_leave_the_range_are_refused_with_the_layer(weights: tuple[float, ...], layer: int) -> None:
    with pytest.raises(NetworkError, match=f"^layer {layer}: the products of weights"):
        chain(*weights)


def test_a_merger_that_leaves_the_range_is_refused_with_the_layer() -> None:
    encoder, classifier = chain(1e60), chain(1e-20, 1e60)
    with pytest.raises(NetworkError, match="as one network: layer 1: the products of weights"):
        compose(encoder, classifier)
    with pytest.raises(NetworkError, match="as one network: layer 0 holds"):
        compose(encoder, chain(1e60))


def test_small_numbers_are_no_reason_to_refuse_and_cost_nothing() -> None:
    """Weight decay in float32 leaves 1e-40 and less, dead neurons are exactly 0; bounds stay as tight."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        network = random_network(rng, [3, *rng.integers(1, 60, size=rng.integers(0, 5)).tolist(), 2])
        faded = Network.from_arrays(
            (np.where(rng.random(layer.weight.shape) < 0.3, layer.weight * decay, layer.weight), layer.bias)
            for layer, decay in zip(
                network.layers, rng.choice([1e-40, 1e-45, 1e-310, 0.0], len(network.layers)), strict=True
            )
        )
        region = Region.from_arrays(-np.ones((1, 3)), np.ones((1, 3)))
        for one in (network, faded):
            gone = Network.from_arrays(
                (np.where(np.abs(w := layer.weight) < 1e-30, 0.0, w), layer.bias) for layer in one.layers
            )
            upper, without = (maximize(each, np.eye(2), region, method="interval").upper for each in (one, gone))
            assert np.allclose(upper, without, rtol=1e-9, atol=1e-30)


@pytest.mark.parametrize("method", ["bounds", "branch", "interval"])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_beyond_what_an_input_may_be_nothing_is_bounded(depth: int, method: str) -> None:
    network = chain(*[1e-30] * (depth + 1), bias=-1.0)
    far = np.array([[1e150], [1e90]])
    answer = maximize(network, [[1.0], [-1.0]], Region.from_arrays(-far, far), method=method, budget=5)
    assert np.isposinf(answer.upper[0]).all()
    assert np.isfinite(answer.upper[1]).all()
    found = radius(network, far, Region.from_arrays(-far, far), method=method, budget=5)
    assert np.isposinf(found.radius[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e101])
def test_directions_that_leave_the_range_are_refused(bad: float) -> None:
    with pytest.raises(NetworkError, match="directions hold"):
        maximize(chain(1.0), [[bad]], Region.from_arrays([[0.0]], [[1.0]]))


@pytest.mark.parametrize("seed", range(20))
def test_the_exact_checker_confirms_every_proof(seed: int) -> None:
    rng, network = build(seed, "that come back")
    if network is None:
        pytest.skip("refused")
    region, directions = (
        boxes(rng, PEOPLE, network.inputs),
        np.vstack([np.eye(network.outputs), -np.eye(network.outputs)]),
    )
    question = build_question(network, directions, region, proof=True)
    answer = maximize(network, directions, region, method="branch", proof=True, budget=20)
    refused = refusals(network, question.directions, region, answer)
    assert all(np.isposinf(answer.upper[one.person, one.direction]) for one in refused)  # nothing is claimed there
