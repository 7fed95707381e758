"""What was confirmed and what was not, in lines for people to read."""

import json
from fractions import Fraction
from typing import Any

from lcifr.check.exact import printable

OPEN = "  people without a claim: {unclaimed}, of them UNDECIDED: {undecided}; radii without a proof: {unproved}"
OPEN_CELLS = "  open: {open}, of them with a pair that gets different decisions: {refuted}"
CELL_CLAIMS = ("proved", "strict crossings only", "violating")


def lines(report: Any) -> list[str]:
    """Of a :class:`lcifr.check.judge.CheckReport`."""
    return [
        *(_sweep(report) if report.shares else _people(report)),
        *([f"  decision rule: {json.dumps(report.decision)}"] if report.decision is not None else []),
        *(f"  {what} {value}" for what, value in report.hashes.items()),
        *(f"NOT confirmed: {printable(name)}: {reason}" for name, reason in report.rejected.items()),
    ]


def _people(report: Any) -> list[str]:
    sure = report.people - len(report.rejected) - len(report.names["unclaimed"])
    return [
        f"{sure} of {report.people} people: every claim about them is confirmed in exact arithmetic",
        *(f"  {count} × {what}" for what, count in report.confirmed.items()),
        OPEN.format(**{kind: len(names) for kind, names in report.names.items()}),
    ]


def _sweep(report: Any) -> list[str]:
    """The shares first: they are what a sweep is for."""
    sure = sum(len(report.names.get(kind, [])) for kind in CELL_CLAIMS)
    refuted = {*report.names["counterexample"]} & {*report.names.get("open", [])}
    said = {"open": len(report.names.get("open", [])), "refuted": len(refuted)}
    return [
        *(f"{what}: {_percent(share)} of everyone who could exist ({share})" for what, share in report.shares.items()),
        f"{sure} of {report.people} cells: every claim about them is confirmed in exact arithmetic",
        *(f"  {count} × {what}" for what, count in report.confirmed.items()),
        OPEN_CELLS.format(**said),
    ]


def _percent(share: str) -> str:
    """Never 0 % or 100 % of what is not."""
    found = f"{float(100 * Fraction(share)):.4g} %"
    if found in ("0 %", "100 %") and Fraction(share) not in (0, 1):
        return "almost none" if Fraction(share) < Fraction(1, 2) else "almost all"
    return found
