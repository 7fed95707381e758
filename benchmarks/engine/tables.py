"""Tables as Markdown, so that a run can be read on a terminal and copied into a page."""

from __future__ import annotations

from collections.abc import Sequence


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as what stands in them."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]
    for line in (head, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |")
    print(flush=True)


def milliseconds(seconds: float) -> str:
    """Three digits that count."""
    return f"{float(f'{1e3 * seconds:.3g}'):,}"


def times(ratio: float, bar: float | None = None) -> str:
    """How many times as fast, and whether that is enough."""
    if bar is None:
        return f"{ratio:,.2g}×" if ratio < 10 else f"{ratio:,.0f}×"
    return f"{ratio:,.0f}× (bar {bar:,.0f}: {'met' if ratio >= bar else 'NOT met'})"
