"""The arrays that one thread works in: the kernels themselves ask for no memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lcifr.prove.networks.kernel.deep.shape import Bench, DeepWorkspace, HiddenLayers, OpenNodes, Rows
from lcifr.prove.networks.kernel.shape import (
    Cells,
    FirstLayer,
    MovingCell,
    Record,
    Room,
    Scratch,
    SimplexDictionary,
    Tree,
)


class Workspace(NamedTuple):
    """Everything that :func:`kernel` writes besides what it finds."""

    cell: MovingCell
    lp: SimplexDictionary
    tree: Tree
    scratch: Scratch
    record: Record


def make_workspace(layer: FirstLayer, cells: Cells, directions: int, room: Room, record: Record) -> Workspace:
    """Room for any person of these cells."""
    columns, hidden = layer.weight.shape
    numerics, choices = cells.lower.shape[1], len(cells.start) - 1
    return Workspace(
        make_moving_cell(columns, hidden, numerics, choices),
        make_dictionary(columns, hidden + choices, columns, hidden),
        _tree(columns, hidden, room.nodes + directions, room.work),
        _scratch(columns, hidden, directions),
        record,
    )


def make_deep_workspace(
    first: FirstLayer, layers: HiddenLayers, rows: Rows, cells: Cells, directions: int, room: Room, record: Record
) -> DeepWorkspace:
    """The same for the search through several hidden layers."""
    columns, width = first.weight.shape
    numerics, choices = cells.lower.shape[1], len(cells.start) - 1
    neurons, last, lines = int(layers.begin[-1]), int(layers.width[-1]), len(rows.slope)
    early = neurons - last
    kinks = 3 * early + last + lines
    return DeepWorkspace(
        make_moving_cell(columns, width, numerics, choices),
        make_dictionary(columns, 2 * early + last + lines + choices, columns + early, kinks),
        _open_nodes(columns, neurons, room.nodes + directions, room.work),
        _bench(columns, neurons, columns + early, kinks, lines, int(layers.width.max()), directions),
        record,
    )


def make_moving_cell(columns: int, hidden: int, numerics: int, choices: int) -> MovingCell:
    """Room for the moving part of any cell of this shape."""
    return MovingCell(
        size=np.zeros(4, np.int64),
        pattern=np.full(numerics + choices, 2, np.uint8),  # unlike any, so that the first person is looked at
        source=np.zeros(columns, np.int64),
        begin=np.zeros(choices + 1, np.int64),
        choice=np.zeros(choices, np.int64),
        weight=np.zeros((hidden, columns)),
        low=np.zeros(columns),
        high=np.zeros(columns),
        allow=np.zeros(columns, np.uint8),
        base=np.zeros(hidden),
        lo=np.zeros(hidden),
        hi=np.zeros(hidden),
        on=np.zeros(hidden, np.uint8),
        least=np.zeros(hidden),
        most=np.zeros(hidden),
        unstable=np.zeros(hidden, np.int64),
        largest=np.zeros(1),
    )


def make_dictionary(columns: int, rows: int, variables: int, kinks: int) -> SimplexDictionary:
    """Room for so many basic and other variables; ``kinks`` of all of them have a kink."""
    return SimplexDictionary(
        size=np.zeros(4, np.int64),
        table=np.zeros((rows, variables)),
        value=np.zeros(rows),
        basis=np.zeros(rows, np.int64),
        slope=np.zeros(rows),
        other=np.zeros(variables, np.int64),
        at=np.zeros(variables),
        rest=np.zeros(variables),
        gain=np.zeros(columns),
        left=np.zeros(kinks),
        right=np.zeros(kinks),
        reach=np.zeros(columns + kinks),
        step=np.zeros(rows),
        share=np.zeros(columns),
        input=np.zeros(kinks),
    )


def _tree(columns: int, hidden: int, nodes: int, work: int) -> Tree:
    return Tree(
        size=np.array([0, 0, 0, work]),
        heap=np.zeros(nodes, np.int64),
        spare=np.zeros(nodes, np.int64),
        key=np.zeros(nodes),
        bound=np.zeros(nodes),
        direction=np.zeros(nodes, np.int64),
        phase=np.zeros((nodes, hidden), np.int8),
        allow=np.zeros((nodes, columns), np.uint8),
        cut=np.zeros(nodes, np.uint8),
        record=np.zeros(nodes, np.int64),
    )


def _scratch(columns: int, hidden: int, directions: int) -> Scratch:
    return Scratch(
        stable=np.zeros(columns),
        constant=np.zeros(1),
        slopes=np.zeros(columns),
        slope=np.zeros(hidden),
        intercept=np.zeros(hidden),
        point=np.zeros(columns),
        best=np.zeros(columns),
        hit=np.zeros(1, np.uint8),
        half=np.zeros(columns, np.uint8),
        lo=np.zeros(hidden),
        hi=np.zeros(hidden),
        plain=np.zeros((columns, directions)),
        most=np.zeros(directions),
        upper=np.zeros(directions),
        output=np.zeros(directions),
        spent=np.zeros(directions, np.int64),
    )


def _open_nodes(columns: int, neurons: int, nodes: int, work: int) -> OpenNodes:
    return OpenNodes(
        size=np.array([0, 0, 0, work]),
        heap=np.zeros(nodes, np.int64),
        spare=np.zeros(nodes, np.int64),
        key=np.zeros(nodes),
        bound=np.zeros(nodes),
        direction=np.zeros(nodes, np.int64),
        stale=np.zeros(nodes, np.int64),
        phase=np.zeros((nodes, neurons), np.int8),
        allow=np.zeros((nodes, columns), np.uint8),
        lo=np.zeros((nodes, neurons)),
        hi=np.zeros((nodes, neurons)),
        low=np.zeros((nodes, columns)),
        high=np.zeros((nodes, columns)),
        source=np.zeros((nodes, 2 * neurons), np.int64),
        boxed=np.zeros(nodes, np.int64),
        record=np.zeros(nodes, np.int64),
    )


def _bench(columns: int, neurons: int, variables: int, kinks: int, lines: int, widest: int, directions: int) -> Bench:
    return Bench(
        size=np.zeros(5, np.int64),
        free=np.zeros(neurons, np.int64),
        place=np.zeros(neurons, np.int64),
        lo=np.zeros(neurons),
        hi=np.zeros(neurons),
        slope=np.zeros(neurons),
        intercept=np.zeros(neurons),
        below=np.zeros(neurons),
        proposed=np.zeros(neurons),
        used=np.zeros(neurons),
        rate=np.zeros(lines),
        upstream=np.zeros(widest),
        downstream=np.zeros(widest),
        least=np.zeros(widest),
        most=np.zeros(widest),
        used_row=np.zeros(widest + 4, np.int64),
        used_share=np.zeros(widest + 4),
        value=np.zeros(neurons),
        gap=np.zeros(neurons),
        kink=np.zeros(kinks),
        form=np.zeros((neurons, variables)),
        at=np.zeros(neurons),
        hinge=np.zeros(neurons),
        cut=np.zeros(neurons),
        linear=np.zeros(neurons),
        strength=np.zeros(1),
        inside=np.zeros(neurons),
        magnitude=np.zeros(neurons),
        floor=np.zeros(1),
        error=np.zeros(directions),
        row=np.zeros((lines, columns)),
        row_base=np.zeros(lines),
        low=np.zeros(columns),
        high=np.zeros(columns),
        multiplier=np.zeros(columns),
        slopes=np.zeros(columns),
        point=np.zeros(columns),
        best=np.zeros(columns),
        hit=np.zeros(1, np.uint8),
        half=np.zeros(columns, np.uint8),
        output=np.zeros(directions),
        upper=np.zeros(directions),
        spent=np.zeros(directions, np.int64),
        plain=np.zeros((directions, columns)),
    )


def make_record(
    wanted: bool, nodes: int, people: int, directions: int, neurons: int, early: int, rows: int, columns: int
) -> Record:
    """Room for so many nodes; none where nothing is wanted."""
    nodes, people = (nodes, people) if wanted else (1, 1)
    return Record(
        wanted=np.array([wanted], np.uint8),
        size=np.zeros(4, np.int64),
        kind=np.zeros(nodes, np.int8),
        place=np.zeros(nodes, np.int64),
        level=np.zeros(nodes, np.int64),
        threshold=np.zeros(nodes),
        child=np.zeros((nodes, 2), np.int64),
        by=np.zeros(nodes, np.int64),
        half=np.zeros((nodes, columns), np.uint8),
        slope=np.zeros((nodes, neurons)),
        rate=np.zeros((nodes, rows)),
        above=np.zeros((nodes, early)),
        source=np.zeros((nodes, 2 * neurons if early else 0), np.int64),
        root=np.full((people, directions), -1),
        state=np.zeros((people, neurons), np.uint8),
        above_root=np.zeros((people, neurons)),
        below_root=np.zeros((people, neurons)),
    )
