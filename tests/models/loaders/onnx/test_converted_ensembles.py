"""Ensembles as converters write them: pipelines by skl2onnx, and graphs of XGBoost and LightGBM."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import lcifr
from lcifr.data import Encoding, Schema
from lcifr.errors import NetworkError
from lcifr.models.loaders.onnx.reader import read_onnx
from tests.models.loaders import tree_semantics
from tests.models.loaders.onnx.ensembles import FLOAT, DrawnEnsemble
from tests.models.loaders.onnx.loaded_ensembles import TABLE, agrees, read
from tests.models.loaders.tree_semantics import CATEGORIES, check_semantics

MODELS: dict[str, tuple[Any, int]] = {
    "tree": (DecisionTreeClassifier(max_depth=4, random_state=0), 2),
    "tree of three": (DecisionTreeClassifier(max_depth=4, random_state=0, class_weight="balanced"), 3),
    "forest": (RandomForestClassifier(6, random_state=0), 2),
    "forest of three": (RandomForestClassifier(6, max_depth=5, random_state=0), 3),
    "extra trees": (ExtraTreesClassifier(6, max_depth=5, random_state=0), 2),
    "boosting": (GradientBoostingClassifier(n_estimators=9, random_state=0), 2),
    "boosting of three": (GradientBoostingClassifier(n_estimators=5, random_state=0, subsample=0.7), 3),
    "regression": (GradientBoostingRegressor(n_estimators=9, random_state=0, loss="huber"), 0),
    "forest of numbers": (RandomForestRegressor(6, max_depth=5, random_state=0), 0),
    "tree of numbers": (DecisionTreeRegressor(max_depth=4, random_state=0), 0),
}


def converted(estimator: Any, classes: int, *between: Any) -> tuple[bytes, pd.DataFrame]:
    frame, labels = tree_semantics.table(count=200, classes=classes or 2)
    columns = ColumnTransformer(
        [
            ("scaled", StandardScaler(), ["income", "score"]),
            ("coded", OneHotEncoder(handle_unknown="ignore", sparse_output=False), CATEGORIES),
            ("rest", "passthrough", ["age"]),
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(columns, *between, estimator).fit(frame, labels if classes else labels + frame.score)
        kinds = [
            (name, (FloatTensorType if frame[name].dtype.kind in "if" else StringTensorType)([None, 1]))
            for name in frame
        ]
        options = {"zipmap": False} if classes else None
        return bytes(to_onnx(model, initial_types=kinds, options=options).SerializeToString()), frame


@pytest.mark.parametrize("name", MODELS)
def test_what_skl2onnx_makes_of_pipelines_with_trees(name: str) -> None:
    data, frame = converted(*MODELS[name])
    found = read_onnx(data)
    assert check_semantics(found, frame) > 300
    assert "TreeEnsemble" in found.outline().steps[-1]


def as_converters_write(trees: list[Any], mode: str, leaf: str) -> dict[str, Any]:
    """Nodes of XGBoost's or LightGBM's own trees, in the order in which converters walk through them."""
    names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    nodes: dict[str, list[Any]] = {f"nodes_{name}": [] for name in (*names, "missing_value_tracks_true")}
    weights: dict[str, list[Any]] = {f"class_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree, root in enumerate(trees):
        waiting, count = [(0, root)], 1
        while waiting:
            place, node = waiting.pop()
            row: list[Any] = [tree, place, 0, "LEAF", 0.0, 0, 0, 0]
            if leaf in node:
                for name, value in (("treeids", tree), ("nodeids", place), ("ids", 0), ("weights", node[leaf])):
                    weights[f"class_{name}"].append(value)
            else:
                yes, no, split = node["sides"]
                row[2:] = [split[0], mode, split[1], count, count + 1, int(split[2])]
                waiting += [(count, yes), (count + 1, no)]
                count += 2
            for name, value in zip(nodes, row, strict=True):
                nodes[name].append(value)
    return {**nodes, **weights, "classlabels_int64s": [0, 1], "post_transform": "LOGISTIC"}


def test_what_converters_make_of_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    frame, labels = TABLE[["a", "b"]].assign(c=0.0), (TABLE.a + TABLE.b > 0).astype(int)
    model = xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1, base_score=0.4).fit(frame, labels)
    dumped = [json.loads(one) for one in model.get_booster().get_dump(dump_format="json")]

    def walk(node: dict[str, Any]) -> None:
        if "children" in node:
            named = {child["nodeid"]: child for child in node["children"]}
            split = ("abc".index(node["split"]), node["split_condition"], node["missing"] == node["yes"])
            node["sides"] = (named[node["yes"]], named[node["no"]], split)
            for child in node["children"]:
                walk(child)

    for one in dumped:
        walk(one)
    attributes = as_converters_write(dumped, "BRANCH_LT", "leaf") | {"base_values": [float(np.log(0.4 / 0.6))]}
    converted = DrawnEnsemble("class", FLOAT, attributes).model()
    agrees(converted)
    assert (read(converted).predict(TABLE) == model.predict(frame)).all()


def test_what_converters_make_of_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    frame, labels = TABLE[["a", "b"]].assign(c=0.0), (TABLE.a + TABLE.b > 0).astype(int)
    model = lightgbm.LGBMClassifier(n_estimators=6, min_child_samples=3, n_jobs=1, verbose=-1).fit(frame, labels)

    def walk(node: dict[str, Any]) -> dict[str, Any]:
        if "left_child" not in node:
            return {"leaf_value": node["leaf_value"]}
        split = (node["split_feature"], node["threshold"], node["default_left"])
        return {"sides": (walk(node["left_child"]), walk(node["right_child"]), split)}

    dumped = [walk(one["tree_structure"]) for one in model.booster_.dump_model()["tree_info"]]
    attributes = as_converters_write(dumped, "BRANCH_LEQ", "leaf_value")
    agrees(DrawnEnsemble("class", FLOAT, attributes).model())


def test_trees_behind_a_step_that_mixes_columns_are_refused() -> None:
    data, frame = converted(*MODELS["boosting"][:1], 2, PCA(3))
    with pytest.raises(NetworkError, match="mixes columns"):
        read_onnx(data).read_table(frame, Encoding.fit(frame, Schema.infer(frame)))


def test_an_audit_of_a_file_with_trees(tmp_path: Any) -> None:
    data, frame = converted(*MODELS["boosting"])
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    found = lcifr.audit(path, frame.head(40), similarity="same(categorical) and numeric within 0.5 sd")
    assert {str(one) for one in found.verdict} == {"CERTIFIED", "COUNTEREXAMPLE"}
    assert str(found.arithmetic) == "float32"
