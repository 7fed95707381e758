"""Arrays of trees in skops files, checked before scikit-learn sees them: it follows their indices unchecked."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError

MOST_CLASSES = 2**11


def is_record(dtype: np.dtype[Any]) -> bool:
    """Whether records of this type are nodes of trees, in the installed version of scikit-learn."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.tree._tree import NODE_DTYPE

    return dtype in (NODE_DTYPE, PREDICTOR_RECORD_DTYPE)


def check_records(name: str, data: bytes) -> None:
    """Refuse nodes that are no tree: each child is behind its parent, and has one parent; columns are not negative."""
    nodes = np.load(io.BytesIO(data), allow_pickle=False)
    histogram = "is_leaf" in nodes.dtype.names
    if nodes.ndim != 1 or not len(nodes):
        raise NetworkError(f"{name!r:.80} holds no nodes of a tree")
    first, second = (nodes[one].astype(np.int64) for one in (("left", "right") if histogram else SIDES))
    inner = nodes["is_leaf"] == 0 if histogram else first != -1
    features = nodes["feature_idx" if histogram else "feature"].astype(np.int64)
    here = np.flatnonzero(inner)
    children = np.sort(np.concatenate([first[here], second[here]]))
    ahead = (first[here] > here).all() and (second[here] > here).all()
    if not ahead or not np.array_equal(children, np.arange(1, len(nodes))) or (features[here] < 0).any():
        raise NetworkError(f"{name!r:.80} holds nodes that are no tree")
    numbers = nodes["num_threshold" if histogram else "threshold"][here]
    if np.isnan(numbers).any():
        raise NetworkError(f"{name!r:.80} holds a threshold that is no number")


SIDES = ("left_child", "right_child")


def check_tree(args: Mapping[str, Any], content: Mapping[str, Any], arrays: Mapping[str, bytes], where: str) -> None:
    """Refuse a tree whose numbers of nodes, columns, classes and outputs are not those of its arrays."""
    try:
        columns, classes, outputs = args["content"]
        state = content["content"]
        nodes, values, per_output = (_array(one, arrays) for one in (state["nodes"], state["values"], classes))
        count = len(nodes)
        inner = nodes["left_child"] != -1
        width, most = _whole(columns), int(per_output.max())
        fits = (
            set(state) == {"max_depth", "node_count", "nodes", "values"}
            and _whole(state["node_count"]) == count
            and 0 < _whole(outputs) == len(per_output)
            and per_output.dtype == np.intp
            and 0 < int(per_output.min()) <= most <= MOST_CLASSES
            and values.shape == (count, len(per_output), most)
            and values.dtype == np.float64
            and bool(np.isfinite(values).all())
            and bool((nodes["feature"][inner] < width).all())
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as problem:
        raise NetworkError(f"{where} is no tree: {type(problem).__name__}: {problem!s:.120}") from None
    if not fits:
        raise NetworkError(f"{where} is a tree whose parts do not fit together")


def _array(node: Mapping[str, Any], arrays: Mapping[str, bytes]) -> NDArray[Any]:
    return np.asarray(np.load(io.BytesIO(arrays[node["file"]]), allow_pickle=False))


def _whole(node: Mapping[str, Any]) -> int:
    value = json.loads(node["content"])
    if type(value) is not int:
        raise ValueError(f"{value!r:.40} is no whole number")
    return value
