"""Terms of an additive sum of trees: what each attribute, or pair of attributes, adds to the outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Categorical, Encoding
from lcifr.learn.trees.additive import range_maximum
from lcifr.learn.trees.attribute_bins import AttributeBins
from lcifr.models.trees.trees import LEAF, NUMBER, Trees
from lcifr.regions.region import Cell, FloatArray

AT_ONCE = 256
"""People whose ranges over a pair are found together."""


@dataclass(frozen=True)
class Term:
    """A function of one attribute, or of two.

    Parameters
    ----------
    bins : of each attribute. values : (bins, outputs), or (bins of the first, of the second, outputs).
    """

    bins: tuple[AttributeBins, ...]
    values: FloatArray

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(one.attribute for one in self.bins)

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) encoded people to (people, outputs)."""
        return np.asarray(self.values[tuple(one.of_points(x) for one in self.bins)])

    def largest(self, direction: FloatArray, cell: Cell) -> FloatArray:
        """(people,) the largest of direction · values within a cell, its linear rows left out."""
        values = self.values @ direction
        if len(self.bins) == 1 and self.bins[0].thresholds is not None:
            low, high = (self.bins[0].find(end) for end in self.bins[0].interval(cell))
            return range_maximum(values[:, None], low, np.maximum(low, high))[:, 0]
        found = np.empty(len(cell.present))
        for start in range(0, len(found), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            masks = [_reached(one, cell)[rows] for one in self.bins]
            where = masks[0] if len(masks) == 1 else masks[0][:, :, None] & masks[1][:, None, :]
            found[rows] = np.where(where, values, -np.inf).reshape(len(where), -1).max(1)
        return found


def _reached(bins: AttributeBins, cell: Cell) -> NDArray[np.bool_]:
    """(people, bins) the bins that a cell reaches."""
    if bins.thresholds is None:
        return bins.allowed(cell)
    low, high = (bins.find(end) for end in bins.interval(cell))
    place = np.arange(bins.count)
    return np.asarray((place >= low[:, None]) & (place <= np.maximum(low, high)[:, None]))


@dataclass(frozen=True)
class AdditiveTerms:
    """outputs(x) = base + Σ term(x); terms in the order of the schema, those of one attribute first."""

    base: FloatArray
    terms: tuple[Term, ...]

    @property
    def single(self) -> tuple[Term, ...]:
        """The terms of one attribute."""
        return tuple(term for term in self.terms if len(term.bins) == 1)

    def of_people(self, x: FloatArray) -> FloatArray:
        """(people, terms, outputs) what each term adds."""
        found = np.zeros((len(x), len(self.terms), len(self.base)))
        for place, term in enumerate(self.terms):
            found[:, place] = term(x)
        return found


def read_terms(trees: Trees, encoding: Encoding) -> AdditiveTerms | None:
    """The terms of a sum of trees over encoded columns; None where a tree reads more than two attributes."""
    names = tuple(feature.attribute for feature in encoding.features)
    order = encoding.schema.names
    read = [tuple(sorted({names[c] for c in columns}, key=order.index)) for columns in _columns(trees)]
    if any(len(one) > 2 for one in read):
        return None
    wanted = sorted(set(read) - {()}, key=lambda one: (len(one), [order.index(name) for name in one]))
    fixed = np.array([not one for one in read], np.bool_)
    base = trees.base + _sums(trees, np.zeros((1, trees.inputs)), fixed)[0]
    terms = (_term(trees, encoding, one, np.array([other == one for other in read])) for one in wanted)
    return AdditiveTerms(base, tuple(terms))


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


def _term(trees: Trees, encoding: Encoding, attributes: Sequence[str], chosen: NDArray[np.bool_]) -> Term:
    """Evaluated once in every bin: at its threshold, which belongs to it, and just beyond the last one."""
    bins = tuple(_bins(trees, encoding, name, chosen) for name in attributes)
    shape = tuple(one.count for one in bins)
    points = np.zeros((*shape, trees.inputs))
    for axis, one in enumerate(bins):
        inside = _inside(one)
        points[..., one.columns] = inside if axis == len(bins) - 1 else inside[:, None]
    values = _sums(trees, points.reshape(-1, trees.inputs), chosen)
    return Term(bins, values.reshape(*shape, -1))


def _inside(bins: AttributeBins) -> FloatArray:
    """(bins, columns of the attribute) an encoded value in every bin."""
    if bins.thresholds is None:
        return np.eye(bins.count)
    last = bins.thresholds[-1:] if len(bins.thresholds) else np.zeros(1)
    return np.concatenate([bins.thresholds, np.nextafter(last, np.inf)])[:, None]


def _bins(trees: Trees, encoding: Encoding, name: str, chosen: NDArray[np.bool_]) -> AttributeBins:
    where = encoding.columns(name)
    if isinstance(encoding.schema[name], Categorical):
        return AttributeBins(name, where, None)
    nodes = trees.nodes
    tree = np.searchsorted(nodes.root, np.arange(len(nodes.kind)), side="right") - 1
    mine = (nodes.kind == NUMBER) & (nodes.column == where.start) & chosen[tree]
    return AttributeBins(name, where, np.unique(nodes.threshold[mine]))
