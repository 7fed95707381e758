"""Sums of trees with linear outputs: nodes, evaluation, canonical bytes, boxes, rounding bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data import Categorical, Encoding
from lcifr.data.codec import Arrays
from lcifr.errors import NetworkError
from lcifr.models.additive import (
    AdditiveModel,
    AdditiveTerms,
    AttributeBins,
    PairBins,
    PairFunction,
    ShapeFunction,
    TreeCut,
    TreeFunction,
)
from lcifr.models.arithmetic import FORMATS, Arithmetic
from lcifr.models.function import REFUSED, Deployed, Evaluation, FloatArray, Function
from lcifr.models.network import Network
from lcifr.models.rounding import FLOOR, LARGEST, LOST, ROUND_UP, gamma
from lcifr.regions.region import BoolArray, Cell, Region

# Nodes of one tree as loaders build them, nested; cutting off branches that cannot be reached.


@dataclass(frozen=True)
class TreeLeaf:
    """values : one for each output."""

    values: tuple[float, ...]


@dataclass(frozen=True)
class NumberNode:
    """``first`` where the encoded column is at most ``threshold``, else ``second``."""

    column: int
    threshold: float
    first: TreeNode
    second: TreeNode


@dataclass(frozen=True)
class CategoryNode:
    """``first`` where the 1 of the attribute ``columns`` is in one of ``chosen``, else ``second``."""

    columns: range
    chosen: frozenset[int]
    first: TreeNode
    second: TreeNode


TreeNode = TreeLeaf | NumberNode | CategoryNode


MOST_STEPS = 2**22


def below(threshold: float) -> float:
    """The t⁻ with which ``e < threshold`` is ``e ≤ t⁻``, for every float64 e."""
    return float(np.nextafter(threshold, -np.inf))


Tree = TypeVar("Tree")


def preorder(root: Tree) -> Iterator[Tree]:
    """A node, then its whole first subtree, then its second; trees may be deeper than Python's stack."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, TreeLeaf):
            waiting += [node.second, node.first]  # type: ignore[attr-defined]


def from_preorder(nodes: Sequence[Sequence[Any]], outputs: int) -> TreeNode:
    """A tree of numbers from the plain nodes that ``Trees.to_plain`` gives; ValueError or TypeError for others."""
    built: list[TreeNode] = []
    for kind, *inside in reversed(nodes):
        if kind == "leaf":
            known = {int(output): float(value) for output, value in inside[0]}
            built.append(TreeLeaf(tuple(known.get(output, 0.0) for output in range(outputs))))
        elif kind == "numeric" and len(built) > 1:
            column, threshold = inside
            built.append(NumberNode(int(column), float(threshold), built.pop(), built.pop()))
        else:
            raise ValueError(f"a tree holds the node {kind!r} where none can be")
    (tree,) = built
    return tree


@dataclass(frozen=True)
class _LeftBySplits:
    """What the splits on the way leave: of each column its ends, of each attribute the columns that are left."""

    ends: dict[int, tuple[float, float]]
    left: dict[int, frozenset[int]]

    def sides(self, node: NumberNode | CategoryNode) -> tuple[_LeftBySplits | None, _LeftBySplits | None]:
        if isinstance(node, NumberNode):
            low, high = self.ends.get(node.column, (-np.inf, np.inf))
            first = _LeftBySplits({**self.ends, node.column: (low, min(high, node.threshold))}, self.left)
            second = _LeftBySplits({**self.ends, node.column: (max(low, node.threshold), high)}, self.left)
            return (first if low < node.threshold else None, second if high > node.threshold else None)
        known = self.left.get(node.columns.start, frozenset(node.columns))
        parts = known & node.chosen, known - node.chosen
        rooms = (_LeftBySplits(self.ends, {**self.left, node.columns.start: part}) if part else None for part in parts)
        first_room, second_room = rooms
        return first_room, second_room


