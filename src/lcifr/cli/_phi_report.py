"""The report of ``lcifr phi check``, for people and for machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lcifr.language.diagnostics import find_position, point_at
from lcifr.language.printer import print_formula
from lcifr.similarity import Similarity
from lcifr.similarity.linting.finding import Example, Finding, short_percent
from lcifr.similarity.linting.neighbours import Neighbours


@dataclass(frozen=True)
class Report:
    """Everything that ``lcifr phi check`` found out."""

    similarity: Similarity
    data: str
    findings: tuple[Finding, ...]
    neighbours: Neighbours
    seed: int

    # -- for machines ----------------------------------------------------------------------------------------------

    def as_dict(self) -> dict[str, Any]:
        found = self.neighbours
        return {
            "source": self.similarity.source,
            "formula": print_formula(self.similarity.formula),
            "hash": self.similarity.hash,
            "data": self.data,
            "english": self.similarity.explain(),
            "findings": [self._finding_as_dict(finding) for finding in self.findings],
            "neighbours": {
                "people": found.people,
                "asked": len(found.asked),
                "sampled": found.is_sample,
                "seed": self.seed,
                "median": found.median,
                "largest": found.largest,
                "largest_row": found.largest_row,
                "share_without": found.share_isolated,
                "similar_pairs": [_example_as_dict(example) for example in found.similar],
                "just_missed_pairs": [_example_as_dict(example) for example in found.missed],
            },
        }

    def _finding_as_dict(self, finding: Finding) -> dict[str, Any]:
        place = find_position(self.similarity.text, finding.span.start) if finding.span else None
        return {
            "code": finding.code,
            "severity": str(finding.severity),
            "message": finding.message,
            "line": place.line if place else None,
            "column": place.column if place else None,
            "examples": [_example_as_dict(example) for example in finding.examples],
        }

    # -- for people ------------------------------------------------------------------------------------------------

    def as_text(self) -> str:
        parts = [self.similarity.explain(), self._findings_text(), self._neighbours_text()]
        return "\n\n".join([f"{self.similarity.source}, on {self.data}", *parts])

    def _findings_text(self) -> str:
        if not self.findings:
            return "Nothing odd was found."
        lines = [f"Found {len(self.findings)} thing{'s' if len(self.findings) != 1 else ''} to know:"]
        for finding in self.findings:
            lines.append(f"- {finding.severity} ({finding.code}): {finding.message}")
            if finding.span is not None:
                place = find_position(self.similarity.text, finding.span.start)
                lines += [
                    f"  at line {place.line}, column {place.column}:",
                    point_at(self.similarity.text, finding.span),
                ]
        return "\n".join(lines)

    def _neighbours_text(self) -> str:
        found = self.neighbours
        who = (
            f"{len(found.asked)} random people (seed {self.seed})" if found.is_sample else f"all {found.people} people"
        )
        lines = [
            f"Of {who}, each compared with the other {found.people - 1} in the data:",
            f"- similar others: {found.median:g} in the median, {found.largest} at most (row {found.largest_row})",
            f"- {short_percent(found.share_isolated)} have nobody else in the data who is similar to them",
            "",
            "Similar:",
            *_examples_text(found.similar, "no pair was found"),
            "",
            "Just not similar:",
            *_examples_text(found.missed, "no pair was found: everybody is similar to everybody"),
        ]
        if any(None in example.rows for example in found.similar):
            lines.insert(
                -len(found.missed) - 2, "  (made up: such people could exist, but the data has too few such pairs)"
            )
        return "\n".join(lines)


def _examples_text(examples: tuple[Example, ...], none: str) -> list[str]:
    shown = []
    for example in examples:
        rows = " and ".join("somebody made up" if row is None else f"row {row}" for row in example.rows)
        shown.append(f"- {rows}: {example}")
    return shown or [f"- {none}"]


def _example_as_dict(example: Example) -> dict[str, Any]:
    return {
        "rows": list(example.rows),
        "x": dict(example.x),
        "other": dict(example.other),
        "differing": list(example.differing),
    }
