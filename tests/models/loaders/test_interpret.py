"""Explainable boosting machines, read: at every cut, one float beside, and of unseen values, as interpret has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lcifr
from lcifr.data import Encoding, Schema
from lcifr.errors import NetworkError
from lcifr.models.loading import read_table_model
from lcifr.models.trees import Trees
from tests.models.loaders.tree_semantics import NUMERIC, TOWNS, check_semantics, read, table

glassbox = pytest.importorskip("interpret.glassbox")
QUICK = {"max_rounds": 12, "outer_bags": 2, "n_jobs": 1, "max_bins": 16, "max_interaction_bins": 6}
FRAME, TWO = table(count=200)
THREE = table(count=200, classes=3)[1]
pytestmark = pytest.mark.filterwarnings("ignore")


def classifier(labels: Any = TWO, frame: pd.DataFrame = FRAME, **more: Any) -> Any:
    return glassbox.ExplainableBoostingClassifier(**{**QUICK, "interactions": 0, **more}).fit(frame, labels)


def scores(model: Any) -> Any:
    return lambda rows: model._predict_score(rows)


@pytest.mark.parametrize("labels", [TWO, THREE, np.where(TWO, "yes", "no")], ids=["two", "three", "texts"])
@pytest.mark.parametrize("pairs", [0, 3])
def test_classes(pairs: int, labels: Any) -> None:
    model = classifier(labels, interactions=pairs if labels is not THREE else 0)
    assert check_semantics(model, FRAME, scores(model)) > 400
    found = read(model, FRAME)
    assert list(found.model.labels) == sorted(set(labels.tolist()))  # type: ignore[arg-type]


def test_pairs_of_numbers_and_categories() -> None:
    model = classifier(interactions=[("age", "score"), ("income", "town"), ("town", "sex")])
    assert check_semantics(model, FRAME, scores(model)) > 400
    trees = read(model, FRAME).model.function
    assert isinstance(trees, Trees)
    assert trees.count == 8


def test_numbers() -> None:
    model = glassbox.ExplainableBoostingRegressor(**QUICK, interactions=1).fit(FRAME, FRAME.score * 3 + TWO)
    assert check_semantics(model, FRAME, model.predict) > 400


def test_a_value_that_nobody_has_seen() -> None:
    seen = FRAME.town.isin(TOWNS[:3]).to_numpy()
    model = classifier(TWO[seen], FRAME[seen])
    unseen = model.term_scores_[3]
    unseen[-1] = 0.7  # what the model would say of a town that it does not know
    assert check_semantics(model, FRAME, scores(model)) > 400


@pytest.mark.parametrize("kind", ["bool", "truth", "float32", "category", "whole as category", "merged"])
def test_columns_of_other_kinds(kind: str) -> None:
    frame, more = FRAME.copy(), dict[str, Any]()
    if kind == "bool":
        frame["member"] = frame.score > 0.3
    elif kind == "truth":  # a category, not a number
        frame["member"] = frame.score > 0.3
        more = {"feature_types": ["continuous"] * 3 + ["nominal"] * 3}
    elif kind == "float32":
        frame[["income", "score"]] = frame[["income", "score"]].astype(np.float32)
    elif kind == "category":
        frame["town"] = frame.town.astype("category")
    elif kind == "merged":
        more = {"feature_types": ["continuous"] * 3 + [["Bern", "Rome", "Oslo", "Lyon"], "nominal"]}
    else:
        frame["kids"] = np.arange(len(frame)) % 4
        more = {"feature_types": ["continuous"] * 3 + ["nominal"] * 3}
    model = classifier(frame=frame, **more)
    schema = Schema.infer(frame, categorical=["kids"] if kind.startswith("whole") else [])
    found = read_table_model(model, frame, Encoding.fit(frame, schema))
    if kind.startswith("whole"):
        assert (found.predict(frame) == model.predict(frame)).all()
        people = lcifr.data.Individuals.read(frame, schema)
        assert (found.decide(people) == model.predict(frame)).all()
        return
    assert check_semantics(model, frame, scores(model)) > 400


def test_behind_a_scaler_and_inside_a_threshold() -> None:
    inner = glassbox.ExplainableBoostingClassifier(**QUICK, interactions=0)
    model = make_pipeline(StandardScaler(), inner).fit(FRAME[NUMERIC], TWO)
    assert check_semantics(model, FRAME[NUMERIC]) > 200
    fixed = FixedThresholdClassifier(inner, threshold=0.35).fit(FRAME, TWO)
    assert check_semantics(fixed, FRAME) > 400


def test_an_audit() -> None:
    found = lcifr.audit(classifier(), FRAME.head(40), similarity="same(categorical) and numeric within 0.5 sd")
    assert {str(one) for one in found.verdict} == {"CERTIFIED", "COUNTEREXAMPLE"}
    assert str(found.arithmetic) == "float64"


def test_what_is_refused_by_name() -> None:
    three = classifier(interactions=[("age", "income", "score")])
    with pytest.raises(NetworkError, match="3 features at once: age, income, score"):
        read(three, FRAME)
    linked = glassbox.ExplainableBoostingRegressor(**QUICK, interactions=0, objective="poisson_deviance")
    with pytest.raises(NetworkError, match='the link "log"'):
        read(linked.fit(FRAME, TWO + 1.0), FRAME)
    with pytest.raises(NetworkError, match="one class only"):
        read(classifier(np.zeros(len(FRAME), int)), FRAME)
    with pytest.raises(NetworkError, match="is not supported"):
        read(glassbox.LogisticRegression().fit(FRAME[NUMERIC], TWO), FRAME[NUMERIC])


def test_truth_values_in_a_column_of_any_objects_are_refused() -> None:
    frame = FRAME.copy()
    frame["member"] = frame.score > 0.3
    model = classifier(frame=frame, feature_types=["continuous"] * 3 + ["nominal"] * 3)
    objects = frame.assign(member=frame.member.astype(object))
    with pytest.raises(NetworkError, match="truth values"):
        read_table_model(model, objects, Encoding.fit(objects, Schema.infer(objects)))
