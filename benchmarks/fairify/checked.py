"""UNSAT partitions as bundles of sweeps, for the exact checker: proved on file, and confirmed with Python alone.

Each partition is one bundle: the partition, which is claimed as proved, and the rest of everybody in a few open cells.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from benchmarks.fairify.networks import Row

from lcifr.certification.sweep.bundle import write_sweep_bundle
from lcifr.certification.sweep.result import Sweep, SweptCell
from lcifr.check import Rejected, check_bundle
from lcifr.prove import Budget
from lcifr.regions.universe import UniverseCells

AT_ONCE = 10
"""Partitions that are asked about in one call, until enough are proved."""
PATIENCE = 1_000
"""Times the checker's usual work for a cell: nobody hostile wrote these."""


@dataclass(frozen=True)
class Confirmed:
    """Partitions of a row that were found UNSAT, and those of them that the checker confirmed.

    Parameters
    ----------
    written : with a proof that goes as far as it must. rejected : that the checker did not confirm.
    proving, checking : CPU seconds, of the searches with proofs and of the checker.
    """

    unsat: int = 0
    written: int = 0
    confirmed: int = 0
    rejected: int = 0
    proving: float = 0.0
    checking: float = 0.0

    def __str__(self) -> str:
        each = self.checking / self.written if self.written else 0.0
        return (
            f"{self.confirmed} of {self.unsat} UNSAT partitions confirmed by the checker, {self.rejected} not, "
            f"{self.unsat - self.written} without a proof on file; {self.proving:.1f} CPU s of searches with proofs, "
            f"{self.checking:.1f} of the checker ({each:.2f} each)"
        )


def confirm(row: Row, count: int, seed: int, *, nodes: int = 1_000, seconds: float = 600.0) -> Confirmed:
    """Draw partitions until so many are proved, and have each checked; none is begun after so many CPU seconds."""
    order = np.random.default_rng(seed).permutation(len(row.partitions))
    found, begun = Confirmed(), time.process_time()
    with tempfile.TemporaryDirectory() as place:
        for start in range(0, len(order), AT_ONCE):
            if time.process_time() - begun > seconds:
                break
            some = order[start : start + AT_ONCE]
            proved = row.question.ask(row.partitions.take(some), Budget(nodes=nodes)).proved
            for number in some[proved].tolist():
                if found.unsat == count or time.process_time() - begun > seconds:
                    return found
                found = _confirm_one(row, number, Path(place) / str(number), nodes, found)
    return found


def _confirm_one(row: Row, number: int, folder: Path, nodes: int, found: Confirmed) -> Confirmed:
    found = replace(found, unsat=found.unsat + 1)
    begun = time.process_time()
    swept = row.question.subject
    partition, rest = row.partitions.take([number]), carved(row, number)
    total = UniverseCells.everybody(swept.encoding, whole=True).measures()[0]
    cells = [SweptCell(one, one.measures()[0] / total) for one in (partition, *rest)]
    sweep = Sweep((cells[0],), (), tuple(cells[1:]), True, swept.arithmetic)
    shares = write_sweep_bundle(folder, swept, sweep, budget=Budget(nodes=10 * nodes))
    proving, begun = time.process_time() - begun, time.process_time()
    found = replace(found, proving=found.proving + proving)
    if "proved" not in shares:
        return found
    try:
        report = check_bundle(folder, patience=PATIENCE)
        good = not report.rejected and Fraction(report.shares["proved"]) == cells[0].share
    except Rejected:
        good = False
    return replace(
        found,
        written=found.written + 1,
        confirmed=found.confirmed + good,
        rejected=found.rejected + (not good),
        checking=found.checking + time.process_time() - begun,
    )


def carved(row: Row, number: int) -> list[UniverseCells]:
    """Everybody but one partition: along each column what lies below it, and what lies above."""
    left = UniverseCells.everybody(row.question.subject.encoding, whole=True)
    partition, found = row.partitions.take([number]), []
    for place in range(partition.lower.shape[1]):
        low, high = partition.lower[0, place], partition.upper[0, place]
        for end in ("upper", "lower"):
            other = getattr(left, end).copy()
            other[0, place] = low - 1 if end == "upper" else high + 1
            piece = replace(left, **{end: other})
            if piece.lower[0, place] <= piece.upper[0, place]:
                found.append(piece)
        lower, upper = left.lower.copy(), left.upper.copy()
        lower[0, place], upper[0, place] = low, high
        left = replace(left, lower=lower, upper=upper)
    return found
