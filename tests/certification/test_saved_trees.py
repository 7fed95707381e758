"""Files of tree models on z: what is read back decides the same, and a changed file is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier

from lcifr.certification.saved_models import (
    TREES,
    Stored,
    read_saved_trees,
    read_stored,
    write_saved_trees,
    write_stored,
)
from lcifr.errors import LearningError
from lcifr.models.loading import read_model
from lcifr.models.model import Model

ORIGIN = {"file": "trees.json"}


def model_of(kind: str) -> Model:
    rng = np.random.default_rng(0)
    z, names = rng.normal(size=(80, 2)), np.array(["no", "perhaps", "yes"])
    code = np.digitize(z[:, 0] + z[:, 1], [-0.5, 0.5])
    if kind == "numbers":
        return read_model(GradientBoostingRegressor(n_estimators=3, random_state=0).fit(z, z[:, 0]), tolerance=0.5)
    if kind == "classes":
        return read_model(RandomForestClassifier(3, max_depth=3, random_state=0).fit(z, names[code]))
    return read_model(GradientBoostingClassifier(n_estimators=3, random_state=0).fit(z, code > 0))


@pytest.mark.parametrize("kind", ["sign", "classes", "numbers"])
def test_what_is_read_back_is_what_was_written(kind: str, tmp_path: Path) -> None:
    model = model_of(kind)
    write_saved_trees(tmp_path / "model.safetensors", model, ORIGIN)
    saved = read_saved_trees(tmp_path / "model.safetensors")
    found = saved.model.agreeing(tolerance=model.rule.tolerance)
    assert found.identity == model.identity
    assert found.function.native == model.function.native
    assert saved.parameters == ORIGIN
    assert saved.class_weight is None
    z = np.random.default_rng(1).normal(size=(200, 2))
    np.testing.assert_array_equal(found.predict(z), model.predict(z))


@pytest.mark.parametrize("change", ["leaf gone", "a category", "too large", "a class more", "base"])
def test_what_does_not_fit_together_is_refused(change: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write_saved_trees(path, model_of("sign"), ORIGIN)
    content = read_stored(path, TREES).content
    trees = content["function"]["trees"]
    if change == "leaf gone":
        trees[0].pop()
    elif change == "a category":
        trees[0][0] = ["choice", 0, [0]]
    elif change == "too large":
        trees[0][-1] = ["leaf", [[0, 1e308]]]
    elif change == "a class more":
        content["target"]["classes"] = [0, 1, 2]
    else:
        content["function"]["base"] = [0.0, 0.0]
    write_stored(path, TREES, Stored(content, {}))
    with pytest.raises(LearningError, match="contradicts itself"):
        read_saved_trees(path)


def test_a_flipped_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write_saved_trees(path, model_of("sign"), ORIGIN)
    data = path.read_bytes()
    at = data.index(b".", data.index(b"numeric")) + 2  # a digit of the first threshold
    path.write_bytes(data[:at] + (b"1" if data[at : at + 1] != b"1" else b"2") + data[at + 1 :])
    with pytest.raises(LearningError):
        read_saved_trees(path)
