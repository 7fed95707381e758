"""The result of a check: what was confirmed and what was not, exit codes, and lines for people to read."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lcifr.check.exact import printable

OPEN = "  people without a claim: {unclaimed}, of them UNDECIDED: {undecided}; radii without a proof: {unproved}"
OPEN_CELLS = "  open: {open}, of them with a pair that gets different decisions: {refuted}"
KINDS = ("radius", "vacuous_radius", "unproved", "certified", "vacuous", "counterexample", "undecided", "unclaimed")
CELL_CLAIMS = ("proved", "strict crossings only", "violating")


@dataclass
class CheckReport:
    """Who belongs to which of the kinds, how many claims are confirmed, who is rejected and why; about which files."""

    decision: Any = None
    hashes: dict[str, str] = field(default_factory=dict)
    people: int = 0
    names: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    confirmed: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, str] = field(default_factory=dict)
    shares: dict[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """0 all that is claimed is confirmed, 1 something is not."""
        return 1 if self.rejected else 0

    @property
    def strict_exit_code(self) -> int:
        """The same, but 4 where all that is claimed is confirmed, and nothing is claimed of a person or a radius."""
        return self.exit_code or (4 if self.names["unclaimed"] or self.names["unproved"] else 0)

    def lines(self) -> list[str]:
        """For people to read."""
        return [
            *(_sweep(self) if self.shares else _people(self)),
            *(f"  {what} {value}" for what, value in self.hashes.items()),
            *(f"NOT confirmed: {printable(name)}: {reason}" for name, reason in self.rejected.items()),
        ]


def _people(report: CheckReport) -> list[str]:
    sure = report.people - len(report.rejected) - len(report.names["unclaimed"])
    return [
        f"{sure:,} of {report.people:,} people: every claim about them is confirmed in exact arithmetic",
        *(f"  {count:,} × {what}" for what, count in report.confirmed.items()),
        OPEN.format(**{kind: len(names) for kind, names in report.names.items()}),
    ]


def _sweep(report: CheckReport) -> list[str]:
    """The shares first: they are what a sweep is for."""
    sure = sum(len(report.names.get(kind, [])) for kind in CELL_CLAIMS)
    refuted = {*report.names["counterexample"]} & {*report.names.get("open", [])}
    said = {"open": len(report.names.get("open", [])), "refuted": len(refuted)}
    return [
        *(f"{what}: {_percent(share)} of everyone who could exist ({share})" for what, share in report.shares.items()),
        f"{sure:,} of {report.people:,} cells: every claim about them is confirmed in exact arithmetic",
        *(f"  {count:,} × {what}" for what, count in report.confirmed.items()),
        OPEN_CELLS.format(**said),
    ]


def _percent(share: str) -> str:
    """Never 0 % or 100 % of what is not."""
    found = f"{float(100 * Fraction(share)):.4g} %"
    if found in ("0 %", "100 %") and Fraction(share) not in (0, 1):
        return "almost none" if Fraction(share) < Fraction(1, 2) else "almost all"
    return found