def cut_unreachable(root: TreeNode) -> TreeNode:
    """The same tree without splits where only one side can be reached."""
    # Two stacks, because trees may be deeper than Python's own: what is to be done, and the subtrees that are built.
    todo: list[tuple[str, TreeNode, _LeftBySplits]] = [("look", root, _LeftBySplits({}, {}))]
    built: list[TreeNode] = []
    steps = 0
    while todo:
        if (steps := steps + 1) > MOST_STEPS:  # subtrees may be shared, so that a short file has any number of them
            raise NetworkError(f"a tree has more than {MOST_STEPS:,} nodes that can be reached")
        what, node, room = todo.pop()
        if what == "join":
            second, first = built.pop(), built.pop()
            built.append(_joined(node, first, second))
        elif isinstance(node, TreeLeaf):
            built.append(node)
        else:
            first_room, second_room = room.sides(node)
            if first_room is None or second_room is None:
                only, where = (node.second, second_room) if first_room is None else (node.first, first_room)
                if where is None:
                    raise NetworkError("a tree holds a split of which neither side can be reached")
                todo.append(("look", only, where))
            else:
                todo += [("join", node, room), ("look", node.second, second_room), ("look", node.first, first_room)]
    return built[0]


def _joined(node: TreeNode, first: TreeNode, second: TreeNode) -> TreeNode:
    if isinstance(first, TreeLeaf) and first == second:
        return first
    if isinstance(node, NumberNode):
        return NumberNode(node.column, node.threshold, first, second)
    assert isinstance(node, CategoryNode)
    return CategoryNode(node.columns, node.chosen & frozenset(node.columns), first, second)


# Trees: a sum of trees with linear outputs over encoded columns, frozen, with exact evaluation and canonical bytes.

LEAF, NUMBER, CATEGORY = 0, 1, 2
"""Kinds of nodes."""
AT_ONCE = 512
"""Points whose ways through the trees are followed together: what is known of them stays in the cache."""


