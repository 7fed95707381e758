"""Proofs of a sweep on file: the bundle is written, and read back by the exact checker."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.runs.events import StepKind, step

if TYPE_CHECKING:
    from lcifr.certification.sweep.result import Sweep
    from lcifr.certification.sweep.swept_model import SweptModel

BUNDLE, CHECKED = "bundle", "checked.json"
MORE_NODES = 10
"""Times those of the sweep: a proof is known to exist, so the search for it may take its time."""
PATIENCE = 100
"""Times the usual work for the proofs of a cell: this sweep wrote them itself."""

WITHOUT = "ties, people settled by trying everyone similar, numbers predicted by trees, or no proof found a second time"
"""Why a bundle may know less than its sweep."""


@dataclass(frozen=True)
class SweepCheck:
    """What the exact checker confirmed of a sweep's bundle.

    Parameters
    ----------
    shares : of everybody who can exist, by standing, as exact fractions p/q.
    confirmed : cells with a claim that is confirmed. unproved : cells that the sweep knows about, and of which no proof
        is on file: they are open in the bundle. rejected : cells whose proof does not show what it must.
    """

    shares: Mapping[str, str]
    confirmed: int
    unproved: int
    rejected: int

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {**asdict(self), "bundle": BUNDLE}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any] | None) -> SweepCheck | None:
        """What :meth:`to_dict` gave; None where nothing was checked."""
        return None if said is None else cls(*(said[key] for key in ("shares", "confirmed", "unproved", "rejected")))

    def __str__(self) -> str:
        said = [f"proofs: {self.confirmed:,} cells confirmed by the exact checker"]
        unproved = f"{self.unproved:,} more are known to the sweep but left open in the bundle ({WITHOUT})"
        said += [unproved] if self.unproved else []
        said += [f"{self.rejected:,} NOT CONFIRMED"] if self.rejected else []
        return ", ".join(said)


def write_and_check(work: Path, swept: SweptModel, found: Sweep, nodes: int) -> SweepCheck:
    """Write the bundle of a sweep into its folder, check it, and keep the report beside it."""
    from lcifr.certification.sweep.bundle import write_sweep_bundle
    from lcifr.check.bundle import check_bundle
    from lcifr.data.files import write_json
    from lcifr.prove import Budget

    shutil.rmtree(work / BUNDLE, ignore_errors=True)  # of a sweep that was stopped after it, and has gone on
    with step("Writing the proofs", StepKind.COUNT) as progress:
        write_sweep_bundle(work / BUNDLE, swept, found, budget=Budget(nodes=MORE_NODES * nodes), progress=progress)
    with step("Checking the proofs in exact arithmetic", StepKind.COUNT) as progress:
        report = check_bundle(work / BUNDLE, progress, patience=PATIENCE)
    write_json(work / CHECKED, asdict(report))
    confirmed = sum(len(report.names.get(kind, ())) for kind in ("proved", "strict crossings only", "violating"))
    rejected = len(report.rejected.keys() - {"shares"})
    unproved = len(found.proved) + len(found.violating) - confirmed - rejected
    return SweepCheck(report.shares, confirmed, unproved, rejected)
