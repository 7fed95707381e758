"""The estimators behave as scikit-learn's own do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from lcifr.errors import LcifrError
from lcifr.estimators import FairBooster, FairBoosterRegressor, FairEncoder, RobustClassifier, RobustRegressor
from lcifr.estimators.boosters import BaseBooster
from tests.learn.populations import FORMULA, SCHEMA, population

pytestmark = [
    # Conformance runs on noise and on tiny tables: the models are trivial there, and say so.
    pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
    pytest.mark.filterwarnings("ignore::lcifr.estimators.heads.PlainHeadWarning"),  # the checks know no radius
]

WEIGHTS = {"check_sample_weight_equivalence_on_dense_data": "scales and thresholds do not depend on weights"}
"""As for scikit-learn's HistGradientBoosting."""


@parametrize_with_checks(
    [
        FairEncoder("all within 0.1 sd", latent_dim=2, hidden=(4,), epochs=3),
        RobustClassifier(),
        RobustClassifier((8,), epochs=30, batch_size=32, learning_rate=0.03),
        RobustRegressor(),
        FairBooster("all within 0.1 sd", rounds=40, min_people=1, validation_fraction=0.0),
        FairBoosterRegressor("all within 0.1 sd", rounds=40, min_people=1, validation_fraction=0.0, interactions=2),
    ],
    expected_failed_checks=lambda estimator: WEIGHTS if isinstance(estimator, BaseBooster) else {},
)
def test_conforms(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.long
@parametrize_with_checks(
    [FairBooster("all within 0.1 sd", rounds=20, min_people=1, bags=2, interactions="auto")],
    expected_failed_checks=lambda estimator: WEIGHTS,
)
def test_bags_and_pairs_conform(estimator: Any, check: Any) -> None:
    check(estimator)


def quick(**options: Any) -> FairEncoder:
    return FairEncoder(FORMULA, schema=SCHEMA, **{"epochs": 4, "batch_size": 32, "latent_dim": 3, **options})


def test_clone_keeps_parameters_and_forgets_what_was_learned() -> None:
    X, y = population(60)
    fitted = quick(gamma=2.5).fit(X, y)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "network_")


def test_grid_search_over_gamma() -> None:
    X, y = population(120)
    pipeline = make_pipeline(quick(), RobustClassifier(against="nothing"))
    search = GridSearchCV(pipeline, {"fairencoder__gamma": [0.0, 3.0]}, cv=2).fit(X, y)
    assert set(search.cv_results_["param_fairencoder__gamma"]) == {0.0, 3.0}
    assert search.predict(X).shape == y.shape


def test_radius_travels_through_grid_search_beside_z() -> None:
    X, y = population(120)
    encoder = quick().fit(X, y)
    Z, radius = encoder.transform(X), encoder.reach(X).radius
    search = GridSearchCV(RobustClassifier(), {"gamma": [0.5, 5.0]}, cv=2).fit(Z, y, radius=radius)
    assert search.best_estimator_.certified(Z, radius).shape == y.shape


def test_pandas_polars_and_arrow_are_the_same_people() -> None:
    X, y = population(60)
    encoder = quick().fit(X, y)
    other = quick().fit(pl.from_pandas(X), pl.Series(y))
    assert encoder.network_.hash == other.network_.hash
    for table in (X, pl.from_pandas(X), pl.from_pandas(X).to_arrow()):
        np.testing.assert_array_equal(encoder.transform(table), encoder.transform(X))
    assert list(encoder.feature_names_in_) == list(X.columns)


def test_names_of_z_and_pandas_output() -> None:
    X, y = population(60)
    encoder = quick().set_output(transform="pandas").fit(X, y)
    frame = encoder.transform(X)
    assert isinstance(frame, pd.DataFrame)
    assert (
        list(frame.columns) == ["fairencoder0", "fairencoder1", "fairencoder2"] == list(encoder.get_feature_names_out())
    )


def test_same_seed_same_weights_and_torch_is_left_alone() -> None:
    import torch

    X, y = population(60)
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    first = quick(random_state=3).fit(X, y)
    assert torch.equal(torch.rand(1), before)
    assert quick(random_state=3).fit(X, y).network_.hash == first.network_.hash
    assert quick(random_state=4).fit(X, y).network_.hash != first.network_.hash


def test_columns_may_come_in_another_order() -> None:
    X, y = population(60)
    encoder = quick().fit(X, y)
    np.testing.assert_array_equal(encoder.transform(X[X.columns[::-1]]), encoder.transform(X))


def test_a_schema_may_be_the_path_of_its_file(tmp_path: Path) -> None:
    X, y = population(60)
    SCHEMA.save(tmp_path / "people.toml")
    known = quick(epochs=1).fit(X, y)
    for path in (tmp_path / "people.toml", str(tmp_path / "people.toml")):
        encoder = quick(epochs=1).set_params(schema=path).fit(X, y)
        assert clone(encoder).schema == path
        assert encoder.schema_ == SCHEMA
        assert np.array_equal(encoder.transform(X), known.transform(X))
    with pytest.raises(LcifrError, match=r"there is no such file[\s\S]*Fix: "):
        quick().set_params(schema="nowhere.toml").fit(X, y)
    with pytest.raises(LcifrError, match=r"schema is dict[\s\S]*Fix: give a Schema"):
        quick().set_params(schema={"age": "numeric"}).fit(X, y)