@dataclass(frozen=True)
class NodeArrays:
    """The nodes of all trees in preorder, one tree after the other; the first child of a split is the next node.

    Parameters
    ----------
    kind : (nodes,) LEAF, NUMBER or CATEGORY. column : (nodes,) of a number; the first of a category.
    threshold : (nodes,) of a number. chosen : (nodes,) of a category, its row of ``sets``.
    second : (nodes,) the second child. value : (nodes, outputs), 0 at splits. root : (trees,).
    sets : (sets, inputs) the columns of each set of categories that some split names.
    """

    kind: NDArray[np.int8]
    column: NDArray[np.int64]
    threshold: FloatArray
    chosen: NDArray[np.int64]
    second: NDArray[np.int64]
    value: FloatArray
    root: NDArray[np.int64]
    sets: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trees(Function):
    """base + scale · Σ leaves, over encoded columns (docs/design/trees.md). Build it with :meth:`of`.

    Parameters
    ----------
    width : columns of the encoding. base : (outputs,). scale : of the sum of leaves, positive.
    nodes : of all trees.
    native : the arithmetic in which the library adds the leaves up.
    """

    engine = "lcifr.prove.trees:TreeEngine"
    width: int
    base: FloatArray
    scale: Fraction
    nodes: NodeArrays
    native: Arithmetic = field(default=Arithmetic.FLOAT64, repr=False)

    @classmethod
    def of(cls, inputs: int, base: ArrayLike, trees: Iterable[TreeNode], scale: Fraction | float | int = 1) -> Trees:
        """A sum of trees, checked; branches that cannot be reached are cut off."""
        start = np.array(base, dtype=np.float64).reshape(-1) + 0.0
        found = cls(inputs, start, Fraction(scale), _arrays(inputs, len(start), [cut_unreachable(t) for t in trees]))
        if found.scale <= 0:
            raise NetworkError(f"the scale of a sum of trees is {float(found.scale):g}, which is not positive")
        size = np.abs(start) + (1 + found.scale_above) * found.largest.sum(0)
        if not (size <= LARGEST).all():
            raise NetworkError(f"the leaves hold NaN, infinity, or numbers that add up to more than {LARGEST:g}")
        for array in (found.base, *vars(found.nodes).values()):
            array.flags.writeable = False
        return found

    def of_runtime(self, native: Arithmetic) -> Trees:
        """The same function, marked as added up in this arithmetic."""
        return replace(self, native=native)

    @property
    def inputs(self) -> int:
        return self.width

    @property
    def outputs(self) -> int:
        return len(self.base)

    @property
    def count(self) -> int:
        """How many trees there are."""
        return len(self.nodes.root)

    @property
    def scale_above(self) -> float:
        """The scale, rounded up."""
        return float(np.nextafter(float(self.scale), np.inf))

    @property
    def tree_count(self) -> int:
        return self.count

    def describe(self) -> str:
        return "trees"

    @cached_property
    def reach(self) -> FloatArray:
        """(outputs,) no output is larger than this."""
        return np.asarray(np.abs(self.base) + self.scale_above * self.largest.sum(0))

    @cached_property
    def largest(self) -> FloatArray:
        """(trees, outputs) the largest absolute value among the leaves of each tree."""
        if not self.count:
            return np.zeros((0, self.outputs))
        return np.asarray(np.maximum.reduceat(np.abs(self.nodes.value), self.nodes.root, axis=0))

    def leaves(self, points: ArrayLike) -> NDArray[np.int64]:
        """(points, inputs) -> (points, trees) the node that each point ends at in each tree."""
        value = np.asarray(points, dtype=np.float64)
        if value.ndim != 2 or value.shape[1] != self.inputs:
            raise NetworkError(
                f"points have the shape {value.shape}, the trees take {self.inputs} columns",
                fix="encode people with the encoding of the model",
            )
        found = [self._leaves(value[start : start + AT_ONCE]) for start in range(0, len(value), AT_ONCE)]
        return np.concatenate([np.zeros((0, self.count), np.int64), *found])

    @cached_property
    def _ways(self) -> tuple[NDArray[np.intp], FloatArray, NDArray[np.intp]]:
        """(nodes,) column and threshold, (2 · nodes,) second and first child; sets are columns behind the others, and a
        leaf is its own child."""
        nodes, own = self.nodes, np.arange(len(self.nodes.kind))
        leaf, category = nodes.kind == LEAF, nodes.kind == CATEGORY
        column = np.where(leaf, 0, np.where(category, self.width + nodes.chosen, nodes.column)).astype(np.intp)
        threshold = np.where(leaf, np.inf, np.where(category, -0.5, nodes.threshold))
        children = np.stack([np.where(leaf, own, nodes.second), np.where(leaf, own, own + 1)], 1)
        return column, threshold, children.reshape(-1).astype(np.intp)

    def _leaves(self, points: FloatArray) -> NDArray[np.int64]:
        column, threshold, children = self._ways
        hits = points @ self.nodes.sets.T > 0.5
        entries = np.concatenate([points, np.where(hits, -1.0, 0.0)], axis=1)
        rows = (np.arange(len(points)) * entries.shape[1])[:, None]
        flat, place = entries.reshape(-1), np.tile(self.nodes.root.astype(np.intp), (len(points), 1))
        while True:
            first = flat.take(rows + column.take(place)) <= threshold.take(place)
            below = children.take(2 * place + first)
            if np.array_equal(below, place):
                return place.astype(np.int64, copy=False)
            place = below

    def __call__(self, points: ArrayLike) -> FloatArray:
        value = np.asarray(points, dtype=np.float64)
        flat = value.reshape(-1, value.shape[-1])
        safe = np.where(np.isnan(flat), 0.0, flat)
        total = np.zeros((len(flat), self.outputs))
        for start in range(0, len(flat), AT_ONCE):
            rows = slice(start, start + AT_ONCE)
            total[rows] = self.nodes.value[self.leaves(safe[rows])].sum(1)
        result = self.base + total * self.scale.numerator / self.scale.denominator
        result[np.isnan(flat).any(1)] = np.nan
        return np.asarray(result.reshape(*value.shape[:-1], self.outputs))

    def error(self, points: ArrayLike) -> FloatArray:
        """One bound for all points: each term passes through at most (trees + 8) rounded operations."""
        size = np.abs(self.base) + self.scale_above * self.largest.sum(0) + FLOOR
        return np.broadcast_to(gamma(self.count + 8) * size, (*np.shape(points)[:-1], self.outputs))

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        reached = self.nodes.value[self.leaves(np.asarray(point, dtype=np.float64)[None])[0]]
        sums = [sum(map(Fraction, column), Fraction(0)) for column in reached.T.tolist()]
        return tuple(Fraction(b) + self.scale * s for b, s in zip(self.base.tolist(), sums, strict=True))

    def to_plain(self) -> dict[str, Any]:
        """As files hold it (docs/design/trees.md, *Canonical form*)."""
        ends = [*self.nodes.root.tolist(), len(self.nodes.kind)]
        trees = [[self._plain(n) for n in range(a, b)] for a, b in pairwise(ends)]
        scale = [self.scale.numerator, self.scale.denominator]
        return {"kind": "trees", "inputs": self.width, "base": self.base.tolist(), "scale": scale, "trees": trees}

    def _plain(self, n: int) -> list[Any]:
        nodes = self.nodes
        if nodes.kind[n] == LEAF:
            return ["leaf", [[o, v] for o, v in enumerate(nodes.value[n].tolist()) if v]]
        if nodes.kind[n] == NUMBER:
            return ["numeric", int(nodes.column[n]), float(nodes.threshold[n])]
        return ["choice", int(nodes.column[n]), np.flatnonzero(nodes.sets[nodes.chosen[n]]).tolist()]

    def to_arrays(self, into: Arrays) -> dict[str, Any]:
        nodes = {one.name: into.put(getattr(self.nodes, one.name)) for one in fields(NodeArrays)}
        scale = [self.scale.numerator, self.scale.denominator]
        about = {"width": self.width, "base": into.put(self.base), "scale": scale, "nodes": nodes}
        return {"kind": "trees", **about, "native": str(self.native)}

    @classmethod
    def read_arrays(cls, said: Mapping[str, Any], held: Arrays) -> Trees:
        """What :meth:`to_arrays` gave."""
        nodes = NodeArrays(**{name: held.arrays[array] for name, array in said["nodes"].items()})
        base, scale = held.arrays[said["base"]], Fraction(*said["scale"])
        return cls(int(said["width"]), base, scale, nodes, Arithmetic(said["native"]))

    def deployed(self, arithmetic: Arithmetic, encoding: Encoding | None = None) -> Deployed:
        return DeployedTrees(self, arithmetic)

    def reads(self) -> NDArray[np.intp]:
        numbers = self.nodes.column[self.nodes.kind == NUMBER]
        return np.union1d(numbers, np.flatnonzero(self.nodes.sets.any(0))).astype(np.intp)

    def thresholds(self, column: int) -> FloatArray:
        return np.unique(self.nodes.threshold[(self.nodes.kind == NUMBER) & (self.nodes.column == column)])

    def additive(self, encoding: Encoding) -> AdditiveModel | None:
        return read_additive(self, encoding)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trees) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)


