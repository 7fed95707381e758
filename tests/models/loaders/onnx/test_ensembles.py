"""Tree ensembles of ONNX, both generations: at every threshold, and one float beside, as onnxruntime has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from lcifr.data import Individuals
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import DescribedOutput, Meaning
from tests.models.loaders.onnx import ensembles
from tests.models.loaders.onnx.ensembles import DOUBLE, FLOAT, draw
from tests.models.loaders.onnx.loaded_ensembles import LABELS, RNG, TABLE, agrees, read

BINARY: dict[str, tuple[tuple[int, ...], bool, dict[str, Any]]] = {
    "one weight": ((0,), False, LABELS),
    "one weight, none negative": ((0,), True, LABELS),
    "one weight and a base value": ((0,), True, {**LABELS, "base_values": [0.1]}),
    "one weight, logistic": ((0,), False, {**LABELS, "base_values": [-0.2], "post_transform": "LOGISTIC"}),
    "one weight, none negative, logistic": ((0,), True, {**LABELS, "post_transform": "LOGISTIC"}),
    "one weight of the second class": ((1,), False, LABELS),
    "one weight of the second class, none negative": ((1,), True, {"classlabels_strings": ["no", "yes"]}),
    "both weights": ((0, 1), False, {"classlabels_int64s": [0, 1]}),
    "both weights, texts": ((0, 1), False, {"classlabels_strings": ["no", "yes"], "post_transform": "SOFTMAX"}),
}


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
@pytest.mark.parametrize("name", BINARY)
def test_a_classifier_of_two_classes_decides_by_one_score(name: str, dtype: np.dtype[Any]) -> None:
    outputs, positive, more = BINARY[name]
    rng = np.random.default_rng(len(name))
    model = draw(rng, "class", outputs, dtype=dtype, positive=positive).model(**more)
    agrees(model)
    assert read(model).model.function.native is (Arithmetic.FLOAT32 if dtype == FLOAT else Arithmetic.FLOAT64)


@pytest.mark.parametrize("more", [{}, {"base_values": [0.1, -0.2, 0.3], "post_transform": "SOFTMAX"}])
def test_several_classes(more: dict[str, Any]) -> None:
    agrees(draw(RNG, "class", (0, 1, 2)).model(classlabels_int64s=[3, 1, 2], **more))


def test_one_tree_has_no_ties() -> None:
    """A leaf of exactly one half decides for the first class, and so do two classes that weigh the same."""
    half = draw(RNG, "class", (0,), trees=1)
    half.attributes["class_weights"] = [0.5] * len(half.attributes["class_weights"])
    found = read(half.model(**LABELS))
    assert set(found.predict(TABLE)) == {5}
    assert (found.model.function(found.encoding.encode(Individuals.read(TABLE, found.encoding.schema))) == -1).all()
    agrees(draw(RNG, "class", (0, 1, 2), trees=1).model(classlabels_int64s=[3, 1, 2]))


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE"])
def test_numbers(aggregate: str, dtype: np.dtype[Any]) -> None:
    model = draw(RNG, "target", (0,), dtype=dtype).model(n_targets=1, base_values=[0.3], aggregate_function=aggregate)
    agrees(model)
    assert read(model).predict_with_outputs is not None


@pytest.mark.parametrize(
    ("output", "outputs"),
    [
        (DescribedOutput(Meaning.SCORES, "scores", classes=("no", "yes")), 2),
        (DescribedOutput(Meaning.PROBABILITY, "scores", position=1, classes=("no", "yes"), threshold=0.4), 1),
        (DescribedOutput(Meaning.PROBABILITY, "scores", position=0, classes=("yes", "no"), threshold=0.4), 1),
    ],
)
def test_scores_that_a_description_compares(output: DescribedOutput, outputs: int) -> None:
    model = draw(RNG, "class", (0,), positive=True).model(**LABELS)
    agrees(model, output)
    assert read(model, output).model.function.outputs == outputs


def test_the_logistic_function_of_a_sum() -> None:
    model = draw(RNG, "class", (0,)).model(**LABELS, post_transform="LOGISTIC")
    for position in (0, 1):
        agrees(model, DescribedOutput(Meaning.PROBABILITY, "scores", position=position, threshold=0.7))


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE])
@pytest.mark.parametrize("seed", range(3))
def test_the_second_generation(seed: int, dtype: np.dtype[Any]) -> None:
    attributes = ensembles.second_generation(np.random.default_rng(seed), dtype=dtype)
    model = ensembles.of_second_generation({**attributes, "aggregate_function": seed % 2}, dtype)
    agrees(model, DescribedOutput(Meaning.SCORES, classes=("no", "yes")))


def behind(*nodes: onnx.NodeProto, kind: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """Trees with two outputs, and what follows."""
    attributes = ensembles.second_generation(np.random.default_rng(1), targets=2)
    model = ensembles.of_second_generation(attributes)
    model.graph.node.extend(nodes)
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info(nodes[-1].output[0], kind, None))
    return model


def constant(name: str, *values: float) -> onnx.NodeProto:
    held = helper.make_tensor("t", TensorProto.FLOAT, [len(values)], values)
    return helper.make_node("Constant", [], [name], value=held)


@pytest.mark.parametrize(
    ("nodes", "output"),
    [
        ([helper.make_node("Softmax", ["scores"], ["y"])], DescribedOutput(Meaning.PROBABILITY, threshold=0.45)),
        ([constant("k", 0.3), helper.make_node("Add", ["scores", "k"], ["y"])], DescribedOutput(Meaning.SCORES)),
        ([constant("k", 0.1), helper.make_node("Mul", ["scores", "k"], ["y"])], DescribedOutput(Meaning.SCORES)),
        ([helper.make_node("Add", ["scores", "scores"], ["y"])], DescribedOutput(Meaning.SCORES)),
        ([helper.make_node("ArgMax", ["scores"], ["y"], axis=1)], None),
    ],
)
def test_sums_behind_trees(nodes: list[onnx.NodeProto], output: DescribedOutput | None) -> None:
    agrees(behind(*nodes, kind=TensorProto.INT64 if output is None else TensorProto.FLOAT), output)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([helper.make_node("Relu", ["scores"], ["y"])], "an activation behind trees"),
        ([constant("k", 0.3, 0.4), helper.make_node("Mul", ["scores", "k"], ["y"])], "multiplies them by 2 numbers"),
        ([constant("k", 3.0), helper.make_node("Div", ["scores", "k"], ["y"])], "divides the outputs of trees"),
        ([helper.make_node("Concat", ["scores", "x"], ["y"], axis=1)], "column beside trees"),
    ],
)
def test_what_is_no_sum_of_trees_is_refused(nodes: list[onnx.NodeProto], words: str) -> None:
    with pytest.raises(NetworkError, match=words):
        read(behind(*nodes), DescribedOutput(Meaning.SCORES))


def test_sets_of_numbers_are_refused_because_a_runtime_takes_fractions_for_whole_ones() -> None:
    leaves = {"leaf_targetids": [0, 0], "leaf_weights": ensembles.tensor([-1.0, 2.0], FLOAT)}
    sides = {"nodes_truenodeids": [0], "nodes_trueleafs": [1], "nodes_falsenodeids": [1], "nodes_falseleafs": [1]}
    member = helper.make_tensor("m", TensorProto.UINT8, [1], [6])
    asked = {"membership_values": ensembles.tensor([1.0, 3.0, 40.0, float("nan")], FLOAT), "nodes_modes": member}
    attributes = {**leaves, **sides, **asked, "nodes_splits": ensembles.tensor([0.0], FLOAT), "tree_roots": [0]}
    model = ensembles.of_second_generation({**attributes, "nodes_featureids": [0], "n_targets": 1})
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    said = session.run(None, {"x": np.array([[1.5, 0, 0]], np.float32)})[0]
    assert said == -1  # 1.5 is none of them
    with pytest.raises(NetworkError, match='equality about the number "a"'):
        read(model)
    agrees(ensembles.of_second_generation({**attributes, "nodes_featureids": [2], "n_targets": 1}))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 400))
def test_drawn_ensembles_of_either_generation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = (FLOAT, DOUBLE)[seed % 2]
    outputs, positive, more = list(BINARY.values())[seed % len(BINARY)]
    agrees(draw(rng, "class", outputs, int(rng.integers(1, 9)), dtype, positive=positive).model(**more))
    agrees(draw(rng, "class", (0, 1, 2), int(rng.integers(1, 9)), dtype).model(classlabels_int64s=[3, 1, 2]))
    agrees(draw(rng, "target", (0,), int(rng.integers(1, 9)), dtype).model(n_targets=1))
    attributes = ensembles.second_generation(rng, int(rng.integers(1, 9)), dtype=dtype)
    agrees(ensembles.of_second_generation(attributes, dtype), DescribedOutput(Meaning.SCORES))
