"""A piece of the people, one call of a kernel after the other: with more room for whoever needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from lcifr.prove.networks.kernel.recording.proofs import RecordedCell, copy_record
from lcifr.prove.networks.kernel.recording.record import BASE, FULL, Record, make_record

NODES = 256
"""Open nodes that a tree has room for at first."""
RECORDED = 4096
"""Nodes that a record has room for at first."""


@dataclass(frozen=True)
class RecordShape:
    """Whether nodes are recorded, and how large they are: directions, neurons, those of early layers, rows, columns."""

    wanted: bool
    directions: int
    neurons: int
    early: int
    rows: int
    columns: int


@dataclass(frozen=True, eq=False)
class Pieces:
    """What one cell of everybody is asked with.

    Parameters
    ----------
    ask : open nodes, and a record -> a kernel for people begin … end−1, which says whom it had no room for.
    written : what was recorded is added here.
    """

    ask: Callable[[int, Record], Callable[[int, int], int]]
    shape: RecordShape
    about: RecordedCell
    written: list[RecordedCell]

    def answer(self, begin: int, end: int) -> None:
        """People begin … end−1; whoever needs more room gets it and starts again, with what was found."""
        nodes, recorded = NODES, RECORDED
        record = self._record(recorded, begin, end)
        kernel = self.ask(nodes, record)
        while True:
            stopped = kernel(begin, end)
            if self.shape.wanted and stopped > begin:
                self._keep(record, begin, stopped)
            if stopped == end:
                return
            if not record.size[FULL]:
                nodes *= 4
            elif stopped == begin:
                recorded *= 4
            record = self._record(recorded, stopped, end)
            begin, kernel = stopped, self.ask(nodes, record)

    def _record(self, nodes: int, begin: int, end: int) -> Record:
        shape = self.shape
        sizes = (shape.directions, shape.neurons, shape.early, shape.rows, shape.columns)
        record = make_record(shape.wanted, nodes, end - begin, *sizes)
        record.size[BASE] = begin
        return record

    def _keep(self, record: Record, begin: int, end: int) -> None:
        base = int(record.size[BASE])
        self.written.append(replace(self.about, start=begin, record=copy_record(record, begin - base, end - base)))
