"""What a sweep knows of everybody who can exist, as cells, as shares, and for the people of a table."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.bundles.hashes import Hashes
from lcifr.certification.sweep.map import map_cells
from lcifr.certification.sweep.pairs_found import Pairs
from lcifr.data import Individuals
from lcifr.drawing.sweeps.shares import SweepMap
from lcifr.models.arithmetic import Arithmetic
from lcifr.regions.cell_index import CellIndex
from lcifr.regions.universe import UniverseCells


class Standing(StrEnum):
    """What is known of one individual."""

    PROVED = "proved"
    """Nobody similar is decided otherwise."""
    CROSSINGS = "strict crossings only"
    """In exact arithmetic, nobody similar is decided otherwise strictly; what ties and rounding do is not known."""
    VIOLATING = "violating"
    """Somebody similar is."""
    OPEN = "open"


@dataclass(frozen=True)
class SweptCell:
    """One cell with its share of all people who can exist.

    Parameters
    ----------
    pair : of people that refutes it, where one is known.
    strict : of a proved cell, whether ties count too, else only strict crossings are excluded; of a violating one,
        whether its pair crosses strictly, else by a tie.
    """

    cell: UniverseCells
    share: Fraction
    pair: Pairs | None = None
    strict: bool = True


@dataclass(frozen=True)
class SweepLimit:
    """What stopped a sweep before everything was decided: ``cells`` or ``seconds``, and how many were allowed."""

    name: str
    allowed: float

    def __str__(self) -> str:
        counted = "examined cells" if self.name == "cells" else self.name  # cells that were split count too
        return f"stopped at its limit of {self.allowed:,g} {counted}; a larger --{self.name} leaves less open"


@dataclass(frozen=True)
class Sweep:
    """What is known of everybody who can exist: three lists of cells that are the universe together.

    Parameters
    ----------
    proved : nobody in them is decided otherwise than anybody similar, ties included unless a cell is not strict.
    violating : everybody in them has somebody similar who is decided otherwise; with a pair of each cell.
    open : the rest; with a pair where somebody in the cell is known to have one.
    whole : whether whole-number attributes hold whole numbers only.
    arithmetic : in which the model is computed.
    hashes : of the model, the encoding with its schema, and φ with its tables; None where it is not to be looked up.
    limit : what stopped the sweep while cells were open; None where it ran to its end, or where that is not known.
    """

    proved: tuple[SweptCell, ...]
    violating: tuple[SweptCell, ...]
    open: tuple[SweptCell, ...]
    whole: bool
    arithmetic: Arithmetic
    hashes: Hashes | None = None
    limit: SweepLimit | None = None

    def cells(self, standing: Standing) -> tuple[SweptCell, ...]:
        """Those of one list."""
        if standing in (Standing.PROVED, Standing.CROSSINGS):
            return tuple(one for one in self.proved if one.strict is (standing is Standing.PROVED))
        return self.violating if standing is Standing.VIOLATING else self.open

    def share(self, standing: Standing) -> Fraction:
        """Of all people who can exist: by count where numbers are whole, by length where they are not."""
        return sum((one.share for one in self.cells(standing)), Fraction(0))

    @property
    def individuals(self) -> int | None:
        """How many people can exist; None where a number is not whole, so that there is no end of them."""
        cells = self.index.cells
        ranged = cells.lower.min(0, initial=np.inf) < cells.upper.max(0, initial=-np.inf)
        return None if (ranged & ~cells.counted).any() else int(sum(cells.measures()))

    @property
    def pairs(self) -> list[Pairs]:
        """All pairs that are known, of violating and open cells."""
        return [one.pair for one in (*self.violating, *self.open) if one.pair is not None]

    @property
    def refuted(self) -> bool:
        """Whether a pair is known that is decided differently."""
        return bool(self.pairs)

    @property
    def is_lower_end(self) -> bool:
        """Whether more people than the violating share may have someone similar who is decided differently."""
        return bool(self.open or self.cells(Standing.CROSSINGS))

    @property
    def refuted_cells(self) -> int:
        """How many open cells hold one person of a known pair; that says nothing about the volume of the cell."""
        return sum(one.pair is not None for one in self.open)

    def locate(self, X: Any) -> NDArray[np.object_]:
        """(people,) the :class:`Standing` of the people of a table.

        Somebody beyond declared ranges is refused, as in every table; one at whose category the model raises is open.
        Whoever lies on the border of two cells has the better of the two: both hold them.
        """
        standings = [standing for standing in Standing for _ in self.cells(standing)]
        cell = self.index.find(Individuals.read(X, self.index.cells.schema))
        return np.array([*standings, Standing.OPEN], dtype=object)[cell]  # the last of them for whoever is in none

    def map(self) -> SweepMap:
        """Where it is proved, violating and open: shares along every attribute, and over the two that matter most."""
        known = [standing for standing in Standing for _ in self.cells(standing)]
        shares = np.array([float(one.share) for standing in Standing for one in self.cells(standing)])
        masks = {standing: np.array([one is standing for one in known]) for standing in Standing}
        return map_cells(self.index.cells, {str(one): np.where(mask, shares, 0.0) for one, mask in masks.items()})

    @cached_property
    def index(self) -> CellIndex:
        """All cells in the order in which they are numbered: proved, violating, open."""
        return CellIndex(UniverseCells.joined([one.cell for standing in Standing for one in self.cells(standing)]))

    @cached_property
    def hash(self) -> str:
        """sha256 of what is said: about what, in which universe, and every cell with its standing."""
        cells = self.index.cells
        counts = [len(self.cells(standing)) for standing in Standing]
        about = [None if self.hashes is None else asdict(self.hashes), self.whole, str(self.arithmetic), counts]
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
        for array in (cells.lower, cells.upper, *cells.allowed):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def counterexamples(self) -> Any:
        """A pandas frame of all known pairs: two rows each, x and x′, in the table's own units."""
        import pandas as pd

        parts = []
        for number, pair in enumerate(self.pairs):
            for who, person in (("x", pair.x), ("x'", pair.other)):
                frame = person.to_pandas()
                frame.insert(0, "who", who, allow_duplicates=True)  # the table may have such a column too
                frame.insert(0, "pair", number, allow_duplicates=True)
                parts.append(frame)
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def __str__(self) -> str:
        shares = {one: self.share(one) for one in Standing if one is not Standing.CROSSINGS or self.cells(one)}
        lines = []
        for standing, share in shares.items():
            least = "at least " if standing is Standing.VIOLATING and self.is_lower_end else ""
            lines.append(f"{standing}: {least}{_percent(share)} of everyone who could exist")
        cells = len(self.proved) + len(self.violating) + len(self.open)
        lines.append(f"{cells:,} cells; pairs of similar people with different decisions: {len(self.pairs):,}")
        if self.refuted_cells:
            lines.append(
                f"{self.refuted_cells:,} of the open cells are refuted by a pair: not everyone there is decided alike; "
                "how many are not is unknown"
            )
        universe = "whole numbers where the schema says so" if self.whole else "all real numbers"
        stopped = [] if self.limit is None else [str(self.limit)]
        return "\n".join([*lines, *stopped, f"universe: {universe}; arithmetic: {self.arithmetic}"])


def _percent(share: Fraction) -> str:
    """With as many digits as it takes not to call a little nothing, or not quite everything all."""
    for digits in (1, 2, 4, 8):
        text = f"{float(100 * share):.{digits}f} %"
        if (float(text[:-2]) not in (0.0, 100.0)) or share in (0, 1):
            return text
    return "almost none" if share < Fraction(1, 2) else "almost all"
