"""Trees in skops files: honest ones are the fitted objects; indices that nobody checks later are checked."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from lcifr.data import Encoding, Schema
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.loading import load_file
from tests.models.loaders.skops_files import entries, mutate, packed
from tests.models.loaders.tree_semantics import CATEGORIES, NUMERIC, before, check_semantics, read, table

FRAME, TWO = table(count=150)
THREE = table(count=150, classes=3)[1]
OWN = {**dict.fromkeys(CATEGORIES, "category")}

SEEDED = GradientBoostingClassifier(n_estimators=4, random_state=np.random.RandomState(0))
CALIBRATED = CalibratedClassifierCV(GradientBoostingClassifier(n_estimators=4), ensemble=False)
MODELS: dict[str, Any] = {
    "tree": make_pipeline(before(), DecisionTreeClassifier(max_depth=4, ccp_alpha=0.002)),
    "tree of numbers": make_pipeline(before(), DecisionTreeRegressor(max_depth=4)),
    "forest": make_pipeline(before(), RandomForestClassifier(4, max_depth=4, class_weight="balanced", oob_score=True)),
    "forest of numbers": make_pipeline(before(), RandomForestRegressor(4, max_depth=4)),
    "extra trees": make_pipeline(before(), ExtraTreesClassifier(4, max_depth=4)),
    "boosting": make_pipeline(before(), SEEDED),
    "boosting of numbers": make_pipeline(before(), GradientBoostingRegressor(n_estimators=4, loss="quantile")),
    "histogram": make_pipeline(before(ordinal=True), HistGradientBoostingClassifier(max_iter=4, early_stopping=True)),
    "histogram of numbers": make_pipeline(before(), HistGradientBoostingRegressor(max_iter=4, loss="absolute_error")),
    "threshold": FixedThresholdClassifier(make_pipeline(before(), RandomForestClassifier(4)), threshold=0.4),
    "calibrated": make_pipeline(before(), CALIBRATED),
}  # fmt: skip


def fitted(name: str, labels: Any = TWO) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name].fit(FRAME, labels + FRAME.score if "numbers" in name else labels)


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(data: bytes) -> Path:
        path = tmp_path / "model.skops"
        path.write_bytes(data)
        return path

    return write


@pytest.mark.parametrize("name", MODELS)
def test_a_file_is_the_fitted_object(name: str, written: Any) -> None:
    model = fitted(name)
    file = load_file(written(skops.io.dumps(model)))
    found = file.read_table(FRAME, Encoding.fit(FRAME, Schema.infer(FRAME)))
    assert found.model.identity == read(model, FRAME).model.identity
    assert np.array_equal(found.predict(FRAME), model.predict(FRAME))
    assert any("trees" in step for step in file.outline().steps)


@pytest.mark.parametrize("name", ["forest", "boosting", "histogram"])
def test_several_classes(name: str, written: Any) -> None:
    model = fitted(name, THREE)
    assert check_semantics(load_file(written(skops.io.dumps(model))).model, FRAME) > 150


def test_categories_of_histogram_boosting(written: Any) -> None:
    frame = FRAME.astype(OWN)
    model = HistGradientBoostingClassifier(max_iter=6, categorical_features="from_dtype").fit(frame, TWO)
    assert check_semantics(load_file(written(skops.io.dumps(model))).model, frame) > 150


def changed(change: Callable[[Any], Any]) -> bytes:
    """A tree whose array of nodes is another one."""
    parts = entries(skops.io.dumps(DecisionTreeClassifier(max_depth=3).fit(FRAME[NUMERIC], TWO)))
    nodes = [name for name in parts if name.endswith(".npy") and b"left_child" in parts[name][:400]]
    array = np.load(io.BytesIO(parts[nodes[0]]))
    buffer = io.BytesIO()
    found = change(array)
    np.save(buffer, array if found is None else found)
    return packed(parts | {nodes[0]: buffer.getvalue()})


def _set(field: str, value: Any, place: int = 0) -> Callable[[Any], None]:
    def change(array: Any) -> None:
        array[field][place] = value

    return change


HOSTILE = {
    "a child far away": _set("left_child", 10**9),
    "a negative child": _set("right_child", -7),
    "a cycle": _set("left_child", 0),
    "two parents": lambda array: _set("left_child", int(array["right_child"][0]))(array),
    "a column far away": _set("feature", 10**9),
    "a negative column": _set("feature", -3),
    "a threshold that is none": _set("threshold", np.nan),
    "fewer nodes than it says": lambda array: array[:1],
    "other records": lambda array: array[["left_child", "right_child"]],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_indices_that_nobody_checks_later_are_checked(name: str, written: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = changed(HOSTILE[name])
    monkeypatch.setattr(skops.io, "loads", lambda *_, **__: pytest.fail("something was loaded"))
    with pytest.raises(NetworkError, match=r"tree|plain values|no number"):
        load_file(written(data))


@pytest.mark.parametrize(("key", "value"), [("node_count", 10**6), ("node_count", -1), ("n_outputs", 50)])
def test_numbers_of_nodes_and_outputs_are_those_of_the_arrays(key: str, value: int, written: Any) -> None:
    parts = entries(skops.io.dumps(DecisionTreeClassifier(max_depth=3).fit(FRAME[NUMERIC], TWO)))
    schema = json.loads(parts["schema.json"])
    tree = schema["content"]["content"]["tree_"]
    if key == "n_outputs":
        tree["__reduce__"]["args"]["content"][2]["content"] = str(value)
    else:
        tree["content"]["content"][key]["content"] = str(value)
    with pytest.raises(NetworkError, match="do not fit together"):
        load_file(written(packed(parts | {"schema.json": json.dumps(schema).encode()})))


def test_a_partial_function_that_does_more_than_check_is_refused(written: Any) -> None:
    frame = FRAME.astype(OWN)
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype").fit(frame, TWO)
    parts = entries(skops.io.dumps(model))
    text = parts["schema.json"].decode()
    assert '"check_array"' in text
    hostile = text.replace('"check_array"', '"as_float_array"').encode()
    with pytest.raises(NetworkError, match=r"functools\.partial"):
        load_file(written(packed(parts | {"schema.json": hostile})))


@pytest.mark.parametrize("name", ["forest", "histogram"])
def test_mutated_files_of_trees_are_errors_or_models(name: str, written: Any) -> None:
    data, rng, survived = skops.io.dumps(fitted(name)), np.random.default_rng(1), 0
    for _ in range(60):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = load_file(written(mutate(data, rng))).read_table(
                    FRAME, Encoding.fit(FRAME, Schema.infer(FRAME))
                )
                found.predict(FRAME)
                survived += 1
            except (LcifrError, ValueError, TypeError, AttributeError, IndexError, KeyError, ArithmeticError):
                continue
    assert 0 < survived < 60
