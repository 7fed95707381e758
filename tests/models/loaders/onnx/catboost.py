"""An ONNX file as CatBoost writes it: oblivious trees, both classes with weights of opposite sign, a list of maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEATURES = ("income", "debt", "grade")
PRODUCER = "CatBoost. This model is fair.\nsha256 0000 \u202e"
TREES = (
    (((0, 28.05), (1, 9.05)), (-0.51, 0.43, 0.12, 0.94)),
    (((2, 1.5), (0, 33.15)), (-0.35, 0.26, -0.27, 0.58)),
    (((1, 12.35), (2, 2.5)), (0.29, 0.1801, -0.6503, -0.1507)),
)
"""Of each tree two splits (feature, border), and a value for each leaf: 1 where the first is above, 2 the second."""


def oblivious(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """(people,) the sums of leaves; above 0 the second class is decided."""
    total = np.zeros(len(rows))
    for splits, leaves in TREES:
        place = sum((rows[:, feature] > np.float32(border)) * 2**k for k, (feature, border) in enumerate(splits))
        total += np.array(leaves)[place]
    return total


def write_catboost(path: Path, labels: tuple[Any, Any] = (0, 1)) -> None:
    import onnx

    helper, kinds = onnx.helper, onnx.TensorProto
    names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    nodes: dict[str, list[Any]] = {f"nodes_{name}": [] for name in names}
    weights: dict[str, list[Any]] = {f"class_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree, (splits, leaves) in enumerate(TREES):
        first, second = splits
        rows: list[Any] = [(first, 2, 1), (second, 4, 3), (second, 6, 5)]  # above, not above
        for node in range(7):
            (feature, border), yes, no = rows[node] if node < 3 else ((0, 0.0), 0, 0)
            row = (tree, node, feature, "BRANCH_GT" if node < 3 else "LEAF", border, yes, no)
            for name, value in zip(names, row, strict=True):
                nodes[f"nodes_{name}"].append(value)
        for node, leaf in ((3, 0), (4, 2), (5, 1), (6, 3)):
            for label, sign in ((0, -1.0), (1, 1.0)):
                for name, value in zip(weights, (tree, node, label, sign * leaves[leaf]), strict=True):
                    weights[name].append(value)
    texts = isinstance(labels[0], str)
    named = {f"classlabels_{'strings' if texts else 'int64s'}": list(labels)}
    domain = "ai.onnx.ml"
    made = [
        helper.make_node(
            "TreeEnsembleClassifier", ["features"], ["label", "tensor"], domain=domain, post_transform="LOGISTIC",
            **nodes, **weights, **named,
        ),
        helper.make_node("ZipMap", ["tensor"], ["probabilities"], domain=domain, **named),
    ]  # fmt: skip
    label = helper.make_tensor_value_info("label", kinds.STRING if texts else kinds.INT64, ["N"])
    key = helper.make_tensor_type_proto(kinds.FLOAT, None)
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(kinds.STRING if texts else kinds.INT64, key))
    ends = [label, helper.make_value_info("probabilities", maps)]
    start = helper.make_tensor_value_info("features", kinds.FLOAT, ["N", len(FEATURES)])
    graph = helper.make_graph(made, "CatBoostModel", [start], ends)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, 2)], ir_version=8)
    model.producer_name = PRODUCER
    path.write_bytes(model.SerializeToString())
