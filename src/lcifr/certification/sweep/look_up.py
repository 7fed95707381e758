"""Look-up: people in strictly proved cells of a sweep are certified without a search.

What is proved of a cell is proved of everyone in it, as long as model, encoding, φ with its tables, universe and
arithmetic are those of the sweep. A sweep over the reals serves audits, whose people have whole numbers: it excludes
more pairs than there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.counterexample import in_universe
from lcifr.certification.demands import BoolArray
from lcifr.certification.subject import WORDS, Hashes
from lcifr.certification.sweep.result import CellStatus, Sweep
from lcifr.data import Individuals
from lcifr.errors import ArtefactError
from lcifr.regions.universe import CellIndex, UniverseCells

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class ProvedCells:
    """The strictly proved cells of a sweep.

    Parameters
    ----------
    index : the cells, to be looked up. numbers : (cells,) their numbers in the sweep.
    hashes : what they are proved of. sweep : its hash.
    checked : (cells,) whether the exact checker has confirmed a proof of the cell; else the sweep claims it.
    """

    index: CellIndex
    numbers: IntArray
    hashes: Hashes
    sweep: str
    checked: BoolArray

    @classmethod
    def of(cls, sweep: Sweep, confirmed: Collection[int] = ()) -> ProvedCells:
        """Those of a sweep; ``confirmed`` are the numbers of cells whose proofs the exact checker has confirmed.

        Raises
        ------
        ArtefactError
            If the sweep does not say what it is about, or nothing is proved.
        """
        strict = sweep.cells(CellStatus.PROVED)
        if sweep.hashes is None:
            raise ArtefactError("the sweep does not say which model and φ it is about", fix="sweep again")
        if not strict:
            raise ArtefactError(
                "the sweep has no strictly proved cell, so no one can be certified by looking up their cell",
                fix="leave --sweep out, or sweep for longer (--cells, --seconds)",
            )
        cells = UniverseCells.joined([one.cell for one in strict])
        numbers = np.arange(len(cells))
        return cls(CellIndex(cells), numbers, sweep.hashes, sweep.hash, np.isin(numbers, list(confirmed)))

    @property
    def name(self) -> str:
        """Names the sweep and what of it is checked."""
        return f"{self.sweep} {hashlib.sha256(self.checked.tobytes()).hexdigest()}"

    def refuse_others(self, asked: Hashes) -> None:
        """Refuse people to be certified for anything but what was swept; every part that differs is named."""
        differ = [word for name, word in WORDS.items() if getattr(self.hashes, name) != getattr(asked, name)]
        if differ:
            raise ArtefactError(
                f"the sweep is about another {', another '.join(differ)} than these people are to be certified for",
                fix="give what was swept (its settings.json says what that was), sweep again, or leave --sweep out",
            )

    def find(self, people: Individuals) -> IntArray:
        """(people,) the number of a proved cell that holds each; -1 for people in none, or outside the universe."""
        place = self.index.find(people)
        return np.where((place >= 0) & in_universe(people), self.numbers[place], -1)