def _arrays(inputs: int, outputs: int, trees: Sequence[TreeNode]) -> NodeArrays:
    flat = [list(preorder(tree)) for tree in trees]
    sizes = [len(nodes) for nodes in flat]
    total = sum(sizes)
    made = NodeArrays(
        np.zeros(total, np.int8),
        np.zeros(total, np.int64),
        np.zeros(total),
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
        np.zeros((total, outputs)),
        np.cumsum([0, *sizes[:-1]], dtype=np.int64) if sizes else np.zeros(0, np.int64),
        np.zeros((0, inputs), np.bool_),
    )
    sets: dict[frozenset[int], int] = {}
    waiting: list[int] = []
    for n, node in enumerate(node for nodes in flat for node in nodes):
        if n and made.kind[n - 1] == LEAF and waiting:  # a first subtree has ended: here begins the second
            made.second[waiting.pop()] = n
        _fill(made, n, node, inputs, outputs, sets)
        if not isinstance(node, TreeLeaf):
            waiting.append(n)
    table = np.zeros((len(sets), inputs), np.bool_)
    for chosen, row in sets.items():
        table[row, sorted(chosen)] = True
    return replace(made, sets=table)


def _fill(made: NodeArrays, n: int, node: TreeNode, inputs: int, outputs: int, sets: dict[frozenset[int], int]) -> None:
    if isinstance(node, TreeLeaf):
        if len(node.values) != outputs or not all(np.isfinite(value) for value in node.values):
            raise NetworkError(f"a leaf holds {node.values}; expected {outputs} finite numbers")
        made.value[n] = np.asarray(node.values) + 0.0
        return
    if isinstance(node, NumberNode):
        if not (0 <= node.column < inputs and np.isfinite(node.threshold)):
            raise NetworkError(f"a split at {node.threshold} of column {node.column}; there are {inputs} columns")
        made.kind[n], made.column[n], made.threshold[n] = NUMBER, node.column, node.threshold + 0.0
        return
    assert isinstance(node, CategoryNode)
    if not (node.chosen and node.chosen < frozenset(node.columns) and node.columns.stop <= inputs):
        raise NetworkError(f"a split by columns {sorted(node.chosen)} of the attribute at {node.columns}")
    made.kind[n], made.column[n] = CATEGORY, node.columns.start
    made.chosen[n] = sets.setdefault(node.chosen, len(sets))


