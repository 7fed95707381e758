"""Thresholds of scikit-learn's wrappers around linear models and networks: rows at each change of the decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lcifr.data import Encoding, Individuals, Schema
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import read_table_model
from lcifr.models.network import chain_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BESIDE = 8
"""Rows at each change of the decision."""
RNG = np.random.default_rng(3)
FRAME = pd.DataFrame({"age": RNG.normal(40.0, 12.0, 300), "income": RNG.lognormal(3.0, 1.0, 300)})
LABELS = (FRAME.age + 0.4 * FRAME.income + RNG.normal(0.0, 8.0, 300) > 52.0).map({True: "yes", False: "no"})
NETWORK = {"hidden_layer_sizes": (6,), "max_iter": 60, "random_state": 0}


def fixed(inner: Any, threshold: float, response: str, label: str = "yes") -> FixedThresholdClassifier:
    return FixedThresholdClassifier(inner, threshold=threshold, response_method=response, pos_label=label)


def calibrated(inner: Any) -> CalibratedClassifierCV:
    return CalibratedClassifierCV(inner, method="sigmoid", ensemble=False)


WRAPPED: dict[str, Callable[[], Any]] = {
    "its own rule": LogisticRegression,
    "a network's own rule": lambda: MLPClassifier(**NETWORK),
    "a probability": lambda: fixed(LogisticRegression(), 0.3, "predict_proba"),
    "a probability of the first class": lambda: fixed(LogisticRegression(), 0.3, "predict_proba", "no"),
    "a score": lambda: fixed(LinearSVC(), 0.4, "decision_function"),
    "a score of the first class": lambda: fixed(LinearSVC(), 0.4, "decision_function", "no"),
    "a network's probability": lambda: fixed(MLPClassifier(**NETWORK), 0.6, "predict_proba"),
    "calibrated": lambda: calibrated(LinearSVC()),
    "a calibrated probability": lambda: fixed(calibrated(LinearSVC()), 0.7, "predict_proba"),
    "tuned": lambda: TunedThresholdClassifierCV(LogisticRegression(), random_state=0),
}


def changes(predict: Callable[[pd.DataFrame], np.ndarray], row: pd.Series) -> np.ndarray:
    """Ages beside which the decision about a row changes: the two neighbouring floats, and three to either side."""
    low, high = 0.0, 200.0

    def decide(age: float) -> Any:
        return predict(pd.DataFrame({"age": [age], "income": [row.income]}))[0]

    first = decide(low)
    if first == decide(high):
        return np.empty(0)
    while np.nextafter(low, high) < high:
        middle = (low + high) / 2
        low, high = (middle, high) if decide(middle) == first else (low, middle)
    found = [low, high]
    for _ in range(BESIDE // 2 - 1):
        found += [np.nextafter(found[-2], -np.inf), np.nextafter(found[-1], np.inf)]
    return np.array(found)


@pytest.mark.parametrize("name", WRAPPED)
def test_the_band_holds_each_change_of_the_decision_and_little_else(name: str) -> None:
    model = make_pipeline(StandardScaler(), WRAPPED[name]()).fit(FRAME, LABELS)
    schema = Schema.infer(FRAME)
    read = read_table_model(model, FRAME, Encoding.fit(FRAME, schema))
    near = [(row.income, changes(read.predict, row)) for _, row in FRAME.head(12).iterrows()]
    frame = pd.DataFrame([{"age": age, "income": income} for income, ages in near for age in ages])
    assert len(frame) >= 24
    band, changed = read.model.rule.band, len(frame)
    frame = pd.concat([frame, FRAME], ignore_index=True)
    points = read.encoding.encode(Individuals.read(frame, schema))
    function = chain_of(read.factors)
    values, room = function(points)[:, 0], function.error(points)[:, 0]
    room = room + function.deployed(Arithmetic.FLOAT64, read.encoding).error_at(points)[:, 0]
    below, above = values < band[0] - room, values > band[1] + room
    own = read.predict(frame)
    assert (own[above] == read.model.labels[1]).all()
    assert (own[below] == read.model.labels[0]).all()
    strict = below | above
    assert strict[changed:].all()
    assert not strict[:changed].reshape(-1, BESIDE)[:, :2].all(1).any()  # of two neighbours decided differently
