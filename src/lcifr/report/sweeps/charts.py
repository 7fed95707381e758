"""Charts and tables of a sweep: shares by standing, along one attribute, over two, and pairs of people."""

from __future__ import annotations

from typing import Any

from lcifr.certification.sweep.result import Standing
from lcifr.display.charts import KINDS, ShareGrid, Shares, ShareStrip
from lcifr.display.text import count, format_value, percent, percents
from lcifr.report.document import Chart, Table
from lcifr.runs.auditing.result import ModelSummary
from lcifr.runs.sweeps.folder import SweepResult
from lcifr.runs.sweeps.worst_pairs import WorstPair

NAMES = {
    Standing.PROVED: "Proved",
    Standing.CROSSINGS: "Strict crossings only",
    Standing.VIOLATING: "Violating",
    Standing.OPEN: "Open",
}


def shown_standings(result: SweepResult) -> tuple[Standing, ...]:
    """Those that a page speaks of: strict crossings only where there are such cells."""
    cells = result.sweep.cells
    return tuple(one for one in Standing if one is not Standing.CROSSINGS or cells(one))


def shares_table(result: SweepResult) -> Table:
    """Shares of everybody who can exist, how many that are where they can be counted, and the table's people."""
    sweep, everybody, standings = result.sweep, result.sweep.individuals, shown_standings(result)
    people = result.people.counts
    texts = percents([float(sweep.share(one)) for one in standings])
    head = ["", "Of everyone who could exist", "People in the table", "Cells"]
    if everybody is not None:
        head.insert(2, "People who could exist")
    rows = []
    for standing, text in zip(standings, texts, strict=True):
        least = "at least " if standing is Standing.VIOLATING and sweep.is_lower_end else ""
        row = [NAMES[standing], least + text, count(people[standing]), count(len(sweep.cells(standing)))]
        if everybody is not None:
            row.insert(2, count(int(sweep.share(standing) * everybody)))
        rows.append(tuple(row))
    return Table("What is known", tuple(head), tuple(rows), (False, *[True] * (len(head) - 1)))


def strip(shown: ShareStrip, place: int, standings: tuple[Standing, ...]) -> Chart:
    """Shares along one attribute."""
    name = shown.bins.attribute
    head = tuple(NAMES[one] for one in standings)
    rows = tuple(
        (label, *_texts(shares, standings)) for label, shares in zip(shown.bins.labels, shown.shares, strict=True)
    )
    return Chart(
        key=f"strip-{place}",
        title=name,
        description=f"For each part of the values of {name}, what is known about the people there.",
        axis=name,
        table=Table(f"{name}, in numbers", (name, *head), rows, (False, *[True] * len(head))),
        strip=shown,
        legend=_legend(standings),
    )


def grid(shown: ShareGrid, standings: tuple[Standing, ...]) -> Chart:
    """Shares over two attributes."""
    head = tuple(NAMES[one] for one in standings)
    down, across = shown.down.attribute, shown.across.attribute
    rows = tuple(
        (label, column, *_texts(shares, standings))
        for label, line in zip(shown.down.labels, shown.shares, strict=True)
        for column, shares in zip(shown.across.labels, line, strict=True)
    )
    return Chart(
        key="grid",
        title=f"{down} and {across}",
        description=f"For each part of the values of {down} (rows) and {across} (across), what is known about the "
        "people there; violating shares are on the left.",
        axis=across,
        table=Table(f"{down} and {across}", (down, across, *head), rows, (False, False, *[True] * len(head))),
        grid=shown,
        legend=_legend(standings),
    )


def _legend(standings: tuple[Standing, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((KINDS[one], NAMES[one]) for one in standings)


def _texts(shares: Shares, standings: tuple[Standing, ...]) -> tuple[str, ...]:
    return tuple(percent(shares[one]) for one in standings)


def pair_table(number: int, pair: WorstPair, model: ModelSummary) -> Table:
    """What differs between two people, and how they are decided."""
    rows = [(name, _value(own), _value(other)) for name, (own, other) in pair.differs.items()]
    own, other = (model.shown(one) if model.labels else _value(one) for one in (pair.decision, pair.other_decision))
    rows.append((f"Decision: {model.target}", own, other))
    both = "; ".join(f"{name} {_value(value)}" for name, value in pair.alike.items())
    caption = f"Pair {number}." + (f" Both have: {both}." if both else " They differ in every attribute.")
    return Table(caption, ("Differs in", "One person", "A similar person"), tuple(rows), (False, False, False))


def _value(value: Any) -> str:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return format_value(value) if plain else str(value)