# Boxes of sums of trees: of every output the least and the largest value over a cell, from the leaves it can reach.
#
# If an output comes from one tree, as a score of an additive model does, both are attained where the cell has no linear
# rows: the box is exact. Otherwise it is sound, and each tree stands for itself.


@dataclass(frozen=True)
class OutputBox:
    """lower, upper : (people, outputs), which hold the outputs at every point, in exact arithmetic."""

    lower: FloatArray
    upper: FloatArray

    def widened(self, room: FloatArray) -> OutputBox:
        """The same with room (people, outputs) on either side, rounded outward."""
        return OutputBox(np.nextafter(self.lower - room, -np.inf), np.nextafter(self.upper + room, np.inf))

    def joined(self, other: OutputBox, where: BoolArray) -> OutputBox:
        """The hull of both for these people (people,); for others this one."""
        lower, upper = np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper)
        mask = where[:, None]
        return OutputBox(np.where(mask, lower, self.lower), np.where(mask, upper, self.upper))


def box_over_cell(trees: Trees, cell: Cell) -> OutputBox:
    """The box over a cell of each person; 0 where a person has no such cell. Linear rows are left out."""
    lower, upper = np.zeros((2, len(cell.present), trees.outputs))
    for root in trees.nodes.root.tolist():
        walk = _Walk(trees, cell, np.flatnonzero(trees.nodes.value[root : _end(trees, root)].any(0)))
        walk.visit(root, np.ones(len(cell.present), np.bool_), {})
        lower[:, walk.outputs] += walk.least
        upper[:, walk.outputs] += walk.largest
    scale, error = float(trees.scale), _sum_error(trees)
    found = OutputBox(trees.base + scale * lower - error, trees.base + scale * upper + error)
    mask = cell.present[:, None]
    return OutputBox(np.where(mask, found.lower, 0.0), np.where(mask, found.upper, 0.0))


def box_around(trees: Trees, x: FloatArray, region: Region) -> OutputBox:
    """The hull of the boxes of all cells, and of the outputs at x (people, features) itself."""
    own, error = trees(x), _sum_error(trees)
    found = OutputBox(own - error, own + error)
    for cell in region.cells:
        found = found.joined(box_over_cell(trees, cell), cell.present)
    return found


def output_region(trees: Trees, region: Region, room: FloatArray) -> Region:
    """The boxes of all cells, with room (people, outputs) around each, as a region that a network takes."""
    cells = []
    for cell in region.cells:
        box = box_over_cell(trees, cell).widened(room)
        cells.append(Cell(np.arange(trees.outputs), box.lower, box.upper, (), None, cell.present))
    return replace(region, features=trees.outputs, cells=tuple(cells), origin=None, whole=())


def is_exact_over(trees: Trees, region: Region) -> BoolArray:
    """(people,) whether every end of :func:`box_around` is attained: one tree for each output, and no linear rows."""
    alone = (_trees_of_output(trees) <= 1).all()
    found = np.full(region.people, alone)
    for cell in region.cells:
        if cell.rows is not None:
            found &= ~cell.present
    return found


def _end(trees: Trees, root: int) -> int:
    place = int(np.searchsorted(trees.nodes.root, root, side="right"))
    return int(trees.nodes.root[place]) if place < trees.count else len(trees.nodes.kind)


def _trees_of_output(trees: Trees) -> FloatArray:
    """(outputs,) how many trees each output comes from."""
    return np.asarray((trees.largest > 0).sum(0))


