"""Tree ensembles of ONNX for tests: drawn at random, of both generations, over two numbers and a coded category."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

FLOAT, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
KINDS = {FLOAT: TensorProto.FLOAT, DOUBLE: TensorProto.DOUBLE}
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
WIDTH = 3


@dataclass
class DrawnEnsemble:
    """Trees node by node; ``attributes`` are those of the first generation, without labels."""

    kind: str
    dtype: np.dtype[Any] = FLOAT
    attributes: dict[str, Any] = field(default_factory=dict)

    def node(self, **more: Any) -> onnx.NodeProto:
        operator = {"class": "TreeEnsembleClassifier", "target": "TreeEnsembleRegressor"}[self.kind]
        outputs = ["label", "scores"] if self.kind == "class" else ["scores"]
        known = {**self.attributes, **more}
        if self.dtype == DOUBLE:
            for name in ("nodes_values", f"{self.kind}_weights"):
                known[f"{name}_as_tensor"] = tensor(known.pop(name), self.dtype)
        return helper.make_node(operator, ["x"], outputs, name="trees", domain="ai.onnx.ml", **known)

    def model(self, **more: Any) -> onnx.ModelProto:
        """With ``label`` first, where it is a classifier."""
        node = self.node(**more)
        texts = "classlabels_strings" in {one.name for one in node.attribute}
        label = helper.make_tensor_value_info("label", TensorProto.STRING if texts else TensorProto.INT64, None)
        outputs = [label] if self.kind == "class" else []
        return packed([node], [*outputs, helper.make_tensor_value_info("scores", TensorProto.FLOAT, None)], self.dtype)


def packed(nodes: list[Any], outputs: list[Any], dtype: np.dtype[Any], version: int = 3) -> onnx.ModelProto:
    start = helper.make_tensor_value_info("x", KINDS[dtype], [None, WIDTH])
    graph = helper.make_graph(nodes, "tested", [start], outputs)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=versions, ir_version=10)


def tensor(values: Any, dtype: np.dtype[Any]) -> onnx.TensorProto:
    return helper.make_tensor("t", KINDS[dtype], [len(values)], [float(value) for value in values])


def threshold(rng: np.random.Generator, feature: int, dtype: np.dtype[Any]) -> float:
    """Where people of :func:`tests.models.loaders.onnx.test_ensembles.table` are; codes of the category are whole."""
    drawn = float(rng.integers(0, 5)) if feature == 2 else round(float(rng.normal()), int(rng.integers(0, 8)))
    return float(np.asarray(drawn).astype(dtype))


def draw(
    rng: np.random.Generator,
    kind: str,
    outputs: tuple[int, ...],
    trees: int = 4,
    dtype: np.dtype[Any] = FLOAT,
    modes: tuple[str, ...] = MODES,
    positive: bool = False,
) -> DrawnEnsemble:
    """Every leaf weighs for each of ``outputs``."""
    names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    nodes: dict[str, list[Any]] = {f"nodes_{name}": [] for name in names}
    weights: dict[str, list[Any]] = {f"{kind}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        waiting, count = [(0, 0)], 1
        while waiting:
            place, depth = waiting.pop()
            split = depth < 4 and (depth == 0 or rng.random() < 0.7)
            feature = int(rng.integers(WIDTH))
            row = [tree, place, feature, "LEAF", 0.0, 0, 0]
            if split:
                row[3:] = [str(rng.choice(modes)), threshold(rng, feature, dtype), count, count + 1]
                waiting += [(count, depth + 1), (count + 1, depth + 1)]
                count += 2
            else:
                for output in outputs:
                    drawn = rng.normal() if not positive else rng.uniform(0, 1 / trees)
                    for name, value in zip(("treeids", "nodeids", "ids"), (tree, place, output), strict=True):
                        weights[f"{kind}_{name}"].append(value)
                    weights[f"{kind}_weights"].append(float(np.asarray(drawn).astype(dtype)))
            for name, value in zip(names, row, strict=True):
                nodes[f"nodes_{name}"].append(value)
    return DrawnEnsemble(kind, dtype, {**nodes, **weights})


def second_generation(rng: np.random.Generator, trees: int = 4, targets: int = 2, dtype: Any = FLOAT) -> dict[str, Any]:
    """Attributes of TreeEnsemble; sets and equality are about the coded category only."""
    names = ("featureids", "modes", "splits", "truenodeids", "trueleafs", "falsenodeids", "falseleafs")
    nodes: dict[str, list[Any]] = {name: [] for name in names}
    leaves: list[tuple[int, float]] = []
    members: list[float] = []

    def grow(depth: int) -> int:
        place, feature = len(nodes["featureids"]), int(rng.integers(WIDTH))
        mode = int(rng.integers(7 if feature == 2 else 4))
        for name, value in zip(names, (feature, mode, threshold(rng, feature, dtype), 0, 0, 0, 0), strict=True):
            nodes[name].append(value)
        if mode == 6:
            members.extend([*map(float, rng.choice(5, 2, replace=False)), float("nan")])
        for side in ("true", "false"):
            ends = depth == 3 or rng.random() < 0.3
            if ends:
                leaves.append((int(rng.integers(targets)), float(np.asarray(rng.normal()).astype(dtype))))
            nodes[f"{side}nodeids"][place] = len(leaves) - 1 if ends else grow(depth + 1)
            nodes[f"{side}leafs"][place] = int(ends)
        return place

    roots = [grow(0) for _ in range(trees)]
    found: dict[str, Any] = {f"nodes_{name}": nodes[name] for name in names if name not in ("modes", "splits")}
    found |= {"nodes_modes": helper.make_tensor("m", TensorProto.UINT8, [len(nodes["modes"])], nodes["modes"])}
    found |= {"nodes_splits": tensor(nodes["splits"], dtype), "leaf_weights": tensor([w for _, w in leaves], dtype)}
    found |= {"leaf_targetids": [target for target, _ in leaves], "tree_roots": roots, "n_targets": targets}
    return found | ({"membership_values": tensor(members, dtype)} if members else {})


def of_second_generation(attributes: dict[str, Any], dtype: np.dtype[Any] = FLOAT) -> onnx.ModelProto:
    node = helper.make_node("TreeEnsemble", ["x"], ["scores"], name="trees", domain="ai.onnx.ml", **attributes)
    return packed([node], [helper.make_tensor_value_info("scores", KINDS[dtype], None)], dtype, version=5)
