"""What a sweep knows of everybody who can exist, as cells, as shares, and for the people of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.sweep.pairs_found import Pairs
from lcifr.data import Individuals
from lcifr.models.arithmetic import Arithmetic
from lcifr.regions.universe import UniverseCells


class Standing(StrEnum):
    """What is known of one individual."""

    PROVED = "proved"
    """Nobody similar is decided otherwise."""
    VIOLATING = "violating"
    """Somebody similar is."""
    OPEN = "open"


@dataclass(frozen=True)
class SweptCell:
    """One cell with its share of all people who can exist, and a pair of people that refutes it where one is known."""

    cell: UniverseCells
    share: Fraction
    pair: Pairs | None = None


@dataclass(frozen=True)
class Sweep:
    """What is known of everybody who can exist: three lists of cells that are the universe together.

    Parameters
    ----------
    proved : nobody in them is decided otherwise than anybody similar, ties included.
    violating : everybody in them has somebody similar who is decided otherwise; with a pair of each cell.
    open : the rest; with a pair where somebody in the cell is known to have one.
    whole : whether whole-number attributes hold whole numbers only.
    arithmetic : in which the model is computed.
    """

    proved: tuple[SweptCell, ...]
    violating: tuple[SweptCell, ...]
    open: tuple[SweptCell, ...]
    whole: bool
    arithmetic: Arithmetic

    def cells(self, standing: Standing) -> tuple[SweptCell, ...]:
        """Those of one list."""
        return {Standing.PROVED: self.proved, Standing.VIOLATING: self.violating, Standing.OPEN: self.open}[standing]

    def share(self, standing: Standing) -> Fraction:
        """Of all people who can exist: by count where numbers are whole, by length where they are not."""
        return sum((one.share for one in self.cells(standing)), Fraction(0))

    @property
    def pairs(self) -> list[Pairs]:
        """All pairs that are known, of violating and open cells."""
        return [one.pair for one in (*self.violating, *self.open) if one.pair is not None]

    @property
    def refuted(self) -> bool:
        """Whether a pair is known that is decided differently."""
        return bool(self.pairs)

    def locate(self, X: Any) -> NDArray[np.object_]:
        """(people,) the :class:`Standing` of the people of a table.

        Somebody beyond declared ranges is refused, as in every table; one at whose category the model raises is open.
        Whoever lies on the border of two cells has the better of the two: both hold them.
        """
        schema = next(one.cell.schema for standing in Standing for one in self.cells(standing))
        people = Individuals.read(X, schema)
        found = np.full(len(people), Standing.OPEN, dtype=object)
        for standing in (Standing.VIOLATING, Standing.PROVED):
            for one in self.cells(standing):
                found[_inside(one.cell, people)] = standing
        return found

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
        lines = [f"{standing}: {_percent(self.share(standing))} of everybody who can exist" for standing in Standing]
        lines.append(f"{len(self.proved) + len(self.violating) + len(self.open)} cells, {len(self.pairs)} pairs")
        universe = "whole numbers where the schema says so" if self.whole else "all real numbers"
        return "\n".join([*lines, f"universe: {universe}; arithmetic: {self.arithmetic}"])


def _inside(cell: UniverseCells, people: Individuals) -> NDArray[np.bool_]:
    """(people,) who is in the one cell; not by its ``contains``, which would copy the cell for each of them."""
    inside = ((people.numbers >= cell.lower[0]) & (people.numbers <= cell.upper[0])).all(1)
    for j, mask in enumerate(cell.allowed):
        inside &= mask[0][people.codes[:, j]]
    return np.asarray(inside)


def _percent(share: Fraction) -> str:
    """With as many digits as it takes not to call a little nothing, or not quite everything all."""
    for digits in (1, 2, 4, 8):
        text = f"{float(100 * share):.{digits}f} %"
        if (float(text[:-2]) not in (0.0, 100.0)) or share in (0, 1):
            return text
    return "almost none" if share < Fraction(1, 2) else "almost all"


def largest(cells: Sequence[SweptCell], count: int) -> list[SweptCell]:
    """The cells with the largest shares."""
    return sorted(cells, key=lambda one: -one.share)[:count]
