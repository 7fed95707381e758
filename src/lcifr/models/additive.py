"""Additive models: shape functions of attributes, pairs and trees, with their bins; bounds over regions, and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.models.rounding import gamma
from lcifr.regions.region import BoolArray, Cell, FloatArray, Region

# Bins of an attribute: the intervals between thresholds of a number, or the values of a category.

Bins = NDArray[np.int32]

APART = 1e-9
"""Encoded values closer than this count as one: ends of regions are rounded outward, and nothing lies between."""
FLATTENED = 5
"""How often frequent values are cut down to an equal share; the shares shrink a little each time."""


@dataclass(frozen=True)
class AttributeBins:
    """How one attribute is divided.

    Parameters
    ----------
    attribute : its name. columns : its feature columns.
    thresholds : (bins − 1,) of a number, rising, in encoded units; None for a category. Bin b holds the encoded values
        above ``thresholds[b − 1]`` up to and including ``thresholds[b]``.
    """

    attribute: str
    columns: slice
    thresholds: FloatArray | None

    @property
    def axes(self) -> tuple[AttributeBins, ...]:
        """The attribute itself; a pair has two."""
        return (self,)

    @property
    def count(self) -> int:
        """How many bins there are."""
        return self.columns.stop - self.columns.start if self.thresholds is None else len(self.thresholds) + 1

    def find(self, values: FloatArray) -> Bins:
        """The bins of encoded numbers, of any shape."""
        assert self.thresholds is not None
        return np.searchsorted(self.thresholds, values, side="left").astype(np.int32)

    def joined(self, other: AttributeBins) -> AttributeBins:
        """The same attribute, divided at the thresholds of both."""
        if self.thresholds is None or other.thresholds is None:
            return self
        return replace(self, thresholds=np.union1d(self.thresholds, other.thresholds))

    def within(self, coarser: AttributeBins) -> Bins:
        """(bins,) which bin of the same attribute, divided at some of these thresholds, each bin lies in."""
        if self.thresholds is None:
            return np.arange(self.count, dtype=np.int32)
        return coarser.find(np.append(self.thresholds, np.inf))  # a bin's upper end belongs to it

    def of_points(self, x: FloatArray) -> Bins:
        """(people,) the bins of encoded people (people, features)."""
        if self.thresholds is None:
            return np.asarray(x[:, self.columns].argmax(1), dtype=np.int32)
        return self.find(x[:, self.columns.start])

    def interval(self, cell: Cell) -> tuple[FloatArray, FloatArray]:
        """(people,) both ends of a number in a cell, encoded."""
        place = int(np.searchsorted(cell.numeric, self.columns.start))
        return cell.lower[:, place], cell.upper[:, place]

    def allowed(self, cell: Cell) -> BoolArray:
        """(people, bins) the values of a category that a cell allows."""
        return next(choice.allowed for choice in cell.choices if choice.columns[0] == self.columns.start)

    def reached(self, cell: Cell) -> BoolArray:
        """(people, bins) which bins can be reached in a cell."""
        if self.thresholds is None:
            return self.allowed(cell)
        low, high = (self.find(end)[:, None] for end in self.interval(cell))
        number = np.arange(self.count)
        return np.asarray((number >= low) & (number <= np.maximum(low, high)))


def choose_bins(
    encoding: Encoding, x: FloatArray, region: Region, most: int, unread: Sequence[str] = ()
) -> tuple[AttributeBins, ...]:
    """The bins of every attribute that may be read, from encoded training people and their (stretched) regions.

    A threshold matters by who is left of it, right of it, or has it inside the own interval. That changes at people's
    values and at the ends of their intervals, so thresholds lie midway between these.

    Parameters
    ----------
    most : bins of a number at most; beyond, thresholds are taken at equal shares of values and ends.
    unread : attributes that the model must not depend on.
    """
    found = []
    for attribute in encoding.schema:
        if attribute.name in unread:
            continue
        bins = AttributeBins(attribute.name, encoding.columns(attribute.name), None)
        if attribute.name in encoding.schema.names_numeric:
            bins = AttributeBins(bins.attribute, bins.columns, _thresholds(bins, x, region, most))
        if bins.count > 1:
            found.append(bins)
    return tuple(found)


def _thresholds(bins: AttributeBins, x: FloatArray, region: Region, most: int) -> FloatArray:
    own = x[:, bins.columns.start]
    ends = [end[cell.present] for cell in region.cells for end in bins.interval(cell)]
    values = np.sort(np.concatenate([own, *ends]))
    inside = (values > own.min()) & (values < own.max())  # beyond, a threshold would separate no two people
    distinct = _spaced(np.concatenate([[own.min()], values[inside], [own.max()]]))
    middles = distinct[:-1] / 2 + distinct[1:] / 2
    if len(middles) < most:
        return np.asarray(middles)
    counts = np.bincount(np.searchsorted(middles, values), minlength=len(distinct))
    return np.asarray(middles[equal_shares(counts, most)])


def equal_shares(counts: NDArray[np.integer], most: int) -> NDArray[np.integer]:
    """Where to cut a row of values with these counts into at most ``most`` parts: after which value each part ends.

    Parts hold equal shares. A value that has more than a share of its own counts as one: else all cuts would fall on
    a few frequent values (nine of ten people have no capital gain), and the others would stay together.
    """
    weight = counts.astype(np.float64)
    for _ in range(FLATTENED):
        weight = np.minimum(weight, weight.sum() / most)
    middles = np.cumsum(weight) - weight / 2
    return np.flatnonzero(np.diff(np.floor(middles / weight.sum() * most)) > 0)


def _spaced(rising: FloatArray) -> FloatArray:
    """Of rising values the first of each run of neighbours that are closer than ``APART``."""
    return np.asarray(rising[np.concatenate([[True], np.diff(rising) > APART])])


# Bins of a pair of attributes: a grid of the coarse bins of both.


@dataclass(frozen=True)
class PairBins:
    """The grid of two attributes: cell (a, b) is number a · second.count + b."""

    first: AttributeBins
    second: AttributeBins

    @property
    def attributes(self) -> tuple[str, str]:
        """The names of both."""
        return self.first.attribute, self.second.attribute

    @property
    def axes(self) -> tuple[AttributeBins, AttributeBins]:
        """The bins of both."""
        return self.first, self.second

    @property
    def count(self) -> int:
        """How many cells the grid has."""
        return self.first.count * self.second.count

    def joined(self, other: PairBins) -> PairBins:
        """The grid of the thresholds of both."""
        return PairBins(self.first.joined(other.first), self.second.joined(other.second))

    def of_points(self, x: FloatArray) -> Bins:
        """(people,) the cells of encoded people (people, features)."""
        return self.first.of_points(x) * np.int32(self.second.count) + self.second.of_points(x)


def coarser(bins: AttributeBins, x: FloatArray, most: int) -> AttributeBins:
    """At most ``most`` bins of a number, with equal shares of the people ``x``; a category stays as it is."""
    if bins.thresholds is None or bins.count <= most:
        return bins
    cuts = equal_shares(np.bincount(bins.of_points(x), minlength=bins.count), most)
    return replace(bins, thresholds=bins.thresholds[cuts])


# Bins of a tree: its leaves, each a product of one set of bins per attribute that is cut.

LeafSets = NDArray[np.uint64]
"""Sets of leaves, a bit for each."""


@dataclass(frozen=True)
class TreeCut:
    """Where a tree branches.

    Parameters
    ----------
    axis : the number of the attribute among those of the tree. chosen : the bins of it that lead to ``first``, the
        lowest ones of a number. first, second : a cut, or the number of a leaf.
    """

    axis: int
    chosen: frozenset[int]
    first: TreeCut | int
    second: TreeCut | int


@dataclass(frozen=True)
class TreeBins:
    """The leaves of a tree. axes : the attributes that it cuts, divided where it does."""

    axes: tuple[AttributeBins, ...]
    root: TreeCut

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of all axes."""
        return tuple(axis.attribute for axis in self.axes)

    @cached_property
    def members(self) -> tuple[BoolArray, ...]:
        """For each axis (leaves, bins) which bins each leaf holds."""
        leaves: dict[int, list[BoolArray]] = {}
        waiting: list[tuple[TreeCut | int, list[BoolArray]]] = [
            (self.root, [np.ones(axis.count, np.bool_) for axis in self.axes])
        ]
        while waiting:
            node, held = waiting.pop()
            if isinstance(node, int):
                leaves[node] = held
                continue
            chosen = np.isin(np.arange(self.axes[node.axis].count), list(node.chosen))
            for child, side in ((node.first, chosen), (node.second, ~chosen)):
                waiting.append((child, [one & side if i == node.axis else one for i, one in enumerate(held)]))
        rows = [leaves[number] for number in range(len(leaves))]
        return tuple(np.array([row[axis] for row in rows]) for axis in range(len(self.axes)))

    @property
    def count(self) -> int:
        """How many leaves there are."""
        return len(self.members[0])

    def of_points(self, x: FloatArray) -> Bins:
        """(people,) the leaves of encoded people (people, features)."""
        return np.asarray(np.frexp(self.sets_of_points(x).astype(np.float64))[1] - 1, dtype=np.int32)  # one bit each

    def reached(self, cell: Cell) -> BoolArray:
        """(people, leaves) which leaves can be reached in a cell: exact, leaves and cells being products."""
        return np.asarray(self.sets_of_cell(cell)[:, None] & self._leaf > 0)

    def sets_of_points(self, x: FloatArray) -> LeafSets:
        """(people,) the leaf of each person, as a set of one."""
        return np.asarray(np.bitwise_and.reduce([bits[axis.of_points(x)] for axis, bits in self._sets]))

    def sets_of_cell(self, cell: Cell) -> LeafSets:
        """(people,) the sets of leaves that can be reached in a cell."""
        return np.asarray(np.bitwise_and.reduce([_touched(axis, bits, cell) for axis, bits in self._sets]))

    @property
    def _leaf(self) -> LeafSets:
        """(leaves,) each leaf as a set of one."""
        return np.uint64(1) << np.arange(self.count, dtype=np.uint64)

    @cached_property
    def _sets(self) -> tuple[tuple[AttributeBins, LeafSets], ...]:
        """Each axis with (bins,) the set of leaves that hold a bin of it."""
        held = ((self._leaf[:, None] * member).sum(0, dtype=np.uint64) for member in self.members)
        return tuple(zip(self.axes, held, strict=True))


