"""Boosters that are saved and come back: the same scores and verdicts, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr import FairBooster, FairBoosterRegressor, LcifrError, audit
from lcifr.errors import LearningError
from tests.estimators.made_boosters import booster, crossed
from tests.estimators.quick import quiet
from tests.learn.populations import population


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
