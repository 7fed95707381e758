"""Boosted models as plain values and back: shape functions, pairs and trees, each checked as it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.learn.defaults import MOST_DEPTH
from lcifr.learn.trees.additive import AdditiveModel, PairFunction, ShapeFunction, TreeFunction
from lcifr.learn.trees.bins.attribute_bins import AttributeBins
from lcifr.learn.trees.bins.pair_bins import PairBins
from lcifr.learn.trees.bins.tree_bins import TreeBins, TreeCut

Plain = Mapping[str, Any]


def additive_to_dict(model: AdditiveModel) -> dict[str, Any]:
    """Everything but the width of the encoding, which the schema knows."""
    shapes = [{**_bins_to_dict(shape.bins), "values": shape.values.tolist()} for shape in model.shapes]
    pairs = [
        {"axes": [_bins_to_dict(axis) for axis in pair.bins.axes], "values": pair.values.tolist()}
        for pair in model.pairs
    ]
    trees = [
        {
            "axes": [_bins_to_dict(axis) for axis in tree.bins.axes],
            "root": _cut_to_list(tree.bins.root),
            "values": tree.values.tolist(),
        }
        for tree in model.trees
    ]
    return {"base": model.base.tolist(), "shapes": shapes, "pairs": pairs, "trees": trees}


def _bins_to_dict(bins: AttributeBins) -> dict[str, Any]:
    return {"attribute": bins.attribute, "thresholds": None if bins.thresholds is None else bins.thresholds.tolist()}


def additive_from_dict(said: Plain, encoding: Encoding) -> AdditiveModel:
    """What :func:`additive_to_dict` wrote; a ValueError says what does not fit."""
    base = np.array(said["base"], dtype=np.float64)
    shapes = tuple(_shape(one, encoding, len(base)) for one in said["shapes"])
    pairs = tuple(_pair(one, encoding, len(base)) for one in said.get("pairs", ()))  # older files have none
    trees = tuple(_tree(one, encoding, len(base)) for one in said.get("trees", ()))
    model = AdditiveModel(base, shapes, len(encoding.features), pairs, trees)
    names = [sorted(axis.attribute for axis in term.bins.axes) for term in model.drawable]
    if any(name in names[:i] or len(set(name)) < len(name) for i, name in enumerate(names)):
        raise ValueError("an attribute or a pair has two shape functions")
    return model


def _shape(said: Plain, encoding: Encoding, outputs: int) -> ShapeFunction:
    bins = _bins(said, encoding)
    return ShapeFunction(bins, _values(said, (bins.count, outputs), bins.attribute))


def _pair(said: Plain, encoding: Encoding, outputs: int) -> PairFunction:
    first, second = (_bins(axis, encoding) for axis in said["axes"])
    name = f"{first.attribute} and {second.attribute}"
    return PairFunction(PairBins(first, second), _values(said, (first.count, second.count, outputs), name))


def _bins(said: Plain, encoding: Encoding) -> AttributeBins:
    name = said["attribute"]
    thresholds = None if said["thresholds"] is None else np.array(said["thresholds"], dtype=np.float64)
    if (thresholds is not None) != (name in encoding.schema.names_numeric):
        raise ValueError(f"the shape function of {name} does not fit the attribute")
    if not (thresholds is None or (np.isfinite(thresholds).all() and (np.diff(thresholds) > 0).all())):
        raise ValueError(f"the thresholds of {name} do not rise")
    return AttributeBins(name, encoding.columns(name), thresholds)


def _values(said: Plain, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    values = np.array(said["values"], dtype=np.float64)
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(f"the shape function of {name} does not fit, or holds numbers that are not finite")
    return values


def _tree(said: Plain, encoding: Encoding, outputs: int) -> TreeFunction:
    axes = tuple(_bins(axis, encoding) for axis in said["axes"])
    name = f"a tree of {', '.join(axis.attribute for axis in axes)}"
    leaves: list[int] = []
    root = _cut(said["root"], axes, leaves, MOST_DEPTH)
    if (
        isinstance(root, int)
        or sorted(leaves) != list(range(len(leaves)))
        or len({axis.attribute for axis in axes}) < len(axes)
    ):
        raise ValueError(f"{name} has leaves or attributes twice, or none")
    return TreeFunction(TreeBins(axes, root), _values(said, (len(leaves), outputs), name))


def _cut(said: Any, axes: tuple[AttributeBins, ...], leaves: list[int], depth: int) -> TreeCut | int:
    """A cut from [axis, chosen bins, first, second], or the number of a leaf."""
    if isinstance(said, int):
        leaves.append(said)
        return said
    number, chosen, first, second = said
    if depth == 0 or not 0 <= number < len(axes):
        raise ValueError("a tree is too deep, or cuts an attribute that it does not name")
    axis, held = axes[number], frozenset(int(place) for place in chosen)
    lowest = axis.thresholds is None or held == frozenset(range(len(held)))
    if not (held and lowest and held < frozenset(range(axis.count))):
        raise ValueError(f"a cut of {axis.attribute} does not divide it")
    children = (_cut(child, axes, leaves, depth - 1) for child in (first, second))
    return TreeCut(number, held, *children)


def _cut_to_list(node: TreeCut | int) -> Any:
    if isinstance(node, int):
        return node
    return [node.axis, sorted(node.chosen), _cut_to_list(node.first), _cut_to_list(node.second)]
