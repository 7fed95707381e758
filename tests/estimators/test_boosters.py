"""FairBooster on tables: what it learns from options, weights and small tables, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from lcifr import FairBooster, LcifrError
from lcifr.errors import LearningError
from lcifr.learn.scores import DegenerateModelWarning
from tests.estimators.made_boosters import booster, crossed
from tests.estimators.quick import quiet
from tests.learn.populations import FORMULA, SCHEMA, population


def test_probabilities_agree_with_decisions() -> None:
    for kind in ("binary", "classes"):
        X, y = population(120, kind=kind)
        fitted = booster(kind).fit(X, y)
        shares = fitted.predict_proba(X)
        np.testing.assert_allclose(shares.sum(1), 1.0)
        assert (fitted.classes_[shares.argmax(1)] == fitted.predict(X)).all()


def test_frames_of_any_kind_are_the_same_people() -> None:
    X, y = population(80)
    first = booster().fit(X, y)
    other = booster().fit(pl.from_pandas(X), pl.Series(y))
    for table in (X, pl.from_pandas(X), pl.from_pandas(X).to_arrow(), X[X.columns[::-1]]):
        np.testing.assert_array_equal(first.scores(X), first.scores(table))
        np.testing.assert_array_equal(first.scores(X), other.scores(table))
    assert list(first.feature_names_in_) == list(X.columns)


def test_grid_search_and_clone() -> None:
    X, y = population(120)
    search = GridSearchCV(booster(), {"gamma": [0.0, 1.0], "bags": [1, 2], "interactions": [0, "auto"]}, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 8
    fitted = search.best_estimator_
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "additive_")


def test_validation_people_are_not_learned_from() -> None:
    X, y = population(100)
    held, truth = population(40, seed=3)
    one = booster().fit(X, y, validation=(held, truth))
    assert len(one.history_) == one.n_iter_ > 0
    assert {epoch.validation.loss for epoch in one.history_}


@quiet
def test_every_bag_leaves_out_other_people_and_is_stopped_by_those_given() -> None:
    X, y = population(100)
    held = population(40, seed=3)
    one, two = (booster(bags=bags).fit(X, y, validation=held) for bags in (1, 2))
    assert len(two.history_) > len(one.history_)
    assert not np.allclose(one.scores(X), two.scores(X))
    same = booster(bags=3, validation_fraction=0.0).fit(X, y)  # nobody is left out: all bags are alike
    np.testing.assert_allclose(same.scores(X), booster(validation_fraction=0.0).fit(X, y).scores(X))
    with pytest.raises(LearningError, match="bags=0 is not valid for a booster"):
        booster(bags=0).fit(X, y)


@quiet
def test_the_number_of_pairs_may_be_left_to_the_held_out() -> None:
    X, y = crossed(400)
    fitted = booster(interactions="auto", gamma=0.1).fit(X, y)
    assert ("age", "income") in {pair.bins.attributes for pair in fitted.additive_.pairs}
    assert clone(fitted).interactions == "auto"
    with pytest.raises(LearningError, match="interactions='some' is not valid for a booster"):
        booster(interactions="some").fit(X, y)


def test_class_weights_move_decisions_to_the_rare_class() -> None:
    X, y = population(400)
    rare = np.flatnonzero((y == 0) | (np.arange(400) % 6 == 0))
    plain = booster(gamma=0.0).fit(X.iloc[rare], y[rare])
    weighted = booster(gamma=0.0, class_weight="balanced").fit(X.iloc[rare], y[rare])
    assert weighted.predict(X).mean() > plain.predict(X).mean()


@quiet
def test_sample_weights() -> None:
    X, y = population(100)
    ones = booster().fit(X, y, np.full(100, 3.0))
    np.testing.assert_allclose(ones.scores(X), booster().fit(X, y).scores(X))
    only_young = booster(validation_fraction=0.0).fit(X, y, (X["age"] < 45).astype(float))
    assert np.abs(only_young.scores(X) - ones.scores(X)).max() > 0.1
    for wrong in (np.zeros(100), np.linspace(-1, 2, 100), np.ones(99)):
        with pytest.raises(ValueError, match=r"(?i)sample.weight"):
            booster().fit(X, y, wrong)


def test_monotone() -> None:
    X, y = population(200)
    falling = booster(monotone={"age": -1}).fit(X, y)
    older = X.assign(age=X["age"] + 5)
    assert (falling.scores(older) <= falling.scores(X)).all()
    with pytest.raises(LearningError, match=r"monotone=\{'agee': 1\}[\s\S]*Did you mean[\s\S]*Fix: "):
        booster(monotone={"agee": 1}).fit(X, y)
    with pytest.raises(LearningError, match=r"3 classes, which have no direction[\s\S]*Fix: "):
        booster(monotone={"age": 1}).fit(*population(60, kind="classes"))


def test_missing_values_are_refused() -> None:
    X, y = population(40)
    with pytest.raises(LcifrError, match="missing"):
        booster().fit(X.assign(income=X["income"].where(X.index > 3)), y)


@quiet
def test_warm_start_goes_on_in_the_same_scales_and_refuses_other_labels() -> None:
    X, y = population(120)
    fitted = booster(rounds=10, warm_start=True).fit(X, y)
    encoding, loss = fitted.encoding_, fitted.history_[-1].loss
    fitted.fit(X, y)
    assert fitted.encoding_ is encoding
    assert fitted.history_[0].loss < loss
    with pytest.raises(LearningError, match=r"labels are not those of the first fit[\s\S]*Fix: use warm_start=False"):
        fitted.fit(*population(120, kind="classes"))
    assert fitted.set_params(warm_start=False).fit(X, y).history_[0].loss > loss


@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"interactions": 5}])
def test_small_tables_with_a_rare_class_give_a_usable_model(options: dict[str, Any]) -> None:
    """432 people, of whom a quarter are positive; the label hangs on a little of everything, and on chance."""
    X, y = small_table(432, seed=0)
    new, truth = small_table(3000, seed=1)
    assert 0.24 < y.mean() < 0.30
    fitted = FairBooster(FORMULA, schema=SCHEMA, **options).fit(X, y)
    found = fitted.predict(new)
    balanced = np.mean([np.mean(found[truth == label] == label) for label in (0, 1)])
    assert balanced > 0.6
    assert not fitted.degeneracies_


def test_a_small_table_of_chance_is_said_to_hold_nothing() -> None:
    X, y = small_table(432, seed=0)
    shuffled = np.random.default_rng(3).permutation(y)
    with pytest.warns(DegenerateModelWarning):
        fitted = FairBooster(FORMULA, schema=SCHEMA).fit(X, shuffled)
    assert fitted.degeneracies_


def small_table(people: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    X, _ = population(people, seed=seed)
    draw = np.random.default_rng(seed + 10)
    drive = (X["age"] - 45) / 12 + X["income"] + 0.5 * (X["job"] == "cook") + 1.2 * draw.normal(size=people)
    return X, (drive > 1.1).to_numpy().astype(int)
