"""Additive models read from sums of trees: what each attribute, or pair of attributes, adds to the outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical, Encoding
from lcifr.learn.trees.additive import AdditiveModel, PairFunction, ShapeFunction, pair_maximum, shape_maximum
from lcifr.learn.trees.bins.attribute_bins import AttributeBins
from lcifr.learn.trees.bins.pair_bins import PairBins
from lcifr.models.trees.trees import LEAF, NUMBER, Trees
from lcifr.regions.region import Cell, FloatArray

Term = ShapeFunction | PairFunction


def read_additive(trees: Trees, encoding: Encoding) -> AdditiveModel | None:
    """The same function as a sum of terms, in the order of the schema; None where one reads three attributes or more.

    Trees of one attribute are added up to one term, and so are those of one pair.
    """
    order = {name: place for place, name in enumerate(encoding.schema.names)}
    names = [order[feature.attribute] for feature in encoding.features]
    read = [tuple(sorted({names[column] for column in columns})) for columns in _columns(trees)]
    if any(len(one) > 2 for one in read):
        return None
    base = trees.base + _sums(trees, np.zeros((1, trees.inputs)), np.array([not one for one in read], np.bool_))[0]
    shapes, pairs = [], []
    for one in sorted(set(read) - {()}):
        chosen = np.array([other == one for other in read])
        axes = tuple(_bins(trees, encoding, encoding.schema.names[place], chosen) for place in one)
        values = _values(trees, axes, chosen)
        if len(axes) == 1:
            shapes.append(ShapeFunction(axes[0], values))
        else:
            pairs.append(PairFunction(PairBins(axes[0], axes[1]), values))
    return AdditiveModel(base, tuple(shapes), trees.inputs, tuple(pairs))


def followed_by(found: AdditiveModel, weight: FloatArray, bias: FloatArray) -> AdditiveModel:
    """weight · scores + bias, of the scores that an additive model gives; again an additive model."""
    shapes = tuple(replace(shape, values=shape.values @ weight.T) for shape in found.shapes)
    pairs = tuple(replace(pair, values=pair.values @ weight.T) for pair in found.pairs)
    return AdditiveModel(weight @ found.base + bias, shapes, found.features, pairs)


def term_name(term: Term) -> str:
    """The attribute, or both of a pair."""
    return " × ".join(axis.attribute for axis in term.bins.axes)


def term_maximum(term: Term, direction: FloatArray, cell: Cell) -> FloatArray:
    """(people,) the largest of direction · term within a cell, its linear rows left out."""
    values = (term.values @ direction)[..., None]
    if isinstance(term, PairFunction):
        return pair_maximum(term.bins, values, cell)[:, 0]
    return shape_maximum(term.bins, values, cell)[:, 0]


def _columns(trees: Trees) -> Iterator[set[int]]:
    """Of each tree, the feature columns that it splits by."""
    nodes = trees.nodes
    for start, end in pairwise([*nodes.root.tolist(), len(nodes.kind)]):
        inner = nodes.kind[start:end] != LEAF
        yield set(nodes.column[start:end][inner].tolist())


def _sums(trees: Trees, points: FloatArray, chosen: NDArray[np.bool_]) -> FloatArray:
    """(points, outputs) what the chosen trees add up to, scaled."""
    total = trees.nodes.value[trees.leaves(points)[:, chosen]].sum(1)
    return np.asarray(total * trees.scale.numerator / trees.scale.denominator)


def _values(trees: Trees, axes: Sequence[AttributeBins], chosen: NDArray[np.bool_]) -> FloatArray:
    """(bins of each axis, outputs), evaluated once in every bin."""
    shape = tuple(one.count for one in axes)
    points = np.zeros((*shape, trees.inputs))
    for axis, one in enumerate(axes):
        inside = _inside(one)
        points[..., one.columns] = inside if axis == len(axes) - 1 else inside[:, None]
    return _sums(trees, points.reshape(-1, trees.inputs), chosen).reshape(*shape, -1)


def _inside(bins: AttributeBins) -> FloatArray:
    """(bins, columns of the attribute) an encoded value in every bin: its threshold, and one beyond the last."""
    if bins.thresholds is None:
        return np.eye(bins.count)
    return np.concatenate([bins.thresholds, np.nextafter(bins.thresholds[-1:], np.inf)])[:, None]


def _bins(trees: Trees, encoding: Encoding, name: str, chosen: NDArray[np.bool_]) -> AttributeBins:
    """The thresholds at which the chosen trees split a number; the values of a category."""
    where = encoding.columns(name)
    if isinstance(encoding.schema[name], Categorical):
        return AttributeBins(name, where, None)
    nodes = trees.nodes
    tree = np.searchsorted(nodes.root, np.arange(len(nodes.kind)), side="right") - 1
    mine = (nodes.kind == NUMBER) & (nodes.column == where.start) & chosen[tree]
    return AttributeBins(name, where, np.unique(nodes.threshold[mine]))
