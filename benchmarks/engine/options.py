"""Options of the engine's benchmark: which parts, how many people, and an older checkout to compare with."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PARTS = ("radii", "verdicts", "classifier", "deep", "proofs", "bundles", "crime", "paper", "memory")


@dataclass(frozen=True)
class Options:
    """What a run is to measure.

    Parameters
    ----------
    parts : of :data:`PARTS`. old : another checkout, or None.
    scale : 1 for the sizes of docs/PERFORMANCE.md, less for a first look.
    """

    parts: tuple[str, ...]
    old: Path | None
    scale: float

    def people(self, usual: int) -> int:
        """How many people to take where a full run takes ``usual``."""
        return max(2, round(usual * self.scale))


def read_options(words: Sequence[str]) -> Options:
    """From the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks engine", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="one part only; may be given several times")
    parser.add_argument("--old", type=Path, metavar="CHECKOUT", help="an older checkout: both engines in one run")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the usual number of people (0.1: minutes)")
    found = parser.parse_args(list(words))
    return Options(tuple(found.part or PARTS), None if found.old is None else found.old.resolve(), found.scale)
