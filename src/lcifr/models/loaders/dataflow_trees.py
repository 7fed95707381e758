"""Outputs of tree ensembles inside a dataflow graph, and the one sum of trees that a vector made of them is.

A graph may pick outputs of an ensemble, turn their sign, add constants or a second ensemble, and multiply all of it by
one number. That is a sum of trees again: its leaves are the stored numbers, never products of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from lcifr.data import Encoding
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.columns import Block, encoding_of
from lcifr.models.loaders.dataflow import AffineVector, FlowVector, LeafVector, components, leaf
from lcifr.models.loaders.tree_ensembles import ColumnReader, LibraryNode, nodes_of, with_leaves
from lcifr.models.trees import TreeLeaf, Trees

ELSEWHERE = "computes with the outputs of trees in a way that is no sum of trees"


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """base + scale · Σ leaves, over the columns of a block.

    Parameters
    ----------
    trees : their leaves have one value for each output. base : (outputs,).
    """

    trees: tuple[LibraryNode, ...] = field(repr=False)
    base: tuple[float, ...]
    scale: Fraction
    block: Block = field(repr=False)

    def outputs(self) -> LeafVector:
        """All of them, as a vector that a graph computes with."""
        return leaf([TreeOutput(self, place) for place in range(len(self.base))])


@dataclass(frozen=True)
class TreeOutput:
    """One output of an ensemble; it stands where a graph has a column of the table."""

    ensemble: TreeEnsemble
    place: int


def outputs_behind(vector: FlowVector) -> bool:
    """Whether outputs of trees are among what a vector is made of."""
    waiting, seen = [vector], set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        if isinstance(one, LeafVector):
            if any(isinstance(column, TreeOutput) for column in one.columns):
                return True
            continue
        below = [base for base, _, _ in components(one) if base is not one]
        terms = [term.vector for term in one.terms] if isinstance(one, AffineVector) else []
        waiting += [*below, *terms, *([one.of] if hasattr(one, "of") else [])]
    return False


def build_sum(vector: FlowVector, arithmetic: Arithmetic, encoding: Encoding) -> tuple[Trees, Encoding]:
    """The sum of trees that a vector is.

    Raises
    ------
    NetworkError
        For anything but a sum: activations, columns beside trees, outputs that are scaled differently.
    """
    rows = [_row(part) for part in components(vector)]
    scale, factor = _scale(rows)
    ensembles = list(dict.fromkeys(output.ensemble for row in rows for output in row.factors))
    own = encoding_of(Block(tuple(column for one in ensembles for column in one.block.columns)), encoding)
    trees = []
    for ensemble in ensembles:
        reader = ColumnReader(ensemble.block.columns, own)
        chosen = [
            [(output.place, 1 if by > 0 else -1) for output, by in row.factors.items() if output.ensemble is ensemble]
            for row in rows
        ]
        trees += [reader.tree(one) for tree in ensemble.trees for one in _combined(tree, chosen)]
    base, constants = _constants(rows, factor, scale)
    rounded = max(row.roundings for row in rows)
    trees += [*constants, *([TreeLeaf((0.0,) * len(rows))] * rounded)]  # each counts as one operation that rounds
    function = Trees.of(len(own.features), base, trees, scale)
    return function.of_runtime(arithmetic), own


@dataclass(frozen=True)
class _SumRow:
    """Σ factor · output + Σ constants; ``roundings`` beyond those of the ensembles themselves."""

    factors: Mapping[TreeOutput, Fraction]
    constants: tuple[Fraction, ...] = ()
    roundings: int = 0


def _row(part: tuple[FlowVector, int, int]) -> _SumRow:
    base, place, sign = part
    if isinstance(base, LeafVector):
        column = base.columns[place]
        if not isinstance(column, TreeOutput):
            raise NetworkError(f"a column beside trees: the model {ELSEWHERE}", fix="export the trees alone")
        constant = Fraction(column.ensemble.base[column.place])
        return _SumRow({column: Fraction(sign)}, (sign * constant,) if constant else ())
    if not isinstance(base, AffineVector):
        raise NetworkError(f"an activation behind trees {ELSEWHERE}", fix="export the trees alone")
    factors: dict[TreeOutput, Fraction] = {}
    constants: list[Fraction] = [Fraction(float(base.bias[place]))] if base.bias[place] else []
    roundings = base.spare + 1
    for term in base.terms:
        inside = components(term.vector)
        for weight, one in zip(term.weight[place].tolist(), inside, strict=True):
            if weight:
                row = _row(one)
                for output, by in row.factors.items():
                    factors[output] = factors.get(output, Fraction(0)) + Fraction(weight) * by
                constants += [Fraction(weight) * constant for constant in row.constants]
                roundings += row.roundings + 2
    return _SumRow(
        {output: sign * by for output, by in factors.items() if by}, tuple(sign * one for one in constants), roundings
    )


def _scale(rows: Sequence[_SumRow]) -> tuple[Fraction, Fraction]:
    """What multiplies all leaves, and what multiplies all outputs."""
    factors = {abs(by) for row in rows for by in row.factors.values()}
    scales = {output.ensemble.scale for row in rows for output in row.factors}
    if len(factors) != 1 or len(scales) != 1:
        raise NetworkError(f"the model {ELSEWHERE}: it multiplies them by {len(factors) * len(scales)} numbers")
    factor = factors.pop()
    return factor * scales.pop(), factor


def _combined(tree: LibraryNode, chosen: Sequence[Sequence[tuple[int, int]]]) -> list[LibraryNode]:
    """A tree whose leaves hold the outputs asked for; several where no float holds a sum of two stored numbers."""

    def together(values: tuple[float, ...]) -> tuple[Fraction, ...]:
        return tuple(sum((sign * Fraction(values[place]) for place, sign in row), Fraction(0)) for row in chosen)

    def one_each(turn: int) -> Callable[[tuple[float, ...]], tuple[float, ...]]:
        return lambda values: tuple(row[turn][1] * values[row[turn][0]] if turn < len(row) else 0.0 for row in chosen)

    turns = max(map(len, chosen))
    if turns > 1 and all(
        is_float(value) for node in nodes_of(tree) if isinstance(node, TreeLeaf) for value in together(node.values)
    ):
        return [with_leaves(tree, lambda values: tuple(map(float, together(values))))]
    return [with_leaves(tree, one_each(turn)) for turn in range(turns)]


def is_float(value: Fraction) -> bool:
    """Whether a float64 holds it exactly."""
    return abs(value) <= Fraction(np.finfo(np.float64).max) and Fraction(float(value)) == value


def _constants(rows: Sequence[_SumRow], factor: Fraction, scale: Fraction) -> tuple[list[float], list[TreeLeaf]]:
    """The base, and trees of one leaf for constants whose sum no float holds."""
    sums = [sum(row.constants, Fraction(0)) for row in rows]
    if all(map(is_float, sums)):
        return [float(one) for one in sums], []
    parts = [[constant / scale for constant in row.constants] for row in rows]
    if not all(is_float(one) for row in parts for one in row):
        raise NetworkError(f"the model {ELSEWHERE}: it scales a constant by {float(factor):g}, beside them")
    turns = max(map(len, parts))
    leaves = [TreeLeaf(tuple(float(row[t]) if t < len(row) else 0.0 for row in parts)) for t in range(turns)]
    return [0.0] * len(rows), leaves
