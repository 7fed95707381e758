"""Models as arrays: what is read again is the very same, in bits; a kind without such a form is refused by name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from lcifr.data.codec import Arrays, TensorFile
from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import Function
from lcifr.models.model import Model
from lcifr.models.network import Chain, Network
from lcifr.models.rule import Kind, Rule
from lcifr.models.trees import NumberNode, TreeLeaf, Trees

FIRST = Network.from_arrays([([[0.1, 1 / 3], [1.0, -0.0]], [1.0, 0.0]), (np.ones((2, 2)), np.zeros(2))])
SECOND = replace(FIRST, native=Arithmetic.FLOAT32, divides="scaler")
TREES = Trees.of(2, [0.5], [NumberNode(0, 1.5, TreeLeaf([1.0]), TreeLeaf([-1.0]))], Fraction(1, 3))
MODELS = {
    "network": Model(FIRST, Rule.of(2), np.array(["no", "yes"])),
    "chain": Model(Chain((FIRST, SECOND)), Rule.of(2, groups=[[0, 1]]), np.array(["no", 1], dtype=object)),
    "trees": Model(TREES, Rule(Kind.SIGN, 1, band=(0.1, 0.2), log_odds=(1.0, 0.5)), np.array([0, 1])),
    "number": Model(TREES, Rule.of(1, tolerance=0.5), None, 3.25),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_was_sent_is_the_same(name: str) -> None:
    model, sent = MODELS[name], Arrays()
    said = json.loads(json.dumps(model.to_arrays(sent)))
    file = TensorFile.from_bytes(TensorFile(sent.arrays, {"about": "it"}).to_bytes())
    found = Model.read_arrays(said, Arrays(file.arrays))
    assert found.identity == model.identity
    assert found.mean == model.mean
    assert (found.function.native, found.function.divides) == (model.function.native, model.function.divides)
    if model.labels is not None:
        assert found.labels is not None
        assert found.labels.dtype == model.labels.dtype


def test_the_form_of_a_network_and_of_trees() -> None:
    assert FIRST.to_arrays(Arrays()) == {
        "kind": "network",
        "layers": [["a0", "a1"], ["a2", "a3"]],
        "native": "float64",
        "divides": "",
    }
    said = TREES.to_arrays(Arrays())
    assert (said["kind"], said["width"], said["base"], said["scale"]) == ("trees", 2, "a8", [1, 3])


class Doubled(Function):
    """Twice its input: a kind that is in one process only."""

    inputs = outputs = 1

    def __call__(self, points: ArrayLike) -> NDArray[np.float64]:
        return 2 * np.asarray(points, dtype=np.float64)

    def error(self, points: ArrayLike) -> NDArray[np.float64]:
        return np.zeros(np.shape(points))

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        return tuple(2 * Fraction(value) for value in point)


def test_a_kind_without_arrays_is_refused_by_name() -> None:
    with pytest.raises(LcifrError, match=r"Doubled cannot be sent to other machines\nFix: leave --executor out"):
        Model(Doubled(), Rule.of(1)).to_arrays(Arrays())


@pytest.mark.parametrize("data", [b"", b"none at all", TensorFile({"a": np.ones(3)}, {}).to_bytes()[:-1]])
def test_bytes_that_are_no_tensor_file_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        TensorFile.from_bytes(data)
