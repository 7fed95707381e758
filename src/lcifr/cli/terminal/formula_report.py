"""What ``lcifr phi check`` prints: the formula in English, what is odd about it, and pairs of people."""

from __future__ import annotations

from lcifr.certification.population import scale_sources
from lcifr.cli.terminal.statements import scale_words
from lcifr.phi.lint import Example, short_percent
from lcifr.phi.syntax_errors import find_position, point_at
from lcifr.runs.preparing.formula_check import FormulaCheckResult


def formula_report(result: FormulaCheckResult) -> str:
    """The report as text, for people."""
    similarity = result.similarity
    parts = [_english(result), _findings_text(result), _neighbours_text(result)]
    return "\n\n".join([f"{similarity.source}, on {result.data}", *parts])


def _english(result: FormulaCheckResult) -> str:
    """What φ says; and, of a table with gaps, how many rows each of its standard deviations comes from."""
    found = scale_sources(result.similarity, result.data) if result.left_out else ()
    return "\n".join([result.similarity.explain(), *([""] if found else []), *map(scale_words, found)])


def _findings_text(result: FormulaCheckResult) -> str:
    text, findings = result.similarity.text, result.findings
    if not findings:
        return "No warnings."
    lines = [f"{len(findings)} thing{'s' if len(findings) != 1 else ''} to look at:"]
    for finding in findings:
        lines.append(f"- {finding.severity} ({finding.code}): {finding.message}")
        if finding.span is not None:
            place = find_position(text, finding.span.start)
            lines += [f"  at line {place.line}, column {place.column}:", point_at(text, finding.span)]
    return "\n".join(lines)


def _neighbours_text(result: FormulaCheckResult) -> str:
    found = result.neighbours
    sampled = f"{len(found.asked)} random people (seed {result.seed})"
    left_out = f" ({result.left_out:,} left out: values are missing)" if result.left_out else ""
    lines = [
        f"Of {sampled if found.is_sample else f'all {found.people:,} people'}, "
        f"each compared with the other {found.people - 1:,} in the data{left_out}:",
        f"- number of similar people: median {found.median:g}, largest {found.largest} (row {found.largest_row})",
        f"- {short_percent(found.share_isolated)} have no similar person in the data",
        "",
        "Examples of similar pairs:",
        *_examples_text(found.similar, "no pair was found"),
        "",
        "Examples of pairs that just miss:",
        *_examples_text(found.missed, "no pair was found: everyone is similar to everyone"),
    ]
    if any(None in example.rows for example in found.similar):
        lines.insert(
            -len(found.missed) - 2, "  (made up: such people could exist, but the data contains too few such pairs)"
        )
    return "\n".join(lines)


def _examples_text(examples: tuple[Example, ...], none: str) -> list[str]:
    shown = []
    for example in examples:
        rows = " and ".join("a made-up person" if row is None else f"row {row}" for row in example.rows)
        shown.append(f"- {rows}: {example}")
    return shown or [f"- {none}"]