def _sum_error(trees: Trees) -> FloatArray:
    """(outputs,) what sums round at most; nothing where a stored leaf is the output itself."""
    stored = (_trees_of_output(trees) <= 1) & (trees.base == 0) & (trees.scale == 1)
    return np.where(stored, 0.0, 2.0 * trees.error(np.zeros(trees.inputs)))


class _Walk:
    """One tree walked for the cells of all people at once: who can reach which leaf."""

    def __init__(self, trees: Trees, cell: Cell, outputs: np.ndarray) -> None:
        self.nodes, self.cell, self.outputs = trees.nodes, cell, outputs
        shape = len(cell.present), len(outputs)
        self.least, self.largest = np.full(shape, np.inf), np.full(shape, -np.inf)

    @cached_property
    def _choices(self) -> dict[int, int]:
        return {int(choice.columns[0]): place for place, choice in enumerate(self.cell.choices)}

    def visit(self, n: int, here: BoolArray, left: dict[int, BoolArray]) -> None:
        """Node n, which ``here`` (people,) can reach; of attributes in ``left`` these values are on the way."""
        if not here.any():
            return
        nodes, column = self.nodes, int(self.nodes.column[n])
        if nodes.kind[n] == LEAF:
            values, mask = nodes.value[n, self.outputs], here[:, None]
            self.least = np.where(mask, np.minimum(self.least, values), self.least)
            self.largest = np.where(mask, np.maximum(self.largest, values), self.largest)
        elif nodes.kind[n] == CATEGORY:
            choice = self.cell.choices[self._choices[column]]
            chosen, known = nodes.sets[nodes.chosen[n], choice.columns], left.get(column)
            for child, part in ((n + 1, chosen), (int(nodes.second[n]), ~chosen)):
                part = part if known is None else part & known
                self.visit(child, here & choice.allowed[:, part].any(1), {**left, column: part})
        else:
            place, threshold = int(np.searchsorted(self.cell.numeric, column)), nodes.threshold[n]
            self.visit(n + 1, here & (self.cell.lower[:, place] <= threshold), left)
            self.visit(int(nodes.second[n]), here & (self.cell.upper[:, place] > threshold), left)


# Sums of trees in floating point: how far machines are off, with the bounds of docs/design/trees.md.


