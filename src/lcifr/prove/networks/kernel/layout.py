"""What every call of a kernel needs: columns in cell order, and people shared by threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import numpy as np
import torch

from lcifr.models.network import Network
from lcifr.prove.answer import IntArray
from lcifr.prove.networks.kernel.shape import Cells
from lcifr.regions.region import Cell

PIECES = 8
"""Pieces of the people for each thread: people differ widely in how long they take."""
PIECE = 512
"""People of a piece where there is one thread only: between pieces it can be interrupted."""


@dataclass(frozen=True)
class Layout:
    """A network as the columns of a cell order it; what is made of it is kept for the next chunk or call."""

    name: tuple[str, bytes, tuple[bytes, ...]]
    network: Network = field(compare=False)
    cell: Cell = field(compare=False)

    @classmethod
    def of(cls, network: Network, cell: Cell) -> Layout:
        """The layout of this network on this cell."""
        columns = tuple(choice.columns.tobytes() for choice in cell.choices)
        return cls((network.hash, cell.numeric.tobytes(), columns), network, cell)

    @property
    def order(self) -> IntArray:
        """The feature columns in cell order."""
        choices = (choice.columns for choice in self.cell.choices)
        return np.concatenate([self.cell.numeric, *choices]).astype(np.int64)


def cells_of(cell: Cell, order: IntArray) -> Cells:
    """The cell of everybody as the arrays that a kernel reads."""
    allowed = np.concatenate([np.zeros((len(cell.present), 0), np.bool_), *(c.allowed for c in cell.choices)], 1)
    return Cells(
        np.array(cell.lower, order="C"),
        np.array(cell.upper, order="C"),
        allowed.view(np.uint8),
        np.cumsum([0, *(len(choice.columns) for choice in cell.choices)]),
        order,
        np.array(cell.present).view(np.uint8),
    )


def share(people: int, work: Callable[[int, int], None]) -> None:
    """Let as many threads as torch would use take pieces of the people in turn; the kernels hold no lock."""
    threads = min(torch.get_num_threads(), people)
    step = max(1, -(-people // (PIECES * threads))) if threads > 1 else PIECE
    pieces = count()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            while (begin := next(pieces) * step) < people and not failed:
                work(begin, min(people, begin + step))
        except BaseException as problem:  # handed to the caller below
            failed.append(problem)

    helpers = [threading.Thread(target=run) for _ in range(threads - 1)]
    for helper in helpers:
        helper.start()
    run()
    for helper in helpers:
        helper.join()
    if failed:
        raise failed[0]