def _touched(axis: AttributeBins, sets: LeafSets, cell: Cell) -> LeafSets:
    """(people,) the union of ``sets`` (bins,) over the bins of an attribute that can be reached in a cell."""
    if axis.thresholds is None:
        return np.asarray(np.bitwise_or.reduce(axis.allowed(cell) * sets, axis=1))
    low, high = (axis.find(end) for end in axis.interval(cell))
    unions = np.stack([np.bitwise_or.accumulate(np.where(np.arange(len(sets)) < b, 0, sets)) for b in range(len(sets))])
    return np.asarray(unions[low, np.maximum(low, high)])


# Additive models: one shape function per attribute or pair, with bounds over regions in closed form.


@dataclass(frozen=True)
class ShapeFunction:
    """What one attribute adds to the scores: a step function of a number, or a value for each category.

    Parameters
    ----------
    values : (bins, outputs) float64.
    """

    bins: AttributeBins
    values: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) to (people, outputs)."""
        return np.asarray(self.values[self.bins.of_points(x)])

    def on(self, finer: AttributeBins) -> FloatArray:
        """(bins, outputs) the same function on bins that divide its own further."""
        return np.asarray(self.values[finer.within(self.bins)])

    def without_idle_thresholds(self) -> ShapeFunction:
        """The same function, without thresholds at which it does not change."""
        if self.bins.thresholds is None:
            return self
        steps = (self.values[1:] != self.values[:-1]).any(1)
        bins = replace(self.bins, thresholds=self.bins.thresholds[steps])
        return ShapeFunction(bins, self.values[np.concatenate([[True], steps])])


@dataclass(frozen=True)
class PairFunction:
    """What a pair of attributes adds to the scores, beyond what each of them adds: a value for each cell of a grid.

    Parameters
    ----------
    values : (bins of the first, bins of the second, outputs) float64.
    """

    bins: PairBins
    values: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) to (people, outputs)."""
        return np.asarray(self.values[self.bins.first.of_points(x), self.bins.second.of_points(x)])

    def on(self, finer: PairBins) -> FloatArray:
        """(bins of the first, bins of the second, outputs) the same function on a grid that divides its own further."""
        first, second = (new.within(old) for new, old in zip(finer.axes, self.bins.axes, strict=True))
        return np.asarray(self.values[np.ix_(first, second)])

    def without_idle_thresholds(self) -> PairFunction:
        """The same function, without thresholds at which it does not change."""
        first = ShapeFunction(self.bins.first, self.values.reshape(len(self.values), -1)).without_idle_thresholds()
        values = first.values.reshape(first.bins.count, *self.values.shape[1:]).swapaxes(0, 1)
        second = ShapeFunction(self.bins.second, values.reshape(len(values), -1)).without_idle_thresholds()
        values = second.values.reshape(second.bins.count, first.bins.count, -1).swapaxes(0, 1)
        return PairFunction(PairBins(first.bins, second.bins), np.ascontiguousarray(values))


