"""Work on one chunk at a time, whose result depends on nothing but what its parts are named by."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import Any, final

from threadpoolctl import threadpool_limits

from lcifr.data.ingest import Chunk
from lcifr.data.store import RowRange
from lcifr.runs.executors.packing import Luggage


class Job(ABC):
    """Work on one chunk at a time. It travels to other processes, so it holds plain, frozen things.

    ``version`` is that of a part: whoever changes what a part holds or means raises it, so that parts of before are not
    taken for parts of now.
    """

    version: int
    suffix: str

    @final
    def key(self) -> str:
        """Everything that a part depends on, besides its people."""
        return f"{type(self).__name__} {self.version} {self.settings()}"

    @final
    def run_hash(self) -> str:
        """The same as a hash, by which a manifest names the run that wrote it."""
        return hashlib.sha256(self.key().encode()).hexdigest()

    @abstractmethod
    def settings(self) -> str:
        """Weights, formula, options, versions of what computes: whatever the job itself depends on."""

    @final
    def part(self, piece: Any) -> bytes:
        """The content of the part of a piece, which is read where it is worked on; empty where nobody is in it.

        Matrix products take one thread, here as in worker processes: sums are the same wherever a part is made, and
        threads of BLAS that wait for the next small product would keep a core busy with nothing.
        """
        with threadpool_limits(1, user_api="blas"):
            chunk = self.read(piece) if isinstance(piece, RowRange) else piece
            return self.work(chunk) if len(chunk.ids) else b""

    def read(self, rows: RowRange) -> Chunk:
        """The people of some rows, for jobs on tables."""
        raise NotImplementedError

    @abstractmethod
    def work(self, chunk: Any) -> bytes:
        """The content of the part of a piece of the kind that the job is for."""

    @property
    def device(self) -> str | None:
        """Where it computes bounds, as torch names it; None for the CPU."""
        return None

    @abstractmethod
    def pack(self, into: Luggage) -> dict[str, Any]:
        """All of the job as plain values and arrays, to be sent to other machines."""
