"""Deeper trees: leaves against enumeration, the loss at every tree's worst leaf, and the model as proofs take it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcifr.errors import LearningError
from lcifr.learn.boosting.boosting import Boosted, average, boost
from lcifr.learn.boosting.losses import Directions
from lcifr.learn.parameters import BoostingSettings
from lcifr.learn.target import EncodedPeople, Target
from lcifr.models.additive import AdditiveModel
from lcifr.models.trees import as_trees
from tests.learn.boosting.reference import FORMULAS, encoded, slow_loss

QUICK: dict[str, Any] = {"rounds": 8, "max_bins": 12, "min_people": 2, "learning_rate": 0.3, "gamma": 1.0, "depth": 3}


def deep(
    formula: str, people: int = 60, *, kind: str = "binary", **options: Any
) -> tuple[Boosted, EncodedPeople, Target]:
    encoding, target, known = encoded(people, formula, kind=kind)
    return boost(encoding, known, known, target, BoostingSettings(**{**QUICK, **options})), known, target


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_the_training_loss_is_that_of_every_trees_worst_reachable_leaf(formula: str, kind: str) -> None:
    found, people, target = deep(formula, 20, kind=kind, rounds=2, max_bins=6)
    assert found.model.trees
    losses = [epoch.loss for epoch in found.history]
    assert losses == sorted(losses, reverse=True)
    model = found.model if kind != "number" else in_standard_units(found.model, target)
    assert slow_loss(target, model, people, 1.0) == pytest.approx(losses[-1], rel=1e-7)


def in_standard_units(model: AdditiveModel, target: Target) -> AdditiveModel:
    shapes, pairs, trees = (
        tuple(replace(term, values=term.values / target.sd) for term in terms)
        for terms in (model.shapes, model.pairs, model.trees)
    )
    return AdditiveModel((model.base - target.mean) / target.sd, shapes, model.features, pairs, trees)


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_leaves_are_reached_by_somebody_drawn_and_by_nobody_else(formula: str) -> None:
    found, people, _ = deep(formula)
    for tree in found.model.trees:
        inside = np.array([member.any(1) for member in tree.bins.members])
        assert inside.all()  # no leaf is empty
        reached = np.zeros((len(people.x), tree.bins.count), np.bool_)
        for cell in people.region.cells:
            reached |= tree.bins.reached(cell) & cell.present[:, None]
        for person in range(len(people.x)):
            others = people.region.take([person]).sample(200, seed=person)[0]
            drawn = np.unique(tree.bins.of_points(others)) if len(others) else []
            assert reached[person][drawn].all()


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_leaves_are_those_that_hold_a_reachable_bin_of_every_attribute(formula: str) -> None:
    found, people, _ = deep(formula)
    for tree in found.model.trees:
        members = tree.bins.members
        for cell in people.region.cells:
            allowed = [axis.reached(cell) for axis in tree.bins.axes]
            for person, leaf in np.ndindex(len(people.x), tree.bins.count):
                touched = all((one[person] & member[leaf]).any() for one, member in zip(allowed, members, strict=True))
                assert tree.bins.reached(cell)[person, leaf] == touched
        for person, leaf in enumerate(tree.bins.of_points(people.x)):
            own = [axis.of_points(people.x[person : person + 1])[0] for axis in tree.bins.axes]
            assert all(member[leaf, one] for member, one in zip(members, own, strict=True))


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("kind", ["binary", "classes"])
def test_nobody_drawn_from_a_region_scores_more_than_the_bound(formula: str, kind: str) -> None:
    found, people, target = deep(formula, kind=kind)
    directions = Directions(target.kind, target.outputs).matrix
    largest = found.model.largest(people.region, directions)
    for person in range(len(people.x)):
        others = people.region.take([person]).sample(100, seed=person)[0]
        if len(others):
            assert ((found.model(others) @ directions.T).max(0) <= largest[person]).all()


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_proofs_take_the_same_function(kind: str) -> None:
    found, people, _ = deep(FORMULAS["several cells"], kind=kind, gamma=0.2)
    trees = as_trees(found.model)
    ends = [
        t
        for tree in found.model.trees
        for axis in tree.bins.axes[:1]
        if axis.thresholds is not None
        for t in axis.thresholds
    ]
    x = np.repeat(people.x[:1], 2 * len(ends) + 1, axis=0)
    x[: len(ends), 0], x[len(ends) : 2 * len(ends), 0] = ends, np.nextafter(ends, np.inf)
    for points in (people.x, x):
        np.testing.assert_allclose(trees(points), found.model(points), rtol=1e-9, atol=1e-12)


def test_trees_learn_what_no_pair_can() -> None:
    """A label by the sign of a product of three: every pair tells nothing."""
    encoding, target, people = encoded(400, FORMULAS["noise and a free category"])
    male = people.x[:, encoding.columns("sex").start] > 0.5
    label = (people.x[:, 0] > 0) ^ (people.x[:, 1] > 0) ^ male
    people = replace(people, label=label.astype(np.float64))
    right = {}
    for depth in (1, 3):
        settings = BoostingSettings(**{**QUICK, "rounds": 40, "gamma": 0.0, "depth": depth, "min_people": 5})
        model = boost(encoding, people, people, target, settings).model
        right[depth] = ((model(people.x)[:, 0] > 0) == label).mean()
    assert right[3] > 0.9 > 0.7 > right[1]


def test_more_gamma_certifies_more() -> None:
    shares = []
    for gamma in (0.0, 5.0):
        found, people, target = deep(FORMULAS["noise and a free category"], 150, gamma=gamma, rounds=20)
        largest = found.model.largest(people.region, Directions(target.kind, 1).matrix)
        shares.append(float((largest.min(1) < 0).mean()))
    assert shares[1] > shares[0]


def test_the_best_round_is_kept_with_its_trees_alone() -> None:
    encoding, target, people = encoded(80, FORMULAS["noise and a free category"])
    held = encoded(60, FORMULAS["noise and a free category"], seed=4)[2]
    settings = BoostingSettings(**{**QUICK, "rounds": 30, "patience": 5, "gamma": 0.0})
    found = boost(encoding, people, held, target, settings)
    losses = [epoch.validation.loss for epoch in found.history]
    assert losses[-1] > min(losses)  # it went on, and came back
    assert slow_loss(target, found.model, held, 0.0) == pytest.approx(min(losses), abs=1e-4)


def test_every_leaf_holds_as_many_people_as_asked_for() -> None:
    found, people, _ = deep(FORMULAS["nobody else"], 200, min_people=15, gamma=0.0)
    assert found.model.trees
    for tree in found.model.trees:
        assert np.bincount(tree.bins.of_points(people.x), minlength=tree.bins.count).min() >= 15


def test_monotone_attributes_are_not_cut_by_trees() -> None:
    found, _, _ = deep(FORMULAS["noise and a free category"], monotone={"age": 1})
    assert found.model.trees
    assert all("age" not in tree.bins.attributes for tree in found.model.trees)


def test_boosting_goes_on_from_trees_and_averages_them() -> None:
    encoding, target, people = encoded(60, FORMULAS["noise and a free category"])
    first = boost(encoding, people, people, target, BoostingSettings(**QUICK))
    idle = BoostingSettings(**{**QUICK, "rounds": 1, "learning_rate": 1e-12, "depth": 1, "interactions": 1})
    same = boost(encoding, people, people, target, idle, first.model).model
    np.testing.assert_allclose(same(people.x), first.model(people.x), rtol=1e-9)
    other = boost(encoding, people, people, target, BoostingSettings(**{**QUICK, "depth": 2, "gamma": 0.0})).model
    mean = average([first.model, other])
    np.testing.assert_allclose(mean(people.x), (first.model(people.x) + other(people.x)) / 2, rtol=1e-12)
    assert len(mean.trees) == len(first.model.trees) + len(other.trees)


@pytest.mark.parametrize("depth", [0, 7])
def test_depths_that_make_no_sense_are_refused(depth: int) -> None:
    with pytest.raises(LearningError, match=rf"depth={depth} is not valid for a booster"):
        BoostingSettings(depth=depth)
