"""Fitted scikit-learn models as networks: the network decides what the model predicts, everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

from lcifr.errors import NetworkError
from lcifr.models.loaders.sklearn import read_sklearn
from lcifr.models.rule import Kind
from tests.learn.populations import latent

MLP = {"hidden_layer_sizes": (6, 5), "max_iter": 30, "random_state": 0}
CLASSIFIERS = [
    LogisticRegression(),
    LinearSVC(),
    RidgeClassifier(),
    Perceptron(),
    SGDClassifier(random_state=0),
    MLPClassifier(**MLP),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
    make_pipeline(StandardScaler(with_std=False), "passthrough", LinearSVC()),
    make_pipeline(MinMaxScaler(), RobustScaler(), MLPClassifier(**MLP)),
    make_pipeline(MaxAbsScaler(), RidgeClassifier()),
]
REGRESSORS = [
    LinearRegression(),
    Ridge(),
    Lasso(),
    LinearSVR(),
    MLPRegressor(**MLP),
    make_pipeline(StandardScaler(), Ridge()),
]

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def _name(model: Any) -> str:
    return type(model).__name__ if not hasattr(model, "steps") else "+".join(name for name, _ in model.steps)


@pytest.mark.parametrize("kind", ["binary", "classes"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=_name)
def test_classifiers_decide_alike(model: Any, kind: str) -> None:
    z, y, _ = latent(200, kind=kind)
    model.fit(z, y)
    read = read_sklearn(model)
    others = np.random.default_rng(3).normal(size=(500, z.shape[1])) * 3
    np.testing.assert_array_equal(read.predict(others), model.predict(others))
    assert read.rule.kind is (Kind.SIGN if kind == "binary" else Kind.CLASS)


@pytest.mark.parametrize("model", REGRESSORS, ids=_name)
def test_regressors_predict_alike(model: Any) -> None:
    z, y, _ = latent(200, kind="number")
    model.fit(z, y)
    np.testing.assert_allclose(read_sklearn(model).predict(z), model.predict(z), rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (RandomForestClassifier(n_estimators=2), "RandomForestClassifier"),
        (make_pipeline(PolynomialFeatures(), LogisticRegression()), "polynomialfeatures"),
        (make_pipeline(MinMaxScaler(clip=True), LogisticRegression()), "minmaxscaler"),
        (MLPClassifier(activation="tanh", max_iter=2), "tanh"),
    ],
    ids=_name,
)
def test_others_are_refused_with_what_works(model: Any, words: str) -> None:
    z, y, _ = latent(60)
    model.fit(z, y)
    with pytest.raises(NetworkError, match=words) as caught:
        read_sklearn(model)
    assert caught.value.fix is not None


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(NetworkError, match="LogisticRegression"):
        read_sklearn(object())


def test_a_network_decides_by_a_rounded_probability_on_latents_too() -> None:
    """logistic(1e-17) is 0.5, and not above it: next to 0 nobody can tell."""
    z, y, _ = latent(200, kind="binary")
    read = read_sklearn(make_pipeline(StandardScaler(), MLPClassifier(**MLP)).fit(z, y))
    lower, upper = read.rule.band
    assert lower < -1e-17 < 1e-17 < upper < 1e-13


def test_thresholds_and_mixtures_decide_alike_on_latents() -> None:
    z, y, _ = latent(200, kind="binary")
    others = np.random.default_rng(3).normal(size=(500, z.shape[1])) * 3
    for model in (
        FixedThresholdClassifier(LogisticRegression(), threshold=0.3, pos_label=np.unique(y)[1]),
        make_pipeline(PCA(2, whiten=True), MLPClassifier(activation="identity", **MLP)),
        make_pipeline(MinMaxScaler(), PCA(2), SelectKBest(k=1), RidgeClassifier()),
    ):
        read = read_sklearn(model.fit(z, y))
        np.testing.assert_array_equal(read.predict(others), model.predict(others))


@pytest.mark.parametrize("model", [RidgeClassifier(), MLPClassifier(hidden_layer_sizes=(3,), max_iter=2)], ids=_name)
def test_several_labels_at_once_are_refused(model: Any) -> None:
    z, y, _ = latent(60)
    model.fit(z, np.stack([y > 0, y <= 0, z[:, 0] > 0], axis=1).astype(int))
    with pytest.raises(NetworkError, match="several labels at once"):
        read_sklearn(model)


def test_sparse_weights_are_refused_with_what_helps() -> None:
    z, y, _ = latent(60)
    with pytest.raises(NetworkError, match=r"sparse weights(.|\n)*densify"):
        read_sklearn(LogisticRegression().fit(z, y).sparsify())