@dataclass(frozen=True)
class TreeFunction:
    """What a tree adds to the scores: a value for each leaf. values : (leaves, outputs) float64."""

    bins: TreeBins
    values: FloatArray

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) to (people, outputs)."""
        return np.asarray(self.values[self.bins.of_points(x)])


@dataclass(frozen=True)
class AdditiveModel:
    """scores(x) = base + Σ shape(x) + Σ pair(x) + Σ tree(x), with one shape function for each attribute read by itself.

    Parameters
    ----------
    base : (outputs,). shapes : in the order of the schema. features : the width of the encoding.
    pairs : what pairs of attributes add to that. trees : what several attributes add together, tree by tree.
    """

    base: FloatArray
    shapes: tuple[ShapeFunction, ...]
    features: int
    pairs: tuple[PairFunction, ...] = ()
    trees: tuple[TreeFunction, ...] = ()

    @property
    def outputs(self) -> int:
        return len(self.base)

    def __call__(self, x: FloatArray) -> FloatArray:
        """(people, features) encoded people to (people, outputs) scores."""
        total = np.broadcast_to(self.base, (len(x), self.outputs)).copy()
        for term in self.terms:
            total += term(x)
        return total

    @property
    def drawable(self) -> tuple[ShapeFunction | PairFunction, ...]:
        """The terms of one attribute or two."""
        return *self.shapes, *self.pairs

    @property
    def terms(self) -> tuple[ShapeFunction | PairFunction | TreeFunction, ...]:
        """Everything that is added to the base, in the order of summation."""
        return *self.drawable, *self.trees

    @property
    def attributes(self) -> frozenset[str]:
        """The names of all attributes that are read."""
        return frozenset(axis.attribute for term in self.terms for axis in term.bins.axes)

    @cached_property
    def sizes(self) -> FloatArray:
        """(outputs,) |base| plus the largest |value| of every term: what no sum goes beyond."""
        largest = (np.abs(term.values).reshape(-1, self.outputs).max(0) for term in self.terms)
        return np.asarray(np.abs(self.base) + sum(largest))

    def followed_by(self, weight: FloatArray, bias: FloatArray) -> AdditiveModel:
        """weight · scores + bias; again an additive model."""
        shapes = tuple(replace(shape, values=shape.values @ weight.T) for shape in self.shapes)
        pairs = tuple(replace(pair, values=pair.values @ weight.T) for pair in self.pairs)
        return AdditiveModel(weight @ self.base + bias, shapes, self.features, pairs)

    def largest(self, region: Region, directions: FloatArray) -> FloatArray:
        """(people, directions) upper bounds of directions · scores over each person's region; −∞ where it is empty.

        Over cells without linear rows they are the maximum itself, up to a rounding of the last digits that is added:
        the maximum over a product of intervals and sets is the sum of the attributes' own maxima. Rows are left out,
        so that the bound is that of the box around them. Pairs and trees are maximised one by one, as if an attribute
        could be elsewhere in each of its terms: then too it is a bound, and an audit of the trees may find less.

        Parameters
        ----------
        directions : (directions, outputs).
        """
        largest = np.full((region.people, len(directions)), -np.inf)
        for cell in region.cells:
            total = np.broadcast_to(directions @ self.base, (region.people, len(directions))).copy()
            for shape in self.shapes:
                total += shape_maximum(shape.bins, shape.values @ directions.T, cell)
            for pair in self.pairs:
                total += pair_maximum(pair.bins, pair.values @ directions.T, cell)
            for tree in self.trees:
                reached = tree.bins.reached(cell)[:, :, None]
                total += np.where(reached, tree.values @ directions.T, -np.inf).max(1)
            largest = np.where(cell.present[:, None], np.maximum(largest, total), largest)
        # Each sum rounds: those within a direction, those of the shapes, and this last one.
        rounding = gamma(len(self.terms) + self.outputs + 3) * (np.abs(directions) @ self.sizes)
        return np.nextafter(largest + rounding, np.inf)


def shape_maximum(bins: AttributeBins, values: FloatArray, cell: Cell) -> FloatArray:
    """(people, columns) the largest of ``values`` (bins, columns) that an attribute takes within a cell."""
    if bins.thresholds is None:
        allowed = bins.allowed(cell)
        return np.asarray(np.where(allowed[:, :, None], values, -np.inf).max(1))
    low, high = (bins.find(end) for end in bins.interval(cell))
    return range_maximum(values, low, np.maximum(low, high))


def pair_maximum(bins: PairBins, values: FloatArray, cell: Cell) -> FloatArray:
    """(people, columns) the largest of ``values`` (first, second, columns) that a pair takes within a cell."""
    first, second = (axis.reached(cell) for axis in bins.axes)
    found = np.full((len(first), values.shape[2]), -np.inf)
    for a, row in enumerate(values):
        best = np.where(second[:, :, None], row, -np.inf).max(1)
        found = np.where(first[:, a, None], np.maximum(found, best), found)
    return found


def range_maximum(values: FloatArray, first: Bins, last: Bins) -> FloatArray:
    """(n, columns) the largest of ``values`` (bins, columns) from ``first`` to ``last`` (n,), both included.

    Two overlapping runs whose length is a power of two cover any range; the maxima of all such runs are computed once.
    """
    runs = [values]
    while (width := 2 ** (len(runs) - 1)) * 2 <= len(values):
        runs.append(np.maximum(runs[-1][:-width], runs[-1][width:]))
    level = np.frexp(last - first + 1)[1] - 1
    found = np.empty((len(first), values.shape[1]))
    for number, run in enumerate(runs):
        who = level == number
        found[who] = np.maximum(run[first[who]], run[last[who] - 2**number + 1])
    return found


# Terms of a deployed function, with what machines round.

Term = ShapeFunction | PairFunction

OPERATIONS = 64
"""Beyond one for each tree or term, that a number passes through here at most."""


@dataclass(frozen=True, eq=False)
class AdditiveTerms:
    """A deployed function as a sum of terms.

    Parameters
    ----------
    rounded : (outputs,) how far machines can be from the function, wherever they are asked.
    reach : (outputs,) no output is larger. operations : how many numbers are added up to terms at most.
    """

    model: AdditiveModel
    rounded: FloatArray
    reach: FloatArray
    operations: int

    @cached_property
    def room(self) -> FloatArray:
        """(outputs,) how far machines can be from the sum of these terms: with what is rounded here, too, when trees
        are added up to terms and terms to a sum."""
        steps = self.operations + len(self.model.terms) + OPERATIONS
        return np.asarray((self.rounded + 2 * gamma(steps) * (self.model.sizes + self.reach)) * (1.0 + 1e-9))

    def followed_by(self, weight: FloatArray, bias: FloatArray, rounded: FloatArray) -> AdditiveTerms:
        """weight · these outputs + bias, where machines can be off by ``rounded`` (outputs,) more."""
        size = np.abs(weight)
        model, rounded = self.model.followed_by(weight, bias), rounded + size @ self.rounded
        return AdditiveTerms(model, rounded, size @ self.reach, self.operations)

    def largest(self, region: Region, directions: FloatArray) -> FloatArray:
        """(people, k) what directions (people, k, outputs) · a machine's outputs stay below, over each region."""
        each, which = np.unique(directions.reshape(-1, directions.shape[-1]), axis=0, return_inverse=True)
        found = self.model.largest(region, each) + np.abs(each) @ self.room
        return np.asarray(np.take_along_axis(found, which.reshape(directions.shape[:2]), axis=1))


