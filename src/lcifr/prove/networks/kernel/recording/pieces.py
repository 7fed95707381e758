"""A piece of the people, one call of a kernel after the other: with more room for whoever needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from lcifr.prove.networks.kernel.heap import Room
from lcifr.prove.networks.kernel.recording.proofs import RecordedCell, copy_record
from lcifr.prove.networks.kernel.recording.record import BASE, FULL, TURN, Record, make_record

NODES = 256
"""Open nodes that a tree has room for at first."""
RECORDED = 4096
"""Nodes that a record has room for at first."""
WITHOUT_END = sys.maxsize
"""Nodes that a call may work on."""
SMALL, MILLISECONDS = 20_000, 1_000_000
"""Neurons × (neurons + columns) of a network whose nodes take some microseconds each, and of all nodes that take a few
milliseconds."""


@dataclass(frozen=True)
class RecordShape:
    """Whether nodes are recorded, and how large they are: directions, neurons, those of early layers, rows, columns."""

    wanted: bool
    directions: int
    neurons: int
    early: int
    rows: int
    columns: int

    @property
    def few_nodes(self) -> int:
        """Nodes for which nobody waits long; 0 where a single one may be too many."""
        size = max(1, self.neurons * (self.neurons + self.columns))
        return MILLISECONDS // size if size <= SMALL else 0


@dataclass(frozen=True, eq=False)
class Pieces:
    """What one cell of everybody is asked with.

    Parameters
    ----------
    ask : room for nodes, and a record -> a kernel for people begin … end−1, which says whom it had no room for.
    written : what was recorded is added here.
    """

    ask: Callable[[Room, Record], Callable[[int, int], int]]
    shape: RecordShape
    about: RecordedCell
    written: list[RecordedCell]

    def answer(self, begin: int, end: int) -> None:
        """People begin … end−1; whoever needs more room gets it and starts again, with what was found."""
        nodes, recorded = NODES, RECORDED
        record = self._record(recorded, begin, end)
        kernel = self.ask(Room(nodes, WITHOUT_END), record)
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
            begin, kernel = stopped, self.ask(Room(nodes, WITHOUT_END), record)

    def answer_easy(self, end: int, stop: Callable[[], None]) -> int:
        """The first people, up to ``end`` or the first who takes long, whose number is returned.

        At Ctrl-C ``stop`` is called, and who is done counts.
        """
        few = self.shape.few_nodes
        if few == 0:
            return 0
        record = self._record(RECORDED, 0, end)
        kernel = self.ask(Room(NODES, few), record)
        try:
            kernel(0, end)
        except KeyboardInterrupt:  # after the kernel, which does not hear of it
            stop()
        done = int(record.size[TURN])
        if self.shape.wanted and done > 0:
            self._keep(record, 0, done)
        return done

    def _record(self, nodes: int, begin: int, end: int) -> Record:
        shape = self.shape
        sizes = (shape.directions, shape.neurons, shape.early, shape.rows, shape.columns)
        record = make_record(shape.wanted, nodes, end - begin, *sizes)
        record.size[BASE] = begin
        return record

    def _keep(self, record: Record, begin: int, end: int) -> None:
        base = int(record.size[BASE])
        self.written.append(replace(self.about, start=begin, record=copy_record(record, begin - base, end - base)))
