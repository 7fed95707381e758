"""Hostile, mutated and unsupported ensembles: refused by name, or read; never run, never hung."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lcifr.data import Encoding, Schema
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.description import DescribedOutput, Meaning, ModelDescription
from lcifr.models.loaders.onnx import runtime
from lcifr.models.loaders.onnx.reader import read_onnx
from lcifr.models.trees import Trees
from tests.models.loaders.onnx import ensembles
from tests.models.loaders.onnx.ensembles import FLOAT, DrawnEnsemble, draw
from tests.models.loaders.onnx.loaded_ensembles import INPUTS, LABELS, RNG, TABLE, read
from tests.models.loaders.onnx.mutations import mutated


def _changed(name: str, place: int, value: Any) -> Callable[[DrawnEnsemble], dict[str, Any]]:
    def change(drawn: DrawnEnsemble) -> dict[str, Any]:
        entries = list(drawn.attributes[name])
        entries[place] = value
        return {name: entries}

    return change


def _refused(**more: Any) -> Callable[[DrawnEnsemble], dict[str, Any]]:
    return lambda drawn: more


REFUSED: dict[str, tuple[Callable[[DrawnEnsemble], dict[str, Any]], str]] = {
    "a cycle": (_changed("nodes_truenodeids", 0, 0), "two parents or none"),
    "no such child": (_changed("nodes_truenodeids", 0, 999), "not a node of its tree"),
    "a negative child": (_changed("nodes_falsenodeids", 0, -1), "not a node of its tree"),
    "no such column": (_changed("nodes_featureids", 0, 3), "beyond the 3"),
    "a negative column": (_changed("nodes_featureids", 0, -1), "beyond the 3"),
    "NaN": (_changed("nodes_values", 0, float("nan")), "NaN|class 0"),
    "an unknown mode": (_changed("nodes_modes", 0, "BRANCH_ODD"), "BRANCH_ODD"),
    "a weight of NaN": (_changed("class_weights", 0, float("nan")), "a weight nan"),
    "a weight of no leaf": (_changed("class_nodeids", 0, 999), "a weight"),
    "a class that is not there": (_changed("class_ids", 0, 9), "for output 9"),
    "a leaf without weights": (_changed("class_nodeids", 0, 0), "a leaf has no weight"),
    "a tree that stands apart": (_changed("nodes_treeids", -1, 0), "."),
    "lists of two lengths": (lambda drawn: {"nodes_values": drawn.attributes["nodes_values"][:-1]}, "entries"),
    "two base values": (_refused(base_values=[0.1, 0.2]), "base values of two classes"),
    "labels alike": (_refused(classlabels_int64s=[5, 5]), "labels"),
    "a billion classes": (_refused(classlabels_int64s=list(range(3000))), "are too many"),
    "no weight in some leaves": (_refused(classlabels_int64s=[0, 1, 2]), "has no weight in some leaves"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_ensembles_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_session", lambda data, output: pytest.fail("a refused file was run"))
    change, words = REFUSED[name]
    drawn = draw(np.random.default_rng(0), "class", (0,), modes=("BRANCH_LEQ",))
    with pytest.raises(NetworkError, match=words):
        read(drawn.model(**{**LABELS, **change(drawn)}))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"aggregate_function": "MAX"}, "aggregate_function MAX"),
        ({"post_transform": "LOGISTIC"}, "post_transform LOGISTIC"),
        ({"post_transform": "PROBIT"}, "post_transform PROBIT"),
        ({"n_targets": 2**40}, "too many"),
        ({"n_targets": 2, "base_values": [0.1]}, "1 base values for 2 outputs"),
    ],
)
def test_what_a_regression_may_not_have(more: dict[str, Any], words: str) -> None:
    with pytest.raises(NetworkError, match=words):
        read(draw(RNG, "target", (0,)).model(**{"n_targets": 1, **more}))


def test_a_transform_by_its_number_is_refused() -> None:
    attributes = ensembles.second_generation(np.random.default_rng(1))
    with pytest.raises(NetworkError, match="post_transform"):
        read(ensembles.of_second_generation({**attributes, "post_transform": 2}), DescribedOutput(Meaning.SCORES))


def test_many_equalities_are_refused_before_they_fill_the_memory() -> None:
    """Each comparison for equality leaves two sides of a number: so many of them are no tree that anybody wants."""
    depth = 60
    names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    rows = [(0, k, k % 2, "BRANCH_EQ", k / 7, depth + 1 + k, k + 1) for k in range(depth)]
    rows += [(0, k, 0, "LEAF", 0.0, 0, 0) for k in range(depth, 2 * depth + 1)]
    nodes = {f"nodes_{name}": [row[j] for row in rows] for j, name in enumerate(names)}
    leaves = {"target_treeids": [0] * (depth + 1), "target_nodeids": list(range(depth, 2 * depth + 1))}
    weights = {"target_ids": [0] * (depth + 1), "target_weights": list(map(float, range(depth + 1)))}
    found = DrawnEnsemble("target", FLOAT, {**nodes, **leaves, **weights})
    built = read(found.model(n_targets=1)).model.function
    assert isinstance(built, Trees)
    assert len(built.nodes.kind) < 20_000


def test_mutated_ensembles_are_read_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_session", lambda data, output: pytest.fail("a mutated file was run"))
    files = [
        draw(np.random.default_rng(0), "class", (0,), trees=2).model(**LABELS),
        ensembles.of_second_generation(ensembles.second_generation(np.random.default_rng(1), trees=2, targets=1)),
    ]
    refused = 0
    for number in range(200):
        data = mutated(files[number % 2].SerializeToString(), np.random.default_rng(number))
        try:
            read_onnx(data, ModelDescription(INPUTS)).read_table(TABLE, Encoding.fit(TABLE, Schema.infer(TABLE)))
        except LcifrError:
            refused += 1
    assert 0 < refused < 200
