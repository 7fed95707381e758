"""Counterexamples of DL2 are similar people: φ holds on the decoded pair, in the paper and in generated formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from lcifr.data import Encoding, Individuals
from lcifr.datasets import Dataset
from lcifr.models.network import Network
from lcifr.phi.formula import Or
from lcifr.phi.similarity import Similarity
from tests.learn.similar_people import similar_people
from tests.phi.worlds import World, worlds

PAPER = [
    "german/noise",
    "german/cat",
    "german/cat_noise",
    "german/attribute",
    "adult/cat_noise",
    "adult/attribute",
    "compas/cat_noise",
    "crime/cat_noise",
    "law_school/cat_noise",
    "law_school/attribute",
    "law_school/quantiles",
]


def random_network(features: int, seed: int = 0) -> Network:
    draw = np.random.default_rng(seed)
    return Network.from_arrays(
        [
            (draw.normal(size=(8, features)) / features**0.5, draw.normal(size=8)),
            (draw.normal(size=(4, 8)), draw.normal(size=4)),
        ]
    )


@pytest.mark.parametrize("name", PAPER)
def test_found_people_are_similar(name: str, dataset: Callable[..., Dataset]) -> None:
    data = dataset(name.split("/")[0])
    encoding = Encoding.fit(data.train.X, data.schema)
    similarity = Similarity.ready(name, data.schema, encoding)
    people = Individuals.read(data.test.X[:60], data.schema)
    region, x = similarity.region(people), encoding.encode(people)
    network = random_network(x.shape[1])
    points = similar_people(network, x, region)
    found = ~np.isnan(points[:, 0])
    assert found[region.nonempty].all()
    decoded = region.take(np.flatnonzero(found)).decode(points[found])
    assert decoded.confirmed.all()
    held = similarity.holds(people.take(found), decoded.individuals)
    np.testing.assert_array_equal(held, decoded.confirmed)
    _is_farther_than_chance(network, x[found], points[found], region.take(np.flatnonzero(found)))


def _is_farther_than_chance(network: Network, x: np.ndarray, points: np.ndarray, region: Any) -> None:
    """An attack that found nothing better than a random similar person would be no attack."""
    chance = region.sample(1, seed=1)[:, 0]
    z = network(x)
    reached = np.abs(network(points) - z).max(1)
    random = np.abs(network(np.nan_to_num(chance)) - z).max(1)
    assert reached.mean() >= random.mean() - 1e-9


@settings(deadline=None, max_examples=40)
@given(world=worlds(pairs=4))
def test_generated_formulas_too(world: World) -> None:
    region = world.region()
    assume(region.nonempty.any())
    x = world.encoding.encode(world.tables[0])
    points = similar_people(random_network(x.shape[1]), x, region)
    found = np.flatnonzero(~np.isnan(points[:, 0]))
    assume(len(found))
    assert region.take(found).contains(points[found], tolerance=1e-4).all()
    decoded = region.take(found).decode(points[found])
    people = Individuals.read(world.tables[0], world.schema).take(found)
    np.testing.assert_array_equal(world.similarity.holds(people, decoded.individuals), decoded.confirmed)


def test_every_alternative_of_an_or_is_searched() -> None:
    from tests.learn.populations import SCHEMA, population

    X, _ = population(200)
    encoding = Encoding.fit(X, SCHEMA)
    similarity = Similarity("same(all except sex) or same(all except job)", SCHEMA, encoding)
    assert isinstance(similarity.formula, Or)
    region, x = similarity.region(X), encoding.encode(X)
    network = random_network(x.shape[1])
    moved = np.zeros(x.shape[1])
    for seed in range(3):
        points = similar_people(network, x, region, seed=seed)
        assert region.decode(points).confirmed.all()
        moved += np.abs(points - x).sum(0)
    for attribute in ("sex", "job"):
        assert moved[encoding.columns(attribute)].sum() > 0
