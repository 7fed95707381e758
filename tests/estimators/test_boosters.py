"""FairBooster on tables: what it learns, whom it certifies, what it refuses; files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from lcifr import FairBooster, FairBoosterRegressor, LcifrError, audit
from lcifr.errors import LearningError
from lcifr.estimators.base_booster import BaseBooster
from lcifr.learn.score import DegenerateModelWarning
from tests.estimators.quick import quiet
from tests.learn.populations import FORMULA, SCHEMA, population

QUICK: dict[str, Any] = {"schema": SCHEMA, "rounds": 40, "learning_rate": 0.3, "min_people": 3}


def booster(kind: str = "binary", **options: Any) -> BaseBooster:
    made = FairBoosterRegressor if kind == "number" else FairBooster
    return made(options.pop("formula", FORMULA), **{**QUICK, **options})


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_learns_and_certifies(kind: str) -> None:
    X, y = population(400, kind=kind)
    new, truth = population(300, seed=1, kind=kind)
    tolerance = 800.0 if kind == "number" else 0.0
    plain = booster(kind, gamma=0.0, tie_free=False, tolerance=tolerance).fit(X, y)
    fair = booster(kind, gamma=3.0, tolerance=tolerance).fit(X, y)
    assert fair.score(new, truth) > (0.65 if kind == "classes" else 0.7)
    assert fair.certified(new).mean() > plain.certified(new).mean()
    assert "sex" in fair.unread_
    assert "sex" not in plain.unread_


@pytest.mark.parametrize(("kind", "pairs"), [("binary", 0), ("classes", 0), ("binary", 3)])
def test_nobody_drawn_from_the_region_of_the_certified_is_decided_otherwise(kind: str, pairs: int) -> None:
    X, y = population(200, kind=kind)
    fitted = booster(kind, interactions=pairs).fit(X, y)
    certified, decided, region = fitted.certified(X), fitted.predict(X), fitted.region(X)
    assert 0 < certified.sum() < len(X)
    for person in np.flatnonzero(certified):
        others = region.take([person]).sample(40, seed=int(person))[0]
        scores = fitted.additive_(others)
        assert (fitted.classes_[fitted.target_.rule.decide(scores)] == decided[person]).all()


def test_whoever_is_not_certified_has_somebody_similar_with_another_decision() -> None:
    """The closed form is exact: of a number and a free category, the worst similar person exists."""
    X, y = population(150)
    fitted = booster(tie_free=False, gamma=0.1).fit(X, y)
    for person in np.flatnonzero(~fitted.certified(X))[:40]:
        cell = fitted.region(X).take([person]).cells[0]
        low, high = (dict(zip(cell.numeric.tolist(), end[0], strict=True)) for end in (cell.lower, cell.upper))
        found = set()
        sides = {shape.bins.attribute: shape.bins for shape in fitted.additive_.shapes}
        ends = [
            np.unique(
                [
                    low[c],
                    high[c],
                    *(
                        t
                        for t in (sides[n].thresholds if n in sides else ())
                        for t in (t, np.nextafter(t, 9))
                        if low[c] <= t <= high[c]
                    ),
                ]
            )
            for n, c in (("age", 0), ("income", 1))
        ]
        own = fitted.encoding_.encode(X.iloc[[person]])
        for age in ends[0]:
            for income in ends[1]:
                for sex in (0, 1):
                    other = own.copy()
                    other[0, :2] = age, income
                    other[0, 2:4] = np.eye(2)[sex]
                    found.add(bool(fitted.additive_(other)[0, 0] > 0))
        assert found == {True, False}


def crossed(people: int, kind: str = "binary") -> tuple[pd.DataFrame, np.ndarray]:
    """People whose label depends on two attributes together."""
    X, y = population(people, kind=kind)
    both = (X["age"] > 45) ^ (X["income"] > 0)
    if kind == "number":
        return X, y + 3000 * both
    return X, np.where(both, y, np.unique(y)[0])


@quiet
def test_an_audit_of_pairs_certifies_at_least_those_whom_bounds_certify() -> None:
    X, y = crossed(200)
    fitted = booster(interactions=3, gamma=0.1).fit(X, y)
    assert fitted.additive_.pairs
    found = audit(fitted, X.head(60), similarity=fitted.similarity_, arithmetic="exact")
    assert (found.certified | found.violated).all()
    assert found.certified[fitted.certified(X.head(60))].all()
    assert found.violated.any()


@quiet
@pytest.mark.parametrize(("kind", "pairs"), [("binary", 0), ("number", 3)])
def test_what_attributes_add_up_to_is_the_score(kind: str, pairs: int) -> None:
    X, y = crossed(200, kind)
    fitted = booster(kind, interactions=pairs, gamma=0.1).fit(X, y)
    explanation = fitted.explain(X.head(20), ids=[f"p{row}" for row in range(20)])
    assert explanation.additive
    assert bool(explanation.pairs) == bool(pairs)
    assert {one.attribute for one in explanation.scores}.isdisjoint(fitted.unread_)
    for row, score in enumerate(fitted.scores(X.head(20))[:5, 0]):
        person = explanation.person(f"p{row}")
        assert person.score is not None
        assert person.score.output == pytest.approx(score)


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
@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_bags_are_one_additive_model_that_comes_back_and_is_audited(tmp_path: Path, kind: str) -> None:
    X, y = crossed(150, kind)
    each = [booster(kind, random_state=seed, interactions=2, gamma=0.1).fit(X, y) for seed in (7, 8)]
    fitted = booster(kind, bags=2, random_state=7, interactions=2, gamma=0.1).fit(X, y)
    assert fitted.n_iter_ == len(fitted.history_) == fitted.history_[-1].number + 1
    # Bins are chosen by everybody there, and by those who are learned from here: nearly the same.
    mean = np.mean([one.scores(X) for one in each], axis=0)
    assert np.corrcoef(fitted.scores(X).ravel(), mean.ravel())[0, 1] > 0.97
    fitted.save(tmp_path / "f")
    again = type(fitted).load(tmp_path / "f")
    np.testing.assert_array_equal(again.scores(X), fitted.scores(X))
    assert again.bags == 2
    if kind == "binary":
        found = audit(fitted, X.head(40), similarity=fitted.similarity_, arithmetic="exact")
        assert found.certified[fitted.certified(X.head(40))].all()
        assert found.violated.any()


@quiet
@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_deeper_trees_come_back_and_are_audited_explained_and_handed_over(tmp_path: Path, kind: str) -> None:
    X, y = crossed(200, kind)
    options: dict[str, Any] = {"tolerance": 800.0} if kind == "number" else {}
    fitted = booster(kind, depth=3, gamma=0.1, rounds=10, tie_free=False, **options).fit(X, y)
    assert fitted.additive_.trees
    fitted.save(tmp_path / "f")
    again = type(fitted).load(tmp_path / "f")
    np.testing.assert_array_equal(again.scores(X), fitted.scores(X))
    np.testing.assert_array_equal(again.certified(X), fitted.certified(X))
    again.save(tmp_path / "g")
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()
    found = audit(fitted, X.head(40), similarity=fitted.similarity_, arithmetic="exact")
    assert found.certified[fitted.certified(X.head(40))].all()
    assert (found.certified | found.violated).all()
    z = fitted.transform(X)
    assert z.shape[1] == len(fitted.get_feature_names_out()) == len(set(fitted.get_feature_names_out()))
    if kind == "number":
        np.testing.assert_allclose(fitted.head_.predict(z), fitted.predict(X))
    else:
        assert (fitted.head_.predict(z) == fitted.predict(X)).all()
    several = any(len(tree.bins.axes) > 2 for tree in fitted.additive_.trees)
    assert fitted.explain(X.head(5)).additive is not several


@quiet
def test_every_bag_leaves_out_other_people_and_is_stopped_by_those_given() -> None:
    X, y = population(100)
    held = population(40, seed=3)
    one, two = (booster(bags=bags).fit(X, y, validation=held) for bags in (1, 2))
    assert len(two.history_) > len(one.history_)
    assert not np.allclose(one.scores(X), two.scores(X))
    same = booster(bags=3, validation_fraction=0.0).fit(X, y)  # nobody is left out: all bags are alike
    np.testing.assert_allclose(same.scores(X), booster(validation_fraction=0.0).fit(X, y).scores(X))
    with pytest.raises(LearningError, match="bags=0 makes no booster"):
        booster(bags=0).fit(X, y)


@quiet
def test_the_number_of_pairs_may_be_left_to_the_held_out() -> None:
    X, y = crossed(400)
    fitted = booster(interactions="auto", gamma=0.1).fit(X, y)
    assert ("age", "income") in {pair.bins.attributes for pair in fitted.additive_.pairs}
    assert clone(fitted).interactions == "auto"
    with pytest.raises(LearningError, match="interactions='some' makes no booster"):
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


def test_classes_that_say_nothing_are_said_to_be_trivial() -> None:
    X, _ = population(60)
    y = np.arange(60) % 7 == 0
    with pytest.warns(DegenerateModelWarning, match="decides the same for everybody"):
        fitted = booster(gamma=50.0).fit(X, y)
    assert "constant" in {one.name for one in fitted.degeneracies_}


def test_missing_values_are_refused() -> None:
    X, y = population(40)
    with pytest.raises(LcifrError, match="missing"):
        booster().fit(X.assign(income=X["income"].where(X.index > 3)), y)


@quiet
@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_boosters_come_back_bit_for_bit(tmp_path: Path, kind: str) -> None:
    X, y = crossed(120, kind)
    rising = None if kind == "classes" else {"income": 1}
    fitted = booster(kind, monotone=rising, interactions=2, gamma=0.1).fit(X, y)
    assert fitted.additive_.pairs
    fitted.save(tmp_path / "f")
    again = type(fitted).load(tmp_path / "f")
    np.testing.assert_array_equal(again.scores(X), fitted.scores(X))
    np.testing.assert_array_equal(again.certified(X), fitted.certified(X))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.similarity_.hash == fitted.similarity_.hash
    assert again.history_[-1].loss == fitted.history_[-1].loss
    again.save(tmp_path / "g")
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()
    wrong = FairBooster if kind == "number" else FairBoosterRegressor
    with pytest.raises(LearningError, match="Fix: use"):
        wrong.load(tmp_path / "f")


def test_formulas_with_ranks_ask_for_the_training_people(tmp_path: Path) -> None:
    X, y = population(60)
    text = """same(categorical) and age within 1 sd and income' = income and
        |rank(age' by sex' = "male") - rank(age by sex = "male")| < 5"""
    fitted = booster(formula=text).fit(X, y)
    fitted.save(tmp_path / "f")
    with pytest.raises(LcifrError):
        FairBooster.load(tmp_path / "f")
    again = FairBooster.load(tmp_path / "f", training=X)
    np.testing.assert_array_equal(again.certified(X), fitted.certified(X))


def test_whole_numbers_certify_at_least_as_many() -> None:
    X, y = population(200)
    whole = pd.DataFrame(X).assign(age=np.rint(X["age"]), income=np.rint(2 * X["income"]))
    schema = SCHEMA.from_dict(
        {
            **SCHEMA.to_dict(),
            "attributes": {
                **SCHEMA.to_dict()["attributes"],
                "age": {"kind": "numeric", "integer": True},
                "income": {"kind": "numeric", "integer": True},
            },
        }
    )
    shares = [
        booster(schema=schema, whole_numbers=which).fit(whole, y).certified(whole).mean() for which in (False, True)
    ]
    assert shares[1] > shares[0]


@quiet
def test_warm_start_goes_on_in_the_same_scales_and_refuses_other_labels() -> None:
    X, y = population(120)
    fitted = booster(rounds=10, warm_start=True).fit(X, y)
    encoding, loss = fitted.encoding_, fitted.history_[-1].loss
    fitted.fit(X, y)
    assert fitted.encoding_ is encoding
    assert fitted.history_[0].loss < loss
    with pytest.raises(LearningError, match=r"labels are others than before[\s\S]*Fix: say warm_start=False"):
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
