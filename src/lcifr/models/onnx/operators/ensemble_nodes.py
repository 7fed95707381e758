"""Attributes of ONNX tree ensembles, both generations: lists of nodes, leaves and weights, checked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcifr.models.onnx.calls import Call
from lcifr.models.onnx.operators.ensemble_trees import EnsembleNodes
from lcifr.models.onnx.values import Columns
from lcifr.models.trees.splits import LibraryNode

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
"""In the order of their numbers in the second generation."""
LEAF = "LEAF"
MOST_NODES = 2**21


@dataclass(frozen=True)
class ReadTrees:
    """trees : over the columns. scored : the outputs that get a weight whichever leaf of some tree is reached."""

    trees: tuple[LibraryNode, ...]
    scored: frozenset[int]


def first_generation(call: Call, kind: str, outputs: int, columns: Columns) -> ReadTrees:
    """Of TreeEnsembleClassifier (``kind`` "class") and TreeEnsembleRegressor ("target")."""
    ids = {name: call.listed(f"nodes_{name}") for name in ("treeids", "nodeids", "featureids", "modes")}
    ids |= {name: call.listed(f"nodes_{name}") for name in ("truenodeids", "falsenodeids")}
    values = numbers(call, "nodes_values", columns)
    count = _alike(call, values, *ids.values())
    missing = call.listed("nodes_missing_value_tracks_true") or (0,) * count
    places = {key: place for place, key in enumerate(zip(ids["treeids"], ids["nodeids"], strict=True))}
    if len(places) < count or len(missing) != count:
        raise call.refuse("two nodes are named alike, or missing values have no side")
    modes = tuple(map(str, ids["modes"]))
    _check_modes(call, (mode for mode in modes if mode != LEAF), MODES[:-1])
    children = {
        name: [
            places.get((tree, child), -1) if mode != LEAF else -1
            for tree, child, mode in zip(ids["treeids"], ids[f"{name}nodeids"], modes, strict=True)
        ]
        for name in ("true", "false")
    }
    inner = [place for place, mode in enumerate(modes) if mode != LEAF]
    if any(children[name][place] < 0 for name in children for place in inner):
        raise call.refuse("a child is no node of its tree")
    _check_features(call, [ids["featureids"][place] for place in inner], columns)
    found = EnsembleNodes(
        call,
        outputs,
        ids["featureids"],
        modes,
        values,
        children["true"],
        children["false"],
        [one == 1 for one in missing],
        _weights(call, kind, outputs, columns, places, modes),
        {},
    )
    roots = _roots(call, ids["treeids"], [children[name][place] for name in children for place in inner])
    return ReadTrees(found.trees(roots), _scored(ids["treeids"], found.leaves))


def _scored(treeids: Sequence[int], leaves: Mapping[int, Mapping[int, float]]) -> frozenset[int]:
    always: dict[int, frozenset[int]] = {}
    for place, weights in leaves.items():
        always[treeids[place]] = always.get(treeids[place], frozenset(weights)) & frozenset(weights)
    return frozenset().union(*always.values())


def _roots(call: Call, treeids: Sequence[int], children: Sequence[int]) -> list[int]:
    """The first node of each tree, which is the only one without a parent."""
    starts = [place for place, tree in enumerate(treeids) if not place or tree != treeids[place - 1]]
    if len(starts) != len(set(treeids)):
        raise call.refuse("the nodes of a tree stand apart, among those of another")
    if sorted([*starts, *children]) != list(range(len(treeids))):
        raise call.refuse("the first node of a tree is not its root, or some node has two parents or none")
    return starts


def _weights(
    call: Call,
    kind: str,
    outputs: int,
    columns: Columns,
    places: Mapping[tuple[Any, Any], int],
    modes: Sequence[str],
) -> dict[int, dict[int, float]]:
    """Of each leaf the values, by output; those of inner nodes mean nothing, as old converters wrote them."""
    trees, nodes, targets = (call.listed(f"{kind}_{name}") for name in ("treeids", "nodeids", "ids"))
    weights = numbers(call, f"{kind}_weights", columns)
    _alike(call, weights, trees, nodes, targets)
    found: dict[int, dict[int, float]] = {place: {} for place, mode in enumerate(modes) if mode == LEAF}
    for tree, node, target, weight in zip(trees, nodes, targets, weights, strict=True):
        place = places.get((tree, node))
        if place is None or not 0 <= target < outputs or not math.isfinite(weight):
            raise call.refuse(f"a weight {weight} for output {target} of node {node} in tree {tree}")
        if place in found and found[place].setdefault(target, weight) != weight:
            raise call.refuse(f"node {node} in tree {tree} has two weights for output {target}")
    if len(trees) > len({*zip(trees, nodes, targets, strict=True)}):
        raise call.refuse("a leaf has two weights for one output")
    if not all(found.values()):
        raise call.refuse("a leaf has no weight, which runtimes refuse")
    return found


def second_generation(call: Call, outputs: int, columns: Columns) -> tuple[LibraryNode, ...]:
    """Of TreeEnsemble: leaves are counted apart from nodes."""
    splits, modes = numbers(call, "nodes_splits", columns), _tensor(call, "nodes_modes").tolist()
    features = call.listed("nodes_featureids")
    yes, yes_leaf, no, no_leaf = (
        call.listed(f"nodes_{name}") for name in ("truenodeids", "trueleafs", "falsenodeids", "falseleafs")
    )
    count = _alike(call, splits, modes, features, yes, yes_leaf, no, no_leaf)
    missing = call.listed("nodes_missing_value_tracks_true") or (0,) * count
    weights, targets = numbers(call, "leaf_weights", columns), call.listed("leaf_targetids")
    leaves, roots = _alike(call, weights, targets), call.listed("tree_roots")
    sides = ((child, 1 if leaf else 0) for child, leaf in (*zip(yes, yes_leaf), *zip(no, no_leaf)))  # noqa: B905
    inside = all(0 <= child < (leaves if leaf else count) for child, leaf in sides)
    if not inside or len(missing) != count or not all(0 <= root < count for root in roots):
        raise call.refuse("a child or root is no node and no leaf, or missing values have no side")
    if not all(0 <= target < outputs and math.isfinite(w) for target, w in zip(targets, weights, strict=True)):
        raise call.refuse("a leaf weighs NaN or infinity, or for an output that is not there")
    _check_modes(call, (str(mode) for mode in modes), tuple(map(str, range(len(MODES)))))
    named = [MODES[mode] for mode in modes]
    _check_features(call, features, columns)
    found = EnsembleNodes(
        call,
        outputs,
        features,
        named,
        splits,
        [child + count if leaf else child for child, leaf in zip(yes, yes_leaf, strict=True)],
        [child + count if leaf else child for child, leaf in zip(no, no_leaf, strict=True)],
        [one == 1 for one in missing],
        {count + k: {target: w} for k, (target, w) in enumerate(zip(targets, weights, strict=True))},
        dict(_memberships(call, named, columns)),
    )
    return found.trees(roots)


def _memberships(call: Call, modes: Sequence[str], columns: Columns) -> Iterator[tuple[int, frozenset[float]]]:
    """The numbers of each node of BRANCH_MEMBER: in their order, with NaN between."""
    asking = [place for place, mode in enumerate(modes) if mode == "BRANCH_MEMBER"]
    if not asking:
        return
    values = np.array(numbers(call, "membership_values", columns))
    ends = np.flatnonzero(np.isnan(values))
    groups = np.split(values, ends + 1)
    groups = [group[~np.isnan(group)] for group in groups]
    if len(groups) == len(asking) + 1 and not len(groups[-1]):
        groups.pop()
    if len(groups) != len(asking) or not all(len(group) and np.isfinite(group).all() for group in groups):
        raise call.refuse(f"{len(groups)} sets of members for {len(asking)} nodes")
    yield from zip(asking, (frozenset(group.tolist()) for group in groups), strict=True)


def numbers(call: Call, name: str, columns: Columns) -> tuple[float, ...]:
    """Floats of a list, or of a tensor in the format of the columns."""
    tensors = [one for one in (f"{name}_as_tensor", name) if isinstance(call.node.attributes.get(one), np.ndarray)]
    if not tensors:
        return call.listed(name)
    tensor = _tensor(call, tensors[0])
    if len(tensors) > 1 or tensor.dtype != columns.dtype or (tensors[0] != name and call.listed(name)):
        raise call.refuse(f"{tensors[0]} is of {tensor.dtype}, the columns of {columns.dtype}", fix="use one format")
    return tuple(tensor.astype(np.float64).ravel().tolist())


def _tensor(call: Call, name: str) -> Any:
    found = call.node.attributes.get(name)
    if not isinstance(found, np.ndarray):
        raise call.refuse(f'attribute "{name}" is no tensor')
    return found


def _alike(call: Call, *lists: Sequence[Any]) -> int:
    sizes = {len(one) for one in lists}
    if len(sizes) != 1 or not 0 < max(sizes) <= MOST_NODES:
        raise call.refuse(f"its lists have {sorted(sizes)} entries", fix=f"alike, and at most {MOST_NODES}")
    return sizes.pop()


def _check_modes(call: Call, modes: Iterator[str], known: Sequence[str]) -> None:
    for mode in modes:
        if mode not in known:
            raise call.refuse(f"a node of the mode {mode}", fix=f"one of {', '.join(known)}")


def _check_features(call: Call, features: Sequence[int], columns: Columns) -> None:
    if any(not 0 <= feature < len(columns.block) for feature in features):
        raise call.refuse(f"a split about a column beyond the {len(columns.block)} that it is given")
