"""The arrays that one thread works in: the search itself asks for no memory."""

from __future__ import annotations

import numpy as np

from lcifr.prove.networks.kernel.deep.shape import Bench, DeepWorkspace, HiddenLayers, OpenNodes, Rows
from lcifr.prove.networks.kernel.heap import Room
from lcifr.prove.networks.kernel.recording.record import Record
from lcifr.prove.networks.kernel.shape import Cells, FirstLayer
from lcifr.prove.networks.kernel.workspace import make_dictionary, make_moving_cell


def make_deep_workspace(
    first: FirstLayer, layers: HiddenLayers, rows: Rows, cells: Cells, directions: int, room: Room, record: Record
) -> DeepWorkspace:
    """Room for any person of these cells."""
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
        value=np.zeros(neurons),
        gap=np.zeros(neurons),
        kink=np.zeros(kinks),
        form=np.zeros((neurons, variables)),
        at=np.zeros(neurons),
        hinge=np.zeros(neurons),
        cut=np.zeros(neurons),
        linear=np.zeros(neurons),
        strength=np.zeros(1),
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
