"""Tree ensembles of ONNX, both generations: at every threshold, and one float beside, as onnxruntime has them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from onnx import TensorProto, helper
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
from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.files.description import DescribedInput, DescribedOutput, InputKind, Meaning, ModelDescription
from lcifr.models.onnx import runtime
from lcifr.models.onnx.files import OnnxModel, read_onnx
from lcifr.models.trees.trees import Trees
from tests.models.onnx import ensembles
from tests.models.onnx.ensembles import DOUBLE, FLOAT, DrawnEnsemble, draw
from tests.models.onnx.mutations import mutated
from tests.models.trees import semantics
from tests.models.trees.semantics import CATEGORIES, check_semantics

CODES = ("p", "q", "r", "s")
RNG = np.random.default_rng(3)
TABLE = pd.DataFrame({"a": RNG.normal(size=60), "b": RNG.normal(size=60), "c": RNG.choice(CODES, 60)})
INPUTS = (
    DescribedInput(InputKind.NUMBER, "a"),
    DescribedInput(InputKind.NUMBER, "b"),
    DescribedInput(InputKind.CODE, "c", codes=tuple((value, float(code)) for code, value in enumerate(CODES))),
)


def loaded(model: onnx.ModelProto, output: DescribedOutput | None = None) -> OnnxModel:
    return read_onnx(model.SerializeToString(), ModelDescription(INPUTS, output))


def read(model: onnx.ModelProto, output: DescribedOutput | None = None) -> Any:
    return loaded(model, output).read_table(TABLE, Encoding.fit(TABLE, Schema.infer(TABLE)))


def agrees(model: onnx.ModelProto, output: DescribedOutput | None = None) -> None:
    assert check_semantics(loaded(model, output), TABLE) >= len(TABLE)


LABELS = {"classlabels_int64s": [5, 7]}
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
    assert read(model).library_outputs is not None


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
    "no such child": (_changed("nodes_truenodeids", 0, 999), "no node of its tree"),
    "a negative child": (_changed("nodes_falsenodeids", 0, -1), "no node of its tree"),
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
    frame, labels = semantics.table(count=200, classes=classes or 2)
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
