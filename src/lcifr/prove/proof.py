"""The proof that an engine hands to the checker: a split tree with multipliers, and what it is in JSON.

``docs/design/proofs.md`` says what each number means and why no choice of numbers can prove something false. The
checker (``lcifr.check``) reads the JSON, never these classes: the file format is the border between the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

import numpy as np

from lcifr.regions.region import FloatArray, Region


class ReluLine(NamedTuple):
    """What stands for a hidden neuron y in a backward pass: v·relu(y) becomes (v·slope + beta)·y and a constant.

    Parameters
    ----------
    above, below : the slope where v > 0, and where v < 0.
    beta : added to the coefficient. This is where splits and the duals of programs enter.
    """

    layer: int
    neuron: int
    above: float = 0.0
    below: float = 0.0
    beta: float = 0.0


class Entry(NamedTuple):
    """A number that belongs to a position: an output of the network, or a linear row of the cell."""

    place: int
    value: float


@dataclass(frozen=True)
class Multipliers:
    """What one backward pass needs: any values prove *some* bound, good ones a tight one; none, interval arithmetic.

    Parameters
    ----------
    lines : of the neurons whose coefficient is not to be 0.
    rows : λ ≥ 0 per linear row of the cell.
    """

    lines: tuple[ReluLine, ...] = ()
    rows: tuple[Entry, ...] = ()


@dataclass(frozen=True)
class NeuronBound:
    """A proved end of the interval of a hidden neuron before its ReLU; intersected with what is known already."""

    layer: int
    neuron: int
    side: Literal["lower", "upper"]
    by: Multipliers = Multipliers()


@dataclass(frozen=True)
class Ends:
    """Ends of one layer by the same multipliers: place 2k is the upper end of neuron k, 2k + 1 the lower one."""

    layer: int
    places: tuple[int, ...]
    by: Multipliers = Multipliers()


@dataclass(frozen=True)
class ReluSplit:
    """First child: the neuron's input is ≤ 0. Second child: it is ≥ 0."""

    layer: int
    neuron: int


@dataclass(frozen=True)
class CategorySplit:
    """First child: the choice that begins at ``column`` takes one of ``columns``. Second child: none of them."""

    column: int
    columns: tuple[int, ...]


@dataclass(frozen=True)
class NumericSplit:
    """First child: feature column ``column`` is ≤ ``threshold``. Second child: it is ≥ ``threshold``."""

    column: int
    threshold: float


@dataclass(frozen=True)
class WholeSplit:
    """First child: the whole number of ``attribute``, in the table's units, is ≤ ``level``. Second: it is more."""

    attribute: str
    level: int


@dataclass(frozen=True)
class Leaf:
    """The end of a branch.

    Parameters
    ----------
    by : multipliers of the backward pass.
    empty : the pass starts at the zero direction and must end below 0, so that no point is left here (Farkas).
    ends : intervals of hidden neurons that the pass rests on.
    """

    by: Multipliers = Multipliers()
    empty: bool = False
    ends: tuple[NeuronBound | Ends, ...] = ()


Node = ReluSplit | CategorySplit | NumericSplit | WholeSplit | Leaf


@dataclass(frozen=True)
class ProvedBound:
    """For every x′ in the cell: direction · network(x′) ≤ upper.

    Parameters
    ----------
    direction : its entries that are not zero. With none at all and upper < 0 the claim says that the cell is empty.
    upper : the proved bound.
    nodes : the split tree in preorder: a split is followed by its whole first subtree, then by its second.
    """

    direction: tuple[Entry, ...]
    upper: float
    nodes: tuple[Node, ...] = (Leaf(),)


@dataclass(frozen=True)
class CellProof:
    """Everything proved about one cell of one person."""

    cell: int
    claims: tuple[ProvedBound, ...]


def entries(values: FloatArray) -> tuple[Entry, ...]:
    """A direction as the proof format writes it: what is not 0."""
    return tuple(Entry(int(place), float(values[place])) for place in np.flatnonzero(values))


