"""Charts with their legends and the same numbers as tables."""

from __future__ import annotations

from lcifr.display.charts import Histogram, model_dot
from lcifr.display.text import count, percent, short
from lcifr.report.content import KINDS, Tuning
from lcifr.report.document import Chart, Table


def margins(shown: Histogram) -> Chart:
    """Of all people."""
    return _histogram(shown, "margins", "Proved margins", "margin of the decision")


def radii(shown: Histogram) -> Chart:
    """Of all people."""
    return _histogram(shown, "radii", "Proved radii", "radius ε in the latent space")


def _histogram(shown: Histogram, key: str, title: str, axis: str) -> Chart:
    totals = {kind: sum(counts) for kind, counts in shown.counts.items()}
    of_each = ", ".join(f"{count(total)} {KINDS[kind].lower()}" for kind, total in totals.items())
    where = f"from {short(shown.edges[0])} to {short(shown.edges[-1])}"
    beyond = sum(shown.beyond)
    outside = f"; the end bars also hold {count(beyond)} beyond" if beyond else ""
    left = f"; left out, without a number: {count(shown.left_out)}" if shown.left_out else ""
    spans = [_span(shown, place) for place in range(shown.bars)]
    rows = tuple(
        (span, *(count(counts[place]) for counts in shown.counts.values()))
        for place, span in enumerate(spans)
        if any(counts[place] for counts in shown.counts.values())
    )
    return Chart(
        key=key,
        title=title,
        description=f"Histogram of {of_each}, {where}{outside}{left}.",
        axis=axis,
        table=Table(
            f"{title}, in numbers",
            ("Between", *(KINDS[kind] for kind in shown.counts)),
            rows,
            (False, *[True] * len(shown.counts)),
        ),
        histogram=shown,
        legend=tuple((kind, KINDS[kind]) for kind in shown.counts),
    )


def _span(shown: Histogram, place: int) -> str:
    low, high = short(shown.edges[place], 6), short(shown.edges[place + 1], 6)
    if place == 0 and shown.beyond[0]:
        return f"below {high}"
    if place == shown.bars - 1 and shown.beyond[1]:
        return f"above {low}"
    return f"{low} to {high}"


def frontier(tuning: Tuning) -> Chart:
    """Certified share against score."""
    balanced = tuning.by == "balanced"
    what = "balanced accuracy" if balanced else "score"
    dots = tuple(
        model_dot(row.kind, row.gamma, row.certified, row.balanced if balanced else row.score, row.family)
        for row in tuning.rows
    )
    rows = tuple(
        (
            dot.label + (" (chosen)" if row.kind == "chosen" else ""),
            percent(row.score),
            percent(row.balanced),
            percent(row.certified),
        )
        for row, dot in zip(tuning.rows, dots, strict=True)
    )
    return Chart(
        key="tuned",
        title=f"{what.capitalize()} against certified share",
        description=f"{len(dots)} models: certified share across, {what} up. The dashed line is what was required.",
        axis="certified share (validation)",
        table=Table(
            "Weights that were tried", ("Model", "Score", "Balanced", "Certified"), rows, (False, True, True, True)
        ),
        dots=dots,
        required=tuning.required,
    )