@dataclass(frozen=True)
class DeployedTrees(Deployed):
    """Trees, and the arithmetic in which their leaves are added up."""

    trees: Trees
    arithmetic: Arithmetic
    has_image: ClassVar[bool] = True

    @property
    def is_exact(self) -> bool:
        return self.arithmetic is Arithmetic.EXACT

    @property
    def merged(self) -> Trees:
        return self.trees

    def after(self, first: Deployed) -> Deployed:
        """Trees on people as they are take categories; on what mixes columns there are numbers only."""
        if not first.merged.is_identity and (self.trees.nodes.kind == CATEGORY).any():
            raise NetworkError(
                "the trees split categories, and an encoder that mixes columns gives numbers only",
                fix="audit them on the raw columns, or trees that were trained on this encoder's latents",
            )
        return super().after(first)

    def error_at(self, points: FloatArray) -> FloatArray:
        if self.is_exact:
            return np.zeros((len(points), self.outputs))
        return self._error(np.abs(self.trees.nodes.value[self.trees.leaves(points)]).sum(1))

    def error_among(self, points: FloatArray) -> FloatArray:
        return self._error(self.trees.largest.sum(0))

    def error_over(self, region: Region) -> FloatArray:
        return np.tile(self._error(self.trees.largest.sum(0)), (region.people, 1))

    def _error(self, size: FloatArray) -> FloatArray:
        """(…, outputs) E, from the sum of the largest leaves of each output."""
        if self.is_exact:
            return np.zeros_like(size)
        kind, scale, count = FORMATS[self.arithmetic], self.trees.scale_above, self.trees.count
        share = (count + 5) * kind.unit
        if share > 0.5:
            return np.full_like(size, REFUSED)
        base = np.abs(self.trees.base)
        error = share / (1.0 - share) * (base + scale * size) + LOST * kind.smallest * (count + 2) * (1.0 + scale)
        error = error * ROUND_UP
        return np.where(base + (1.0 + scale) * size + error < kind.largest, error, REFUSED)

    def image(self, region: Region) -> Region:
        """The scores of each cell, with what machines round: a box."""
        return output_region(self.trees, region, self.room_over(region))

    def output_sizes(self) -> tuple[FloatArray, FloatArray]:
        return self.trees.reach, np.asarray(self.trees.error(np.zeros(self.trees.inputs)))

    def terms(self, encoding: Encoding, everyone: Region) -> AdditiveTerms | None:
        found = self.trees.additive(encoding)
        if found is None:
            return None
        operations = self.trees.count + self.trees.outputs
        return AdditiveTerms(found, self.room_over(everyone)[0], self.trees.reach, operations)

    # Trees jump: where z may be rounded across a threshold, the outputs may be another leaf's. So what z is off by
    # becomes all that the trees give in a box around it.

    def evaluate_around(self, points: FloatArray, off: FloatArray) -> Evaluation:
        values, box = self.trees(points), self._around(points, off)
        return Evaluation(values, np.maximum(box.upper - values, values - box.lower) * ROUND_UP)

    def error_around(self, computed: Evaluation, off: FloatArray) -> FloatArray:
        box = self._around(computed.values, np.minimum(off, REFUSED) + 2.0 * computed.error)
        error = (box.upper - box.lower) * ROUND_UP + self._error(self.trees.largest.sum(0))
        return np.where((off >= REFUSED).any(1, keepdims=True), REFUSED, np.minimum(error, REFUSED))

    def error_within(self, size: FloatArray | None, off: FloatArray) -> FloatArray:
        """From any leaves to any others."""
        rounded, trees = self._error(self.trees.largest.sum(0)), self.trees
        return np.asarray(np.minimum(3.0 * trees.scale_above * trees.largest.sum(0) + 2.0 * rounded, REFUSED))

    def _around(self, z: FloatArray, off: FloatArray) -> OutputBox:
        """The outputs at all that is as near to z (people, width) as that, in exact arithmetic."""
        trees, ends = self.trees, (np.nextafter(z - off, -np.inf), np.nextafter(z + off, np.inf))
        values, error = trees(z), trees.error(z)
        found = OutputBox(values - 2.0 * error, values + 2.0 * error)
        # A leaf that holds both corners of a box holds all of it: that is so for nearly everyone.
        rows = np.flatnonzero((trees.leaves(ends[0]) != trees.leaves(ends[1])).any(1))
        if len(rows):
            cell = Cell(np.arange(z.shape[1]), ends[0][rows], ends[1][rows], (), None, np.ones(len(rows), np.bool_))
            box = box_over_cell(trees, cell)
            found.lower[rows], found.upper[rows] = box.lower, box.upper
        return found


# Conversion of boosted models to sums of trees: one per attribute or pair, with the same numbers at its leaves.


def as_trees(model: AdditiveModel) -> Trees:
    """The same function, as proofs take it: base + Σ one leaf per attribute, pair and tree."""
    return Trees.of(model.features, model.base, [tree_of(term) for term in model.terms])


def tree_of(term: ShapeFunction | PairFunction | TreeFunction) -> TreeNode:
    """What one attribute, pair or tree adds, with a value for each output at the leaves."""
    if isinstance(term, TreeFunction):
        return _branches(term, term.bins.root)
    if isinstance(term, ShapeFunction):
        return _along(term.bins, [TreeLeaf(tuple(values)) for values in term.values.tolist()])
    rows = [tree_of(ShapeFunction(term.bins.second, row).without_idle_thresholds()) for row in term.values]
    return _along(term.bins.first, rows)


def _branches(term: TreeFunction, node: TreeCut | int) -> TreeNode:
    if isinstance(node, int):
        return TreeLeaf(tuple(term.values[node].tolist()))
    axis, first, second = term.bins.axes[node.axis], _branches(term, node.first), _branches(term, node.second)
    if axis.thresholds is not None:
        return NumberNode(axis.columns.start, float(axis.thresholds[len(node.chosen) - 1]), first, second)
    columns = range(axis.columns.start, axis.columns.stop)
    return CategoryNode(columns, frozenset(columns.start + place for place in node.chosen), first, second)