def interval_leaves(directions: FloatArray, region: Region, upper: FloatArray) -> list[list[list[CellProof]]]:
    """``[person][direction]`` for each cell one leaf that says "intervals": the proof of a closed form, too.

    Parameters
    ----------
    directions : (people, k, outputs). upper : (people, k) what is proved.
    """
    return [
        [
            [
                CellProof(number, (ProvedBound(entries(direction), bound, (Leaf(),)),))
                for number, cell in enumerate(region.cells)
                if cell.present[person]
            ]
            for direction, bound in zip(directions[person], bounds, strict=True)
        ]
        for person, bounds in enumerate(upper.tolist())
    ]


Recorded = TypeVar("Recorded")


class MadeWhenSeen(Sequence[list[CellProof]], Generic[Recorded]):
    """For each direction of a person the proofs of the cells, made on the first look.

    Parameters
    ----------
    parts : what was recorded about the cells that the person has.
    directions : (K, outputs). upper : (K,).
    """

    def __init__(self, person: int, parts: Sequence[Recorded], directions: FloatArray, upper: FloatArray) -> None:
        self.person, self.parts, self.directions, self.upper = person, parts, directions, upper

    def __len__(self) -> int:
        return len(self.directions)

    @overload
    def __getitem__(self, index: int) -> list[CellProof]: ...
    @overload
    def __getitem__(self, index: slice) -> list[list[CellProof]]: ...
    def __getitem__(self, index: int | slice) -> list[CellProof] | list[list[CellProof]]:
        return self._made[index]

    @cached_property
    def _made(self) -> list[list[CellProof]]:
        return self.make()

    def make(self) -> list[list[CellProof]]:
        """For each direction its proofs, from what was recorded."""
        raise NotImplementedError


def plain_entries(items: Iterable[Entry]) -> list[list[Any]]:
    """Positions with their numbers."""
    return [[int(place), float(value)] for place, value in items]


def plain_multipliers(by: Multipliers) -> list[Any]:
    """[lines, rows], as the checker reads them."""
    lines = [[int(layer), int(neuron), *map(float, line)] for layer, neuron, *line in by.lines]
    return [lines, plain_entries(by.rows)]


def plain_ends(ends: Iterable[NeuronBound | Ends]) -> list[list[Any]]:
    """[layer, places, lines, rows] for ends that have the same multipliers; 2k is y of neuron k, 2k + 1 is −y."""
    passes: dict[tuple[int, Multipliers], list[int]] = {}
    found = []
    for end in ends:
        if isinstance(end, Ends):
            found.append([int(end.layer), list(end.places), *plain_multipliers(end.by)])
        else:
            passes.setdefault((int(end.layer), end.by), []).append(2 * int(end.neuron) + (end.side == "lower"))
    return found + [[layer, places, *plain_multipliers(by)] for (layer, by), places in passes.items()]


def plain_split(node: ReluSplit | CategorySplit | NumericSplit | WholeSplit) -> list[Any]:
    """A split as the checker reads it."""
    match node:
        case ReluSplit():
            return ["relu", int(node.layer), int(node.neuron)]
        case CategorySplit():
            return ["choice", int(node.column), [int(column) for column in node.columns]]
        case NumericSplit():
            return ["numeric", int(node.column), float(node.threshold)]
        case WholeSplit():
            return ["whole", node.attribute, int(node.level)]


def _plain_tree(claim: ProvedBound) -> list[Any]:
    nodes: list[Any] = []
    for node in claim.nodes:
        if isinstance(node, Leaf):
            direction = [] if node.empty else plain_entries(claim.direction)
            nodes.append(["leaf", plain_ends(node.ends), [[direction, *plain_multipliers(node.by)]]])
        else:
            nodes.append(plain_split(node))
    return nodes


def to_plain(proof: CellProof) -> list[Any]:
    """The proof as trees of lists and numbers; claims that are one leaf on the same ends share their tree."""
    return together(_plain_tree(claim) for claim in proof.claims)


def together(trees: Iterable[list[Any]]) -> list[Any]:
    """The same trees, those that are one leaf on the same ends as one, so that these are written and confirmed once."""
    found: list[Any] = []
    for tree in trees:
        kind, *inside = tree[0]
        same = (other for other in found if len(other) == 1 and other[0][:2] == [kind, inside[0]])
        if kind == "leaf" and (other := next(same, None)) is not None:
            other[0][2] += inside[1]
        else:
            found.append(tree)
    return found
