"""The gate: networks, heads and fitted models become one kind of model, with what counts as the same decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lcifr.errors import LcifrError, NetworkError
from lcifr.estimators import RobustClassifier, RobustRegressor
from lcifr.models.function import Function
from lcifr.models.loading import read_model
from lcifr.models.model import Model
from lcifr.models.rule import Kind, Rule
from tests.learn.populations import latent
from tests.models.exact import random_network


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_own_heads_pass_through(kind: str) -> None:
    z, y, radius = latent(100, kind=kind)
    head: Any = RobustRegressor() if kind == "number" else RobustClassifier()
    head.fit(z, y, radius=radius)
    read = read_model(head, tolerance=3.0 if kind == "number" else None)
    assert read.network.hash == head.network_.hash
    np.testing.assert_array_equal(read.predict(z), head.predict(z))


def test_own_heads_may_end_a_pipeline() -> None:
    z, y, _ = latent(100)
    pipeline = make_pipeline(StandardScaler(), RobustClassifier(against="nothing")).fit(z, y)
    np.testing.assert_array_equal(read_model(pipeline).predict(z), pipeline.predict(z))


def test_reading_twice_changes_nothing() -> None:
    z, y, _ = latent(100, kind="classes")
    once = read_model(LogisticRegression().fit(z, y), groups=[["a", "c"]])
    assert read_model(once).identity == once.identity
    assert once.rule.groups == ((0, 2), (1,))


def test_what_counts_as_the_same_decision_can_be_said_of_a_read_model() -> None:
    z, y, _ = latent(100, kind="number")
    first = read_model(LinearRegression().fit(z, y), tolerance=1.0)
    assert read_model(first, tolerance=2.0).rule == Rule.of(1, tolerance=2.0)
    assert read_model(first).rule == first.rule


def test_labels_are_part_of_what_tells_two_models_apart() -> None:
    network = random_network(0, [3, 1])
    one = Model(network, Rule.of(1), np.array(["no", "yes"]))
    assert one.identity != Model(network, Rule.of(1), np.array(["yes", "no"])).identity
    assert one.decide(np.array([[0.0], [1.0]])).tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("number", {}, "needs a tolerance"),
        ("number", {"tolerance": 1.0, "groups": [["a"]]}, "groups are of classes"),
        ("classes", {"tolerance": 1.0}, "decides classes"),
        ("classes", {"groups": [["a", "z"]]}, "no class 'z'"),
    ],
)
def test_what_does_not_fit_the_model_is_refused(kind: str, options: dict[str, Any], words: str) -> None:
    z, y, _ = latent(60, kind=kind)
    model = (LinearRegression() if kind == "number" else LogisticRegression()).fit(z, y)
    with pytest.raises(LcifrError, match=words):
        read_model(model, **options)


def test_a_plain_network_decides_by_its_outputs() -> None:
    assert read_model(random_network(0, [2, 1])).rule.kind is Kind.SIGN
    assert read_model(random_network(0, [2, 3])).rule.kind is Kind.CLASS
    assert read_model(random_network(0, [2, 3]), tolerance=0.1).rule.kind is Kind.NUMBER


def test_a_function_that_is_no_network_is_named() -> None:
    class Steps(Function):
        """Another kind."""

        inputs = outputs = 1

        def __call__(self, points: Any) -> np.ndarray:
            return np.floor(points)

        def error(self, points: Any) -> np.ndarray:
            return np.zeros_like(points)

        def exactly(self, point: Any) -> Any:
            return point

        def to_bytes(self) -> bytes:
            return b"floor"

    model = Model(Steps(), Rule.of(1))
    assert model.predict(np.array([[0.5], [1.5]])).tolist() == [0, 1]
    with pytest.raises(NetworkError, match="Steps"):
        _ = model.network


PROBABLE: dict[str, Callable[[], Any]] = {
    "logistic regression": LogisticRegression,
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "discriminant": lambda: LinearDiscriminantAnalysis(),
    "gradient descent": lambda: SGDClassifier(loss="log_loss", random_state=0),
    "network": lambda: MLPClassifier((4,), max_iter=2000, tol=1e-2, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=4),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=4),
    "calibrated": lambda: CalibratedClassifierCV(LinearSVC(), method="sigmoid", ensemble=False, cv=3),
    "threshold": lambda: FixedThresholdClassifier(LogisticRegression(), threshold=0.7),
    "xgboost": lambda: pytest.importorskip("xgboost").XGBClassifier(n_estimators=4, max_depth=2),
    "lightgbm": lambda: pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=4, verbose=-1, sigmoid=2.0),
}


@pytest.mark.parametrize("name", list(PROBABLE))
def test_log_odds_give_the_probability_of_the_library(name: str) -> None:
    z, y, _ = latent(100)
    model = PROBABLE[name]().fit(z, y)
    read = read_model(model)
    assert read.rule.log_odds is not None
    slope, shift = read.rule.log_odds
    probability = 1.0 / (1.0 + np.exp(-(slope * read.function(z)[:, 0] + shift)))
    np.testing.assert_allclose(probability, model.predict_proba(z)[:, 1], atol=1e-6)
    decided = read.decides_second(model.predict(z))
    least = read.rule.least_probability(decided, np.zeros(len(z)))
    cut = np.unique(least)
    assert ((probability >= least) | ~decided).all()
    assert (1.0 - probability[~decided] >= least[~decided] - 1e-9).all()
    assert len(cut) <= 2  # a margin of 0 is the threshold itself, from either side
    assert cut.sum() == pytest.approx(1.0, abs=1e-6) or len(cut) == 1


@pytest.mark.parametrize("model", [LinearSVC(), SGDClassifier(random_state=0), RandomForestClassifier(4)], ids=repr)
def test_a_score_that_is_no_log_odds_gives_no_probability(model: Any) -> None:
    z, y, _ = latent(100)
    read = read_model(model.fit(z, y))
    assert read.rule.log_odds is None
    assert np.isnan(read.rule.least_probability(np.array([True]), np.array([1.0]))).all()
