"""Boosting: losses that only fall, early stopping, constraints, seeds, and tables with hardly anything in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcifr.errors import LearningError
from lcifr.learn.boosting.boosting import Boosted, boost, certified_by_bounds, stretch_region
from lcifr.learn.parameters import BoostingSettings
from lcifr.learn.target import EncodedPeople
from lcifr.models.additive import AdditiveModel
from tests.learn.boosting.reference import FORMULAS, encoded, slow_loss

QUICK: dict[str, Any] = {"rounds": 12, "max_bins": 8, "min_people": 2, "learning_rate": 0.3}


def boosted(
    formula: str, people: int = 40, *, kind: str = "binary", weighted: bool = False, **options: Any
) -> tuple[Boosted, EncodedPeople, Any]:
    encoding, target, known = encoded(people, formula, kind=kind, weighted=weighted)
    return boost(encoding, known, known, target, BoostingSettings(**{**QUICK, **options})), known, target


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_the_training_loss_falls_and_is_that_of_the_model(formula: str, kind: str) -> None:
    found, people, target = boosted(formula, kind=kind, weighted=True)
    losses = [epoch.loss for epoch in found.history]
    assert losses == sorted(losses, reverse=True)
    assert len(losses) > 3
    model = found.model
    if kind == "number":  # back to the scale of learning
        shapes = tuple(replace(shape, values=shape.values / target.sd) for shape in model.shapes)
        model = AdditiveModel((model.base - target.mean) / target.sd, shapes, model.features)
    assert slow_loss(target, model, people, 1.0) == pytest.approx(losses[-1], rel=1e-7)


def test_stretched_regions_are_what_is_trained_against() -> None:
    found, people, target = boosted(FORMULAS["noise and a free category"], stretch=2.0)
    wide = replace(people, region=stretch_region(people.region, people.x, 2.0))
    assert slow_loss(target, found.model, wide, 1.0) == pytest.approx(found.history[-1].loss, rel=1e-9)


def test_more_gamma_certifies_more() -> None:
    shares = []
    for gamma in (0.0, 1.0, 20.0):
        found, people, target = boosted(
            FORMULAS["noise and a free category"], 300, gamma=gamma, rounds=60, max_bins=32, learning_rate=0.1
        )
        shares.append(certified_by_bounds(found.model, target.rule, people.x, people.region).mean())
    assert shares == sorted(shares)
    assert shares[0] < shares[1]


def test_the_best_round_on_validation_people_is_kept() -> None:
    encoding, target, people = encoded(60, FORMULAS["noise and a free category"])
    training, held = (
        EncodedPeople(people.x[s], people.region.take(s), people.label[s], people.weight[s])  # type: ignore[index]
        for s in (slice(0, 25), slice(25, 60))
    )
    settings = BoostingSettings(rounds=400, patience=5, max_bins=16, min_people=1, learning_rate=0.5, penalty=0.0)
    found = boost(encoding, training, held, target, settings)
    losses = [epoch.validation.loss for epoch in found.history]
    assert len(losses) < 400
    assert slow_loss(target, found.model, held, 1.0) == pytest.approx(min(losses), abs=2e-5)


def test_unread_attributes_are_not_read() -> None:
    found, _, _ = boosted(FORMULAS["noise and a free category"], gamma=0.0, unread=("sex", "income"))
    assert {shape.bins.attribute for shape in found.model.shapes} <= {"age", "job"}


def test_a_free_attribute_is_avoided_where_it_costs_everybody() -> None:
    found, _, _ = boosted(FORMULAS["noise and a free category"], 200, gamma=20.0, rounds=40)
    plain, _, _ = boosted(FORMULAS["noise and a free category"], 200, gamma=0.0, rounds=40)
    assert "sex" in {shape.bins.attribute for shape in plain.model.shapes}
    assert "sex" not in {shape.bins.attribute for shape in found.model.shapes}


@pytest.mark.parametrize("way", [1, -1])
def test_monotone_shape_functions(way: int) -> None:
    found, _, _ = boosted(FORMULAS["noise and a free category"], 200, monotone={"age": way}, rounds=40)
    for shape in found.model.shapes:
        if shape.bins.attribute == "age":
            assert (way * np.diff(shape.values[:, 0]) >= 0).all()
    if way == 1:  # the label rises with age
        assert "age" in {shape.bins.attribute for shape in found.model.shapes}


def test_weights_are_repetitions() -> None:
    encoding, target, people = encoded(30, FORMULAS["several cells"])
    times = np.arange(30) % 3 + 1
    rows = np.repeat(np.arange(30), times)
    assert people.label is not None
    weighted = replace(people, weight=times.astype(np.float64))
    repeated = EncodedPeople(people.x[rows], people.region.take(rows), people.label[rows], np.ones(len(rows)))
    settings = BoostingSettings(**{**QUICK, "min_people": 1, "max_bins": 500})
    one, other = (boost(encoding, side, people, target, settings) for side in (weighted, repeated))
    np.testing.assert_allclose(one.model(people.x), other.model(people.x), atol=1e-9)


def test_the_same_seed_gives_the_same_model_and_another_one_another() -> None:
    options = {"subsample": 0.5, "people": 80}
    first, people, _ = boosted(FORMULAS["noise and a free category"], seed=1, **options)
    again, _, _ = boosted(FORMULAS["noise and a free category"], seed=1, **options)
    other, _, _ = boosted(FORMULAS["noise and a free category"], seed=2, **options)
    assert (first.model(people.x) == again.model(people.x)).all()
    assert (first.model(people.x) != other.model(people.x)).any()


def test_labels_that_are_all_alike_give_a_constant() -> None:
    encoding, target, people = encoded(30, FORMULAS["several cells"])
    alike = replace(people, label=np.ones(30))
    found = boost(encoding, alike, alike, target, BoostingSettings(**QUICK))
    scores = found.model(people.x)
    assert (scores > 0).all()


def test_one_person() -> None:
    encoding, target, people = encoded(30, FORMULAS["noise and a free category"])
    assert people.label is not None
    one = EncodedPeople(people.x[:1], people.region.take(slice(0, 1)), people.label[:1], np.ones(1))
    found = boost(encoding, one, one, target, BoostingSettings(**QUICK))
    assert found.model.shapes == ()
    assert found.history == ()


@pytest.mark.parametrize("options", [{"rounds": 0}, {"learning_rate": 0.0}, {"gamma": -1.0}, {"subsample": 2.0}])
def test_settings_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(LearningError, match=r"is not valid for a booster[\s\S]*Fix: "):
        BoostingSettings(**options)


def test_pairs_learn_what_no_sum_of_attributes_can() -> None:
    """A label by exclusive or: attributes alone tell nothing, their pair everything."""
    encoding, target, people = encoded(300, FORMULAS["noise and a free category"])
    label = (people.x[:, 0] > 0) ^ (people.x[:, 1] > 0)
    people = replace(people, label=label.astype(np.float64))
    found = {}
    for pairs in (0, 1):
        settings = BoostingSettings(**{**QUICK, "rounds": 40, "max_bins": 32, "gamma": 0.5, "interactions": pairs})
        model = boost(encoding, people, people, target, settings).model
        found[pairs] = ((model(people.x)[:, 0] > 0) == label).mean()
        assert len(model.pairs) == pairs
    assert found[1] > 0.95 > 0.75 > found[0]
    assert model.pairs[0].bins.attributes == ("age", "income")


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_the_training_loss_of_pairs_bounds_that_of_the_worst_similar_person(formula: str, kind: str) -> None:
    found, people, target = boosted(formula, 25, kind=kind, interactions=2, max_bins=6, rounds=6)
    losses = [epoch.loss for epoch in found.history]
    assert losses == sorted(losses, reverse=True)
    model = found.model
    if kind == "number":
        shapes = tuple(replace(shape, values=shape.values / target.sd) for shape in model.shapes)
        pairs = tuple(replace(pair, values=pair.values / target.sd) for pair in model.pairs)
        model = AdditiveModel((model.base - target.mean) / target.sd, shapes, model.features, pairs)
    assert model.pairs
    assert slow_loss(target, model, people, 1.0) == pytest.approx(losses[-1], rel=1e-7)  # each term at its own worst
    sampled = region_of_points(people)
    assert slow_loss(target, model, sampled, 1.0) <= losses[-1] + 1e-9


def region_of_points(people: EncodedPeople) -> EncodedPeople:
    """The same people, for whom only one similar person, drawn at random, counts."""
    points = people.region.sample(1)[:, 0]
    cells = tuple(
        replace(
            cell,
            lower=points[:, cell.numeric],
            upper=points[:, cell.numeric],
            choices=tuple(replace(c, allowed=points[:, c.columns] > 0.5) for c in cell.choices),
            present=cell.present & people.region.nonempty,
        )
        for cell in people.region.cells[:1]
    )
    return replace(people, region=replace(people.region, cells=cells))


def test_monotone_pairs() -> None:
    found, people, _ = boosted(
        FORMULAS["noise and a free category"], 200, monotone={"age": 1}, interactions=3, rounds=20
    )
    assert any("age" in pair.bins.attributes for pair in found.model.pairs)
    older = people.x.copy()
    older[:, 0] += 0.7
    assert (found.model(older) >= found.model(people.x)).all()
