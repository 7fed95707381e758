"""Trees of a library over the columns of its matrix, turned into trees over encoded columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lcifr.data import Encoding
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.errors import NetworkError
from lcifr.models.columns import Block, Column, ConstantColumn, NumberColumn, TableColumn
from lcifr.models.trees.nodes import CategoryNode, NumberNode, TreeLeaf, TreeNode, below

LARGEST_NUMBER = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class LibrarySplit:
    """A split of a library's tree.

    Parameters
    ----------
    feature : column of the matrix. threshold : the first child takes numbers at most this (less than, if ``strict``).
    codes : of a categorical split, the codes of the first child; then ``threshold`` means nothing.
    members : of a split by equality, the numbers of the first child; then ``threshold`` means nothing either.
    missing_first : where a missing value goes. missing_reach : numbers of at most this size are missing; NaN for none.
    zero_reach : numbers of at most this size are 0 before they are compared; see :class:`ColumnReader` for sparse ones.
    """

    feature: int
    threshold: float
    first: LibraryNode
    second: LibraryNode
    strict: bool = False
    missing_first: bool = False
    codes: frozenset[int] | None = None
    missing_reach: float = math.nan
    members: frozenset[float] | None = None
    zero_reach: float = 0.0

    @property
    def last(self) -> float:
        """The last float64 that goes to the first child."""
        last = below(self.threshold) if self.strict else self.threshold
        if abs(last) > self.zero_reach:
            return last
        return self.zero_reach if last >= 0.0 else below(-self.zero_reach)

    def takes_first(self, value: float) -> bool:
        """Where an entry of the matrix goes; NaN is missing."""
        if math.isnan(value) or abs(value) <= self.missing_reach:
            return self.missing_first
        if self.members is not None:
            return value in self.members
        return value <= self.last if self.codes is None else int(value) in self.codes


LibraryNode = LibrarySplit | TreeLeaf


def cast_block(block: Block, kind: StepFormat, where: str) -> Block:
    """The matrix as the library casts it: in float32, or float64."""
    if kind is StepFormat.FLOAT64:
        return block
    return block.stepwise(((ProgramStep(Operation.CAST, kind),) for _ in block.columns), where)


@dataclass(frozen=True)
class ColumnReader:
    """Where the columns of a matrix come from.

    Parameters
    ----------
    missing : a number that the library takes as missing, such as the 0 that a sparse matrix leaves out; NaN for none.
    cast_later : where the library scales the columns and casts them to float32 once it knows what is missing, the
        scaled columns: a tiny number is then 0 and not missing. Thresholds become those of the float64 numbers before.
    sparse : whether the matrix is sparse. LightGBM compares what is stored there as it is, however near to 0.
    """

    columns: Sequence[Column]
    encoding: Encoding
    missing: float = math.nan
    cast_later: Sequence[Column] | None = None
    sparse: bool = False

    def tree(self, root: LibraryNode) -> TreeNode:
        """The same tree over encoded columns."""
        return rebuild(root, self._split, self._only_side)

    def _only_side(self, node: LibrarySplit) -> LibraryNode | None:
        if not 0 <= node.feature < len(self.columns):
            raise NetworkError(f"a split about column {node.feature}; there are {len(self.columns)}")
        column = self.columns[node.feature]
        if not isinstance(column, ConstantColumn):
            return None
        node = self._compared(node)
        scaled = column if self.cast_later is None else self.cast_later[node.feature]
        assert isinstance(scaled, ConstantColumn)
        return node.first if node.takes_first(self._entry(column.value, scaled.value)) else node.second

    def _split(self, node: LibrarySplit, first: TreeNode, second: TreeNode) -> TreeNode:
        column, node = self.columns[node.feature], self._compared(node)
        assert not isinstance(column, ConstantColumn)
        where = self.encoding.columns(column.attribute)
        scaled = column if self.cast_later is None else self.cast_later[node.feature]
        if isinstance(column, TableColumn):
            assert isinstance(scaled, TableColumn)
            chosen = frozenset(
                where.start + code
                for code, (value, last) in enumerate(zip(column.values, scaled.values, strict=True))
                if value is not None and last is not None and node.takes_first(self._entry(value, last))
            )
            if len(chosen) in (0, len(column.values)):
                return first if chosen else second
            return CategoryNode(range(where.start, where.start + len(column.values)), chosen, first, second)
        if node.codes is not None:
            raise NetworkError(f'a split by categories is about the number "{column.attribute}"')
        if self.cast_later is not None:
            assert isinstance(scaled, NumberColumn)
            steps = Program(scaled.program.steps[len(column.program.steps) :])
            node = replace(node, threshold=last_behind(steps, last_cast_to(node.last)), strict=False)
        return split_number(where.start, node, (first, second), (self.missing, self.missing), cast_later=False)

    def _compared(self, node: LibrarySplit) -> LibrarySplit:
        return replace(node, zero_reach=0.0) if self.sparse and node.zero_reach else node

    def _entry(self, value: float, scaled: float) -> float:
        if value == self.missing:
            return math.nan
        return scaled if self.cast_later is None else float(np.float32(scaled))


def rebuild(
    root: LibraryNode,
    split: Callable[[LibrarySplit, TreeNode, TreeNode], TreeNode],
    only_side: Callable[[LibrarySplit], LibraryNode | None] = lambda node: None,
) -> TreeNode:
    """A tree over other columns; it may be deeper than Python's stack.

    Parameters
    ----------
    split : a split with its children built. only_side : the child that everybody goes to; None where people differ.
    """
    waiting: list[tuple[LibraryNode, bool]] = [(root, False)]  # whether both children are built
    built: list[TreeNode] = []
    while waiting:
        node, ready = waiting.pop()
        if isinstance(node, TreeLeaf):
            built.append(node)
        elif ready:
            second, first = built.pop(), built.pop()
            built.append(split(node, first, second))
        elif (only := only_side(node)) is not None:
            waiting.append((only, False))
        else:
            waiting += [(node, True), (node.second, False), (node.first, False)]
    return built[0]


def split_number(
    column: int,
    node: LibrarySplit,
    sides: tuple[TreeNode, TreeNode],
    missing: tuple[float, float],
    cast_later: bool,
) -> TreeNode:
    """A split of a number, of which those from ``missing[0]`` to ``missing[1]`` are missing, none if these are NaN;
    ``cast_later`` as in :class:`ColumnReader`."""
    first, second = sides
    if node.members is not None:
        return _equal_to(column, node.members, first, second)
    if math.isnan(missing[0]) and math.isnan(node.missing_reach) and abs(node.last) >= LARGEST_NUMBER:
        return first if node.last > 0 else second  # everybody passes on the same side
    plain = NumberNode(column, last_cast_to(node.last) if cast_later else node.last, first, second)
    ends = missing if math.isnan(node.missing_reach) else (-node.missing_reach, node.missing_reach)
    side = first if node.missing_first else second
    if math.isnan(ends[0]) or (ends[0] <= node.last) == (ends[1] <= node.last) == node.missing_first:
        return plain
    return NumberNode(column, below(ends[0]), plain, NumberNode(column, ends[1], side, plain))


def _equal_to(column: int, members: frozenset[float], first: TreeNode, second: TreeNode) -> TreeNode:
    """``first`` where the number is one of these."""
    found = second
    for member in sorted(members, reverse=True):
        found = NumberNode(column, below(member), second, NumberNode(column, member, first, found))
    return found


def last_cast_to(threshold: float) -> float:
    """The last float64 that float32 rounds to a number at most ``threshold``."""
    last = np.float32(threshold)
    if float(last) > threshold:
        last = np.nextafter(last, np.float32(-np.inf))
    middle = 0.5 * float(last) + 0.5 * float(np.nextafter(last, np.float32(np.inf)))  # exact, and rounds to even
    return middle if np.float32(middle) == last else float(np.nextafter(middle, -np.inf))


def last_behind(steps: Program, threshold: float) -> float:
    """The last float64 that increasing steps make a number of at most the threshold; the first of all if there is none.

    Floats are halved by their order, as probes are.
    """
    if not steps.steps:
        return threshold
    low, high = -_ORDER_OF_LARGEST, _ORDER_OF_LARGEST
    while low < high:
        middle = (low + high + 1) // 2
        if steps(_float_at(middle)) <= threshold:
            low = middle
        else:
            high = middle - 1
    return _float_at(low)


_ORDER_OF_LARGEST = int(np.float64(LARGEST_NUMBER).view(np.int64))


def _float_at(place: int) -> float:
    """Floats in their order: 0 is at 0, its neighbours at 1 and -1."""
    size = float(np.int64(abs(place)).view(np.float64))
    return size if place >= 0 else -size


def all_cast_to(number: float) -> tuple[float, float]:
    """The first and the last float64 that float32 rounds to this number; NaN twice for NaN."""
    if math.isnan(number):
        return number, number
    before = float(np.nextafter(np.float32(number), np.float32(-np.inf)))
    return float(np.nextafter(last_cast_to(before), np.inf)), last_cast_to(number)


def codes_of(bits: Sequence[int] | np.ndarray, words: int = 32) -> frozenset[int]:
    """The codes whose bits are set in words of so many bits."""
    return frozenset(
        word * words + bit for word, value in enumerate(bits) for bit in range(words) if int(value) >> bit & 1
    )
