"""scikit-learn's trees, read: at every threshold they give what the library gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from lcifr.errors import NetworkError
from lcifr.models.rule import Kind
from tests.models.loaders.tree_semantics import CATEGORIES, NUMERIC, TOWNS, before, check_semantics, read, table


@pytest.mark.parametrize("ordinal", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [GradientBoostingClassifier, HistGradientBoostingClassifier])
def test_boosting_behind_a_pipeline(kind, classes, ordinal):
    frame, labels = table(classes=classes)
    rounds = {"max_iter": 12} if kind is HistGradientBoostingClassifier else {"n_estimators": 12}
    model = make_pipeline(before(ordinal), kind(**rounds, random_state=0)).fit(frame, labels)
    assert check_semantics(model, frame, model.decision_function) > 1000


@pytest.mark.parametrize("kind", [GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor])
def test_regression(kind):
    frame, labels = table(classes=6)
    rounds = {"max_iter": 12} if kind is HistGradientBoostingRegressor else {"n_estimators": 12}
    model = make_pipeline(before(), kind(**rounds, random_state=0)).fit(frame, labels + frame.score)
    assert check_semantics(model, frame, model.predict) > 1000


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("least", [1, 4])
def test_forests(kind, classes, least):
    frame, labels = table(classes=classes)
    forest = kind(10, min_samples_leaf=least, random_state=0, bootstrap=False, max_depth=None if least == 1 else 6)
    model = make_pipeline(before(), forest).fit(frame, labels)

    def shares(rows):
        found = model.predict_proba(rows)
        return 10 * (found[:, 1] - found[:, 0]) if read(model, frame).model.function.outputs == 1 else found

    assert check_semantics(model, frame, shares) > 1000


def test_a_forest_that_meets_one_half_decides_for_the_first_class():
    """Pure leaves: four trees of ten, five and six; at five the library says class 0, and so does the rule, surely."""
    frame, labels = table()
    model = make_pipeline(before(), RandomForestClassifier(10, random_state=1)).fit(frame, labels)
    found = read(model, frame)
    assert found.model.rule.kind is Kind.SIGN
    assert found.model.rule.band == (0.5, 0.5)
    made, _ = table(seed=5, count=20_000)
    values = found.model.function(found.encoding.encode(made))[:, 0]
    ties = values == 0
    assert ties.any()
    assert (found.model.decide(values[:, None]) == model.predict(made)).all()


def test_one_tree_has_no_ties():
    frame, labels = table(classes=3)
    model = make_pipeline(before(), DecisionTreeClassifier(max_depth=4, random_state=0)).fit(frame, labels)
    found = read(model, frame)
    values = found.model.function(found.encoding.encode(frame))
    assert (np.sort(values, axis=1)[:, -1] == 1).all()
    assert (found.decide(_people(found, frame)) == model.predict(frame)).all()
    number = make_pipeline(before(), DecisionTreeRegressor(max_depth=4)).fit(frame, frame.score)
    assert check_semantics(number, frame, number.predict) > 400


def _people(found, frame):
    from lcifr.data import Individuals

    return Individuals.read(frame, found.encoding.schema)


def test_histogram_boosting_with_categories_of_its_own():
    frame, labels = table(count=600)
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    known = frame.town.isin(TOWNS[:3]).to_numpy()  # the fourth town is not seen in training
    model = HistGradientBoostingClassifier(max_iter=15, categorical_features="from_dtype", random_state=0)
    model.fit(frame[known], labels[known])
    assert check_semantics(model, frame, model.decision_function) > 1000


def test_float32_tables():
    frame, labels = table()
    frame = frame[NUMERIC].astype(np.float32)
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(frame, labels)
    assert check_semantics(model, frame, model.decision_function) > 400


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda: make_pipeline(before(), PCA(3), GradientBoostingClassifier(n_estimators=2)), "mixes columns"),
        (
            lambda: make_pipeline(before(), GradientBoostingClassifier(n_estimators=2, init=LogisticRegression())),
            "starts from a LogisticRegression",
        ),
        (
            lambda: make_pipeline(before(), GradientBoostingClassifier(n_estimators=2, loss="exponential")),
            "exponential",
        ),
    ],
)
def test_what_is_refused_by_name(model, said):
    frame, labels = table()
    with pytest.raises(NetworkError, match=said):
        read(model().fit(frame, labels), frame)


def test_several_labels_are_refused():
    frame, labels = table()
    both = pd.DataFrame({"a": labels, "b": 1 - labels})
    with pytest.raises(NetworkError, match="several labels"):
        read(make_pipeline(before(), RandomForestClassifier(3)).fit(frame, both), frame)


def test_a_start_that_is_drawn_anew_for_everybody_is_refused():
    frame, labels = table()
    model = GradientBoostingClassifier(n_estimators=2, init=DummyClassifier(strategy="stratified"))
    with pytest.raises(NetworkError, match="drawn anew"):
        read(model.fit(frame[NUMERIC], labels), frame[NUMERIC])


def test_a_split_of_missing_values_from_all_others():
    """Its threshold is infinite: everybody who is not missing passes on the same side."""
    frame, labels = table()
    gone = frame[NUMERIC].assign(score=np.where(np.arange(len(frame)) % 3, frame.score > 0, np.nan))
    model = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5).fit(gone, labels)
    assert any(np.isinf(one.nodes["num_threshold"]).any() for stage in model._predictors for one in stage)
    assert check_semantics(model, frame[NUMERIC], model.decision_function) > 400