def term_name(term: Term) -> str:
    """The attribute, or both of a pair."""
    return " × ".join(axis.attribute for axis in term.bins.axes)


def term_maximum(term: Term, direction: FloatArray, cell: Cell) -> FloatArray:
    """(people,) the largest of direction · term within a cell, its linear rows left out."""
    values = (term.values @ direction)[..., None]
    if isinstance(term, PairFunction):
        return pair_maximum(term.bins, values, cell)[:, 0]
    return shape_maximum(term.bins, values, cell)[:, 0]


# Boosted models as plain values and back: shape functions, pairs and trees, each checked as it is read.

Plain = Mapping[str, Any]
MOST_LEVELS = 6
"""Of a tree: sets of leaves are 64 bits."""


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


def additive_from_dict(plain: Plain, encoding: Encoding) -> AdditiveModel:
    """What :func:`additive_to_dict` wrote; a ValueError says what does not fit."""
    base = np.array(plain["base"], dtype=np.float64)
    shapes = tuple(_shape(one, encoding, len(base)) for one in plain["shapes"])
    pairs = tuple(_pair(one, encoding, len(base)) for one in plain.get("pairs", ()))  # older files have none
    trees = tuple(_tree(one, encoding, len(base)) for one in plain.get("trees", ()))
    model = AdditiveModel(base, shapes, len(encoding.features), pairs, trees)
    names = [sorted(axis.attribute for axis in term.bins.axes) for term in model.drawable]
    if any(name in names[:i] or len(set(name)) < len(name) for i, name in enumerate(names)):
        raise ValueError("an attribute or a pair has two shape functions")
    return model