def _along(bins: AttributeBins, nodes: list[TreeNode]) -> TreeNode:
    """A tree that leads to the node of each bin."""
    columns = range(bins.columns.start, bins.columns.stop)
    return _sets(columns, nodes) if bins.thresholds is None else _halved(columns.start, bins.thresholds.tolist(), nodes)


def _halved(column: int, thresholds: list[float], nodes: list[TreeNode]) -> TreeNode:
    """A balanced tree: split at the middle threshold, until one bin is left."""
    if not thresholds:
        return nodes[0]
    middle = len(thresholds) // 2
    return NumberNode(
        column,
        thresholds[middle],
        _halved(column, thresholds[:middle], nodes[: middle + 1]),
        _halved(column, thresholds[middle + 1 :], nodes[middle + 1 :]),
    )


def _sets(columns: range, nodes: list[TreeNode]) -> TreeNode:
    """Categories with the same node split off together, one set after the other."""
    groups: dict[TreeNode, set[int]] = {}
    for column, node in zip(columns, nodes, strict=True):
        groups.setdefault(node, set()).add(column)
    *others, (rest, _) = groups.items()
    tree: TreeNode = rest
    for node, chosen in reversed(others):
        tree = CategoryNode(columns, frozenset(chosen), node, tree)
    return tree


# Additive models as representations: z has a score for each attribute and pair that is read, and for each class.


def score_trees(model: AdditiveModel) -> Trees:
    """From encoded people to z: one tree for each attribute and pair, whose values are outputs of their own.

    Every coordinate of z is a stored number, so nothing is rounded, and its range over a region is known exactly.
    """
    terms = _terms(model)
    width = len(terms) * model.outputs
    placed = [_placed(node, place * model.outputs, width) for place, node in enumerate(terms)]
    return Trees.of(model.features, np.zeros(width), placed)


def summing_head(model: AdditiveModel) -> Network:
    """From z to the scores of the model itself: base + the sum of what the attributes say."""
    weight = np.tile(np.eye(model.outputs), len(_terms(model)))
    return Network.from_arrays([(weight, model.base)])


def _terms(model: AdditiveModel) -> list[TreeNode]:
    """A tree for each attribute and pair; of a model that reads nothing, one that says nothing."""
    return [tree_of(term) for term in model.terms] or [TreeLeaf((0.0,) * model.outputs)]


def _placed(node: TreeNode, start: int, width: int) -> TreeNode:
    """The same tree whose values are outputs from ``start`` on, of ``width`` in all."""
    if isinstance(node, TreeLeaf):
        behind = width - start - len(node.values)
        return TreeLeaf((0.0,) * start + node.values + (0.0,) * behind)
    first, second = (_placed(child, start, width) for child in (node.first, node.second))
    if isinstance(node, NumberNode):
        return NumberNode(node.column, node.threshold, first, second)
    return CategoryNode(node.columns, node.chosen, first, second)


# Additive models read from sums of trees: what each attribute, or pair of attributes, adds to the outputs.


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
        axes = tuple(_bins_of_splits(trees, encoding, encoding.schema.names[place], chosen) for place in one)
        values = _values_in_bins(trees, axes, chosen)
        if len(axes) == 1:
            shapes.append(ShapeFunction(axes[0], values))
        else:
            pairs.append(PairFunction(PairBins(axes[0], axes[1]), values))
    return AdditiveModel(base, tuple(shapes), trees.inputs, tuple(pairs))


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


def _values_in_bins(trees: Trees, axes: Sequence[AttributeBins], chosen: NDArray[np.bool_]) -> FloatArray:
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


def _bins_of_splits(trees: Trees, encoding: Encoding, name: str, chosen: NDArray[np.bool_]) -> AttributeBins:
    """The thresholds at which the chosen trees split a number; the values of a category."""
    where = encoding.columns(name)
    if isinstance(encoding.schema[name], Categorical):
        return AttributeBins(name, where, None)
    nodes = trees.nodes
    tree = np.searchsorted(nodes.root, np.arange(len(nodes.kind)), side="right") - 1
    mine = (nodes.kind == NUMBER) & (nodes.column == where.start) & chosen[tree]
    return AttributeBins(name, where, np.unique(nodes.threshold[mine]))
