"""Bagging: the average of additive models is an additive model, exactly, and its worst case is no worse than theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcifr.learn.boosting.boosting import Bag, average, boost, boost_bags
from lcifr.learn.boosting.losses import Directions
from lcifr.learn.parameters import BoostingSettings
from lcifr.learn.target import EncodedPeople
from lcifr.models.rule import Kind
from tests.learn.boosting.models import random_model
from tests.learn.boosting.reference import FORMULAS, all_scores, encoded

FORMULA = FORMULAS["noise and a free category"]
QUICK: dict[str, Any] = {"rounds": 20, "max_bins": 12, "min_people": 2, "learning_rate": 0.3, "gamma": 0.3}


def cut(people: EncodedPeople, rows: np.ndarray) -> EncodedPeople:
    assert people.label is not None
    return EncodedPeople(people.x[rows], people.region.take(rows), people.label[rows], people.weight[rows])


@pytest.mark.parametrize("outputs", [1, 3])
def test_scores_of_the_average_are_the_mean_of_the_scores(outputs: int) -> None:
    models = [random_model(FORMULA, outputs=outputs, seed=seed, pairs=seed)[0] for seed in range(4)]
    models[1] = replace(models[1], shapes=models[1].shapes[1:])  # whoever lacks a term adds 0
    found = average(models)
    x = np.concatenate([random_model(FORMULA, seed=seed)[1] for seed in range(4)])
    ends = np.concatenate([shape.bins.thresholds for model in models for shape in model.shapes[:1]])
    x = np.concatenate([x, np.repeat(x[:1], 2 * len(ends), axis=0)])
    x[-2 * len(ends) :, 0] = np.concatenate([ends, np.nextafter(ends, np.inf)])  # on either side of every step
    np.testing.assert_allclose(found(x), np.mean([model(x) for model in models], axis=0), rtol=1e-12, atol=1e-12)
    assert [axis.columns.start for shape in found.shapes for axis in shape.bins.axes] == sorted(
        axis.columns.start for shape in found.shapes for axis in shape.bins.axes
    )


@pytest.mark.parametrize("formula", [FORMULA, FORMULAS["several cells"]])
def test_the_worst_case_of_the_average_is_exact_and_at_most_the_mean_of_worst_cases(formula: str) -> None:
    models = [random_model(formula, seed=seed)[0] for seed in range(3)]
    _, x, region = random_model(formula, seed=5)
    found, directions = average(models), Directions(Kind.SIGN, 1).matrix
    largest = found.largest(region, directions)
    for person in range(len(x)):
        scores = all_scores(found, region, person)
        if len(scores):
            np.testing.assert_allclose(largest[person], (scores @ directions.T).max(0), rtol=1e-9)
    mean = np.mean([model.largest(region, directions) for model in models], axis=0)
    assert (largest <= mean + 1e-9).all()
    assert (largest < mean - 1e-3).any()


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_bags_are_boosted_by_themselves_and_averaged(kind: str) -> None:
    encoding, target, people = encoded(120, FORMULA, kind=kind)
    rows = np.arange(120)
    bags = [Bag(cut(people, rows[rows % 3 != k]), cut(people, rows[rows % 3 == k])) for k in range(3)]
    settings = BoostingSettings(**QUICK, bags=3, interactions=2)
    found = boost_bags(encoding, people, bags, target, settings)
    each = [boost(encoding, bag.training, bag.validation, target, settings, divided=people) for bag in bags]
    np.testing.assert_allclose(found.model(people.x), np.mean([one.model(people.x) for one in each], axis=0))
    assert [epoch.number for epoch in found.history] == list(range(sum(len(one.history) for one in each)))
    assert found.checked is bags[0].validation
    # All divide attributes alike, so the average has no more steps than one of them may have.
    assert max(shape.bins.count for shape in found.model.shapes) <= 12


def test_one_bag_is_the_model_itself() -> None:
    encoding, target, people = encoded(80, FORMULA)
    one = boost(encoding, people, people, target, BoostingSettings(**QUICK)).model
    found = boost_bags(encoding, people, [Bag(people, people)], target, BoostingSettings(**QUICK)).model
    np.testing.assert_array_equal(found(people.x), one(people.x))