def _shape(plain: Plain, encoding: Encoding, outputs: int) -> ShapeFunction:
    bins = _bins(plain, encoding)
    return ShapeFunction(bins, _values(plain, (bins.count, outputs), bins.attribute))


def _pair(plain: Plain, encoding: Encoding, outputs: int) -> PairFunction:
    first, second = (_bins(axis, encoding) for axis in plain["axes"])
    name = f"{first.attribute} and {second.attribute}"
    return PairFunction(PairBins(first, second), _values(plain, (first.count, second.count, outputs), name))


def _bins(plain: Plain, encoding: Encoding) -> AttributeBins:
    name = plain["attribute"]
    thresholds = None if plain["thresholds"] is None else np.array(plain["thresholds"], dtype=np.float64)
    if (thresholds is not None) != (name in encoding.schema.names_numeric):
        raise ValueError(f"the shape function of {name} does not fit the attribute")
    if not (thresholds is None or (np.isfinite(thresholds).all() and (np.diff(thresholds) > 0).all())):
        raise ValueError(f"the thresholds of {name} do not rise")
    return AttributeBins(name, encoding.columns(name), thresholds)


def _values(plain: Plain, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    values = np.array(plain["values"], dtype=np.float64)
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(f"the shape function of {name} does not fit, or holds numbers that are not finite")
    return values


def _tree(plain: Plain, encoding: Encoding, outputs: int) -> TreeFunction:
    axes = tuple(_bins(axis, encoding) for axis in plain["axes"])
    name = f"a tree of {', '.join(axis.attribute for axis in axes)}"
    leaves: list[int] = []
    root = _cut(plain["root"], axes, leaves, MOST_LEVELS)
    if (
        isinstance(root, int)
        or sorted(leaves) != list(range(len(leaves)))
        or len({axis.attribute for axis in axes}) < len(axes)
    ):
        raise ValueError(f"{name} has leaves or attributes twice, or none")
    return TreeFunction(TreeBins(axes, root), _values(plain, (len(leaves), outputs), name))


def _cut(plain: Any, axes: tuple[AttributeBins, ...], leaves: list[int], depth: int) -> TreeCut | int:
    """A cut from [axis, chosen bins, first, second], or the number of a leaf."""
    if isinstance(plain, int):
        leaves.append(plain)
        return plain
    number, chosen, first, second = plain
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
