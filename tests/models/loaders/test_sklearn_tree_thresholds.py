"""Wrappers around trees: at every threshold of the trees they decide as scikit-learn's calibrated and tuned ones do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import lcifr
from lcifr.errors import NetworkError
from tests.models.loaders.tree_semantics import NUMERIC, before, check_semantics, read, table

FRAME, LABELS = table(count=200)


def boosters() -> dict[str, Any]:
    found: dict[str, Any] = {
        "boosting": GradientBoostingClassifier(n_estimators=8, random_state=0),
        "histogram": HistGradientBoostingClassifier(max_iter=8, random_state=0),
        "forest": RandomForestClassifier(7, max_depth=5, random_state=0),
        "extra": ExtraTreesClassifier(7, max_depth=5, random_state=0, class_weight="balanced"),
        "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    }
    try:
        import lightgbm
        import xgboost
    except ImportError:  # the wrappers of scikit-learn are tested without them
        return found
    found["xgboost"] = xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1)
    found["lightgbm"] = lightgbm.LGBMClassifier(n_estimators=8, min_child_samples=5, n_jobs=1, verbose=-1)
    return found


TREES = boosters()


def wrapped(name: str, kind: str) -> Any:
    inner = TREES[name]
    if kind == "calibrated":
        return CalibratedClassifierCV(inner, ensemble=False, cv=2)
    if kind == "fixed":
        return FixedThresholdClassifier(inner, threshold=0.3)
    if kind == "first":
        return FixedThresholdClassifier(inner, threshold=0.3, pos_label=0, response_method="predict_proba")
    if kind == "tuned":
        return TunedThresholdClassifierCV(inner, scoring=make_scorer(recall_score), cv=2, thresholds=10)
    calibrated = CalibratedClassifierCV(inner, ensemble=False, cv=2)
    return FixedThresholdClassifier(calibrated, threshold=0.6)


KINDS = ("calibrated", "fixed", "first", "tuned", "both")
QUICK = [("forest", kind) for kind in KINDS] + [("xgboost", "both"), ("lightgbm", "first"), ("histogram", "calibrated")]
REST = [(name, kind) for name in TREES for kind in KINDS if (name, kind) not in QUICK]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "kind"),
    [*(one for one in QUICK if one[0] in TREES), *(pytest.param(*one, marks=pytest.mark.long) for one in REST)],
)
def test_wrappers_around_trees(name: str, kind: str) -> None:
    model = wrapped(name, kind).fit(FRAME[NUMERIC], LABELS)
    assert check_semantics(model, FRAME[NUMERIC]) >= len(FRAME)


def test_a_threshold_of_the_decision_function() -> None:
    for label in (0, 1):
        model = FixedThresholdClassifier(
            TREES["boosting"], threshold=0.4, response_method="decision_function", pos_label=label
        )
        found = read(model.fit(FRAME[NUMERIC], LABELS), FRAME[NUMERIC])
        assert found.model.rule.band == ((0.4, 0.4) if label else (-0.4, -0.4))
        assert check_semantics(model, FRAME[NUMERIC]) > 200


def test_pipelines_inside_and_outside() -> None:
    inside = FixedThresholdClassifier(make_pipeline(before(), TREES["histogram"]), threshold=0.6)
    outside = make_pipeline(before(), CalibratedClassifierCV(TREES["forest"], ensemble=False, cv=2))
    for model in (inside, outside):
        assert check_semantics(model.fit(FRAME, LABELS), FRAME) > 200


def test_a_calibration_that_turns_the_order_around() -> None:
    """Labels that say the opposite: the more the trees say, the less the calibrated probability."""
    inner = FrozenEstimator(GradientBoostingClassifier(n_estimators=5, random_state=0).fit(FRAME[NUMERIC], 1 - LABELS))
    model = CalibratedClassifierCV(inner, ensemble=False).fit(FRAME[NUMERIC], LABELS)
    assert model.calibrated_classifiers_[0].calibrators[0].a_ > 0
    assert check_semantics(model, FRAME[NUMERIC]) > 200


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (CalibratedClassifierCV(TREES["boosting"], cv=2), "averages 2 models"),
        (CalibratedClassifierCV(TREES["boosting"], cv=2, ensemble=False, method="isotonic"), "isotonic"),
    ],
)
def test_what_is_refused_by_name(model: Any, words: str) -> None:
    with pytest.raises(NetworkError, match=words):
        read(model.fit(FRAME[NUMERIC], LABELS), FRAME[NUMERIC])


def test_several_classes_are_refused() -> None:
    frame, labels = table(count=200, classes=3)
    model = CalibratedClassifierCV(TREES["forest"], cv=2, ensemble=False).fit(frame[NUMERIC], labels)
    with pytest.raises(NetworkError, match="3 classes"):
        read(model, frame[NUMERIC])


def test_an_audit_of_wrapped_trees() -> None:
    model = FixedThresholdClassifier(make_pipeline(before(), TREES["forest"]), threshold=0.4).fit(FRAME, LABELS)
    found = lcifr.audit(model, FRAME.head(30), similarity="same(categorical) and numeric within 0.3 sd")
    assert {"CERTIFIED", "COUNTEREXAMPLE"} <= {str(one) for one in found.verdict}
    assert np.isin([str(one) for one in found.verdict], ["CERTIFIED", "COUNTEREXAMPLE", "UNDECIDED"]).all()


@pytest.mark.parametrize("threshold", [0.3, 1.0])
def test_a_frozen_forest_is_the_forest_and_not_its_pattern(threshold: float) -> None:
    frozen = FrozenEstimator(TREES["forest"].fit(FRAME[NUMERIC], LABELS))
    model = FixedThresholdClassifier(frozen, threshold=threshold).fit(FRAME[NUMERIC], LABELS)
    assert check_semantics(model, FRAME[NUMERIC]) > 200
