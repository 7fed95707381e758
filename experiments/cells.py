"""A cell of the paper's tables: one thing that is computed and written down by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cell:
    """One thing to compute. Its settings say everything it depends on: a cell on disk with others is not done.

    Parameters
    ----------
    name : also the path of its file. kind : which function of :mod:`experiments.measure` makes it.
    settings : all it depends on, plain values. cost : a guess of its CPU seconds. needs : cells that must be there.
    """

    name: str
    kind: str
    settings: dict[str, Any] = field(hash=False)
    cost: float
    needs: tuple[str, ...] = ()
