"""German's columns: tree models as objects, skops files and ONNX files, at every threshold and one float beside."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import lcifr
from lcifr.models.loading import load_file
from tests.models.loaders.tree_semantics import check_semantics

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]
DECIDERS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": RandomForestClassifier(20, max_depth=6, random_state=0),
    "extra": ExtraTreesClassifier(20, max_depth=6, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=30, random_state=0),
    "histogram": HistGradientBoostingClassifier(max_iter=30, random_state=0),
}
WRAPPED = {
    "plain": lambda one: one,
    "calibrated": lambda one: CalibratedClassifierCV(one, ensemble=False, cv=2),
    "fixed": lambda one: FixedThresholdClassifier(one, threshold=0.6),
    "tuned": lambda one: TunedThresholdClassifierCV(one, cv=2, thresholds=20),
}


@cache
def german() -> tuple[pd.DataFrame, Any]:
    data = lcifr.datasets.load("german")
    frame = pd.DataFrame(data.train.X).reset_index(drop=True)
    return frame.astype({name: np.float64 for name in frame if frame[name].dtype.kind in "if"}), np.asarray(
        data.train.y
    )


def before(coded: Any) -> ColumnTransformer:
    frame, _ = german()
    numbers = [name for name in frame if frame[name].dtype.kind == "f"]
    texts = [name for name in frame if name not in numbers]
    return ColumnTransformer([("n", StandardScaler(), numbers), ("c", coded, texts)])


@pytest.mark.parametrize("coded", [OneHotEncoder(sparse_output=False), OrdinalEncoder()], ids=["one-hot", "ordinal"])
@pytest.mark.parametrize("wrapper", WRAPPED)
@pytest.mark.parametrize("name", DECIDERS)
def test_objects_and_skops_files(name: str, wrapper: str, coded: Any, tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    frame, labels = german()
    model = make_pipeline(before(coded), WRAPPED[wrapper](DECIDERS[name])).fit(frame, labels)
    assert check_semantics(model, frame) > len(frame)
    skops.dump(model, tmp_path / "model.skops")
    assert check_semantics(load_file(tmp_path / "model.skops").model, frame) > len(frame)


@pytest.mark.parametrize("coded", [OneHotEncoder(sparse_output=False), OrdinalEncoder()], ids=["one-hot", "ordinal"])
@pytest.mark.parametrize("name", ["tree", "forest", "extra", "boosting"])  # skl2onnx 1.20 does not write the fifth here
def test_onnx_files(name: str, coded: Any, tmp_path: Path) -> None:
    to_onnx = pytest.importorskip("skl2onnx").to_onnx
    types = pytest.importorskip("skl2onnx.common.data_types")
    frame, labels = german()
    model = make_pipeline(before(coded), DECIDERS[name]).fit(frame, labels)
    kinds = [
        (one, (types.FloatTensorType if frame[one].dtype.kind == "f" else types.StringTensorType)([None, 1]))
        for one in frame
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = to_onnx(model, initial_types=kinds, options={"zipmap": False}).SerializeToString()
    (tmp_path / "model.onnx").write_bytes(data)
    assert check_semantics(load_file(tmp_path / "model.onnx").model, frame) > len(frame)


@pytest.mark.parametrize("pairs", [0, 5])
def test_explainable_boosting(pairs: int) -> None:
    glassbox = pytest.importorskip("interpret.glassbox")
    frame, labels = german()
    model = glassbox.ExplainableBoostingClassifier(interactions=pairs, outer_bags=2, n_jobs=1).fit(frame, labels)
    assert check_semantics(model, frame, model._predict_score) > len(frame)
