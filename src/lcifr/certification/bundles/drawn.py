"""People drawn at random: whom a bundle of proofs is about where there are too many to prove everybody."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Drawn:
    """A sample: ``people`` drawn at random and without repetition from ``of`` people by ``seed``; or everybody."""

    people: int
    of: int
    seed: int

    @property
    def everybody(self) -> bool:
        return self.people == self.of

    def rows(self) -> NDArray[np.int64]:
        """(people,) their rows, rising; the same ones every time."""
        if self.everybody:
            return np.arange(self.of)
        return np.sort(np.random.default_rng(self.seed).choice(self.of, self.people, replace=False))

    def __str__(self) -> str:
        if self.everybody:
            return f"all {self.of:,} people"
        return f"{self.people:,} of {self.of:,} people, drawn at random (seed {self.seed})"


def read_drawn(bundle: Path) -> Drawn | None:
    """Of whom the people of a bundle are a sample, by the word of whoever wrote it; None where it does not say."""
    found = json.loads((bundle / "manifest.json").read_bytes()).get("drawn")
    values = [found.get(name) for name in ("people", "of", "seed")] if isinstance(found, dict) else [None]
    return Drawn(*values) if all(type(value) is int for value in values) else None


def draw(of: int, most: int | None, seed: int = 0) -> Drawn:
    """At most so many people; everybody if None."""
    return Drawn(of if most is None else min(most, of), of, seed)
