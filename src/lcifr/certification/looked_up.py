"""LookedUp: who is certified by a cell of a sweep instead of a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.drawing.text import count

NOBODYS = -1
"""Instead of a cell, for whoever was searched for."""


@dataclass(frozen=True)
class LookedUp:
    """Parameters
    ----------
    sweep : its hash.
    cell : (people,) the number of the cell that certifies each, its row in ``cells.parquet``; -1 for the others.
    checked : (people,) whether an exact checker has confirmed the cell's proof; else it is claimed by whoever swept.
    """

    sweep: str
    cell: NDArray[np.int64]
    checked: NDArray[np.bool_]

    @property
    def found(self) -> NDArray[np.bool_]:
        """(people,) who was looked up."""
        return np.asarray(self.cell != NOBODYS)

    def columns(self) -> dict[str, Any]:
        """For a frame of certificates: the sweep, what it is worth, and the cell; empty for the others."""
        import pandas as pd

        found = self.found
        return {
            "sweep": pd.array(np.where(found, np.where(self.checked, "checked", "claimed"), ""), dtype="string"),
            "sweep_hash": pd.array(np.where(found, self.sweep, ""), dtype="string"),
            "cell": self.cell,
        }

    @classmethod
    def of_rows(cls, rows: Any) -> LookedUp | None:
        """What :meth:`columns` gave; None of rows without it, or without anybody who was looked up."""
        if "cell" not in rows.columns:
            return None
        cell = rows["cell"].to_numpy(np.int64)
        if not (cell != NOBODYS).any():
            return None
        first = rows.iloc[int((cell != NOBODYS).argmax())]
        return cls(str(first["sweep_hash"]), cell, np.asarray(rows["sweep"] == "checked", np.bool_))

    def __str__(self) -> str:
        checked = int(self.checked.sum())
        return f"{count(int(self.found.sum()))} people were looked up in a sweep, in checked cells {count(checked)}"
