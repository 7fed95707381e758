"""The report of a sweep. Careful words: proved with respect to φ, for everyone whom the schema allows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from lcifr.certification.sweep.result import CellStatus, Sweep
from lcifr.display.charts import KINDS, ShareGrid, Shares, ShareStrip, grid_chart, strip_chart
from lcifr.display.text import (
    arithmetic_words,
    count,
    exactly,
    format_value,
    labels_words,
    percent,
    percents,
    tolerance_words,
)
from lcifr.errors import LcifrError
from lcifr.report.content import Caution
from lcifr.report.html import html_document
from lcifr.report.markdown import markdown_document
from lcifr.report.sections import (
    Block,
    Chart,
    Document,
    Gallery,
    Headline,
    Points,
    Section,
    Table,
    formula_blocks,
    library_facts,
    run_tables,
)
from lcifr.workflows.folders import RunSettings
from lcifr.workflows.results import ModelSummary
from lcifr.workflows.sweeping import WITHOUT, SweepResult, WorstPair

# Charts and tables of a sweep: shares by standing, along one attribute, over two, and pairs of people.

NAMES = {
    CellStatus.PROVED: "Proved",
    CellStatus.CROSSINGS: "Strict crossings only",
    CellStatus.VIOLATING: "Violating",
    CellStatus.OPEN: "Open",
}


def shown_standings(result: SweepResult) -> tuple[CellStatus, ...]:
    """Those that a page speaks of: strict crossings only where there are such cells."""
    cells = result.sweep.cells
    return tuple(one for one in CellStatus if one is not CellStatus.CROSSINGS or cells(one))


def shares_table(result: SweepResult) -> Table:
    """Shares of everyone who could exist, how many that are where they can be counted, and the table's people."""
    sweep, everyone, standings = result.sweep, result.sweep.individuals, shown_standings(result)
    people = result.people.counts
    texts = percents([float(sweep.share(one)) for one in standings])
    head = ["", "Of everyone who could exist", "People in the table", "Cells"]
    if everyone is not None:
        head.insert(2, "People who could exist")
    rows = []
    for standing, text in zip(standings, texts, strict=True):
        least = "at least " if standing is CellStatus.VIOLATING and sweep.is_lower_end else ""
        row = [NAMES[standing], least + text, count(people[standing]), count(len(sweep.cells(standing)))]
        if everyone is not None:
            row.insert(2, count(int(sweep.share(standing) * everyone)))
        rows.append(tuple(row))
    return Table("What is known", tuple(head), tuple(rows), (False, *[True] * (len(head) - 1)))


def strip(shown: ShareStrip, place: int, standings: tuple[CellStatus, ...]) -> Chart:
    """Shares along one attribute."""
    name = shown.bins.attribute
    rows = [((label,), shares) for label, shares in zip(shown.bins.labels, shown.shares, strict=True)]
    return Chart(
        f"strip-{place}",
        strip_chart(shown, _legend(standings)),
        f"For each part of the values of {name}, what is known about the people there.",
        _in_numbers(f"{name}, in numbers", (name,), rows, standings),
    )


def grid(shown: ShareGrid, standings: tuple[CellStatus, ...]) -> Chart:
    """Shares over two attributes."""
    down, across = shown.down.attribute, shown.across.attribute
    rows = [
        ((label, column), shares)
        for label, line in zip(shown.down.labels, shown.shares, strict=True)
        for column, shares in zip(shown.across.labels, line, strict=True)
    ]
    return Chart(
        "grid",
        grid_chart(shown, _legend(standings)),
        f"For each part of the values of {down} (rows) and {across} (across), what is known about the people there; "
        "violating shares are on the left.",
        _in_numbers(f"{down} and {across}", (down, across), rows, standings),
    )


def _legend(standings: tuple[CellStatus, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((KINDS[one], NAMES[one]) for one in standings)


def _in_numbers(
    caption: str,
    names: tuple[str, ...],
    rows: Sequence[tuple[tuple[str, ...], Shares]],
    standings: tuple[CellStatus, ...],
) -> Table:
    """A share of each standing for every part: the attributes' ``names``, and the labels of each row."""
    cells = tuple((*labels, *(percent(shares[one]) for one in standings)) for labels, shares in rows)
    numbers = (*[False] * len(names), *[True] * len(standings))
    return Table(caption, (*names, *(NAMES[one] for one in standings)), cells, numbers)


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


# Every sentence of a sweep's report. Careful words: proved with respect to φ, for everyone whom the schema allows.

SHOWN = 10
"""Pairs with a table each."""

LIMITS = (
    "Proved does not mean that the model is fair or unbiased, or that a decision is right. It means that no one whom φ "
    "calls similar gets a different decision. What that is worth depends on φ.",
    "Everyone who could exist is everyone whom the schema allows. Every combination of declared values counts the "
    "same, including those that no one has. Such a share is not a share of a population; the people of the table are "
    "counted separately.",
    "Open means that neither a proof nor a similar person with a different decision is known. A longer sweep leaves "
    "less open.",
    "A pair of people refutes its cell: it shows that not everyone there is decided alike, and says nothing about how "
    "much of the cell is affected. A cell counts as violating only if one change makes a counterexample for everyone "
    "in it, so the violating share is a lower end while anything is open.",
    "A proof about one person of the table is about that person alone: it adds nothing to the shares of everyone who "
    "could exist.",
    "It applies to this φ, and to the model whose hash is given below, computed in the arithmetic named above. Proxies "
    "remain: attributes that φ holds equal may reveal the ones that φ leaves free.",
)


def put_sweep_into_words(
    result: SweepResult, settings: RunSettings, *, author: str = "", written: str = ""
) -> Document:
    """A sweep as a document."""
    sections = [
        Section("asked", "What was asked", tuple(_asked(result))),
        Section("found", "What was found", tuple(_found(result))),
        Section("map", "Where the violations are", tuple(_map(result))),
        Section("pairs", "Similar pairs with different decisions", tuple(_pairs(result))),
        Section("limits", "What this report does not say", (Points(LIMITS),)),
        Section("method", "Method, versions, hashes", tuple(_method(result, settings))),
    ]
    return Document(
        title=f"{result.model.target}: can similar people get different decisions?",
        subtitle=f"Everyone who could exist, with respect to φ = {result.model.phi.source}",
        facts=tuple(_facts(result, settings, author, written)),
        headline=_headline(result),
        cautions=tuple(_cautions(result)),
        sections=tuple(sections),
        kind="Sweep report",
        footer="Proved means: with respect to φ as printed here, for the model with these hashes, and no more.",
    )


def _facts(result: SweepResult, settings: RunSettings, author: str, written: str) -> Iterator[tuple[str, str]]:
    day = (settings.finished or settings.started)[: len("2026-11-16")]
    yield "Swept", day + (f"; page written {written}" if written and written != day else "")
    yield "Author", author or "not named"
    origin, hashes = result.model.origin, result.model.hashes
    if origin is None:
        yield "Model", f"model sha256 {hashes.model[:12]}… on an encoder sha256 {hashes.first[:12]}…"
    else:
        yield from library_facts(origin, origin.library)
    if result.model.labels:
        yield "Decisions", f"{labels_words(result.model.labels)}."
    yield "Arithmetic", f"{arithmetic_words(result.model.arithmetic)}."
    yield "Universe", _universe(result)
    yield "Confirmed", _confirmed(result)


def _universe(result: SweepResult) -> str:
    everyone = result.sweep.individuals
    if everyone is not None:
        return f"{count(everyone)} people could exist, by the ranges and categories in the schema."
    numbers = "whole numbers where the schema says so" if result.sweep.whole else "all real numbers of each range"
    return f"Everyone whom the ranges and categories in the schema allow; {numbers}."


def _confirmed(result: SweepResult) -> str:
    """Whether the exact checker has confirmed the cells."""
    checked = result.checked
    if checked is None:
        return "no: there are no proofs on file, so this is only claimed. lcifr sweep --bundle writes and checks them."
    said = f"by the exact checker for {count(checked.confirmed)} cells"
    if checked.unproved:
        said += f"; {count(checked.unproved)} more are known to the sweep but left open in the bundle ({WITHOUT})"
    return f"{said}. Run lcifr check on the sweep’s folder to confirm them again."


def _headline(result: SweepResult) -> Headline:
    standings = shown_standings(result)
    shares = [float(result.sweep.share(one)) for one in standings]
    texts = dict(zip(standings, percents(shares), strict=True))
    weights = [round(1e6 * share) for share in shares]
    parts = [(KINDS[one], NAMES[one], weight, texts[one]) for one, weight in zip(standings, weights, strict=True)]
    return Headline(
        figure=texts[CellStatus.PROVED],
        words="of everyone who could exist is proved: no one similar to them gets a different decision.",
        bound=_both_ends(result, texts),
        parts=tuple(parts),
        of="proved with respect to φ",
        counted=False,
    )


def _both_ends(result: SweepResult, texts: dict[CellStatus, str]) -> str:
    """What the proved share can still become."""
    if result.sweep.share(CellStatus.PROVED) == 1:
        return "This covers everyone."
    share = texts[CellStatus.VIOLATING]
    if not result.sweep.is_lower_end:
        return f"For {share}, someone similar gets a different decision, and nothing is open."
    refuted = (
        f"For at least {share}, someone similar gets a different decision: this is a lower end, and counts only cells "
        "where it is proved for everyone"
    )
    if not result.sweep.open:
        return f"{refuted}. The rest is known for strict crossings only."
    most = percent(float(result.sweep.share(CellStatus.PROVED) + result.sweep.share(CellStatus.OPEN)))
    some = " (not all of it: the open part contains known pairs)" if result.sweep.refuted_cells else ""
    return f"{refuted}. {texts[CellStatus.OPEN]} is open, so more work may prove up to {most}{some}."


def _cautions(result: SweepResult) -> Iterator[Caution]:
    sweep = result.sweep
    if result.checked is not None and result.checked.rejected:
        yield Caution(
            "rejected",
            "Proofs are not confirmed",
            f"The exact checker does not confirm the proofs of {count(result.checked.rejected)} cells; checked.json in "
            "the folder of the sweep names them.",
        )
    if sweep.refuted:
        words = "1 pair" if len(sweep.pairs) == 1 else f"{count(len(sweep.pairs))} pairs"
        yield Caution(
            "refuted",
            "Similar people get different decisions",
            f"{words} of people who could exist: φ calls them similar, and the model gives them different decisions."
            + _refuting(result),
        )
    if sweep.open:
        yield Caution(
            "open",
            "Not everything is known",
            f"Of everyone who could exist, {percent(float(sweep.share(CellStatus.OPEN)))} is open: not proved, "
            f"and not violating throughout.{_stopped(sweep)}",
        )
    if weak := sweep.share(CellStatus.CROSSINGS):
        yield Caution(
            "crossings",
            "Ties are not covered everywhere",
            f"{percent(float(weak))} is known for strict crossings only: in exact arithmetic, no one similar gets a "
            "strictly different decision, but ties and rounding may go either way.",
        )


def _stopped(sweep: Sweep) -> str:
    """Which limit stopped the sweep, as a sentence; nothing where none did."""
    said = "" if sweep.limit is None else str(sweep.limit)
    return f" The sweep {said}." if said else ""


def _refuting(result: SweepResult) -> str:
    """What pairs in open cells show, and what they do not."""
    if not (cells := result.sweep.refuted_cells):
        return ""
    refuted = "1 open cell is refuted by one" if cells == 1 else f"{count(cells)} open cells are refuted by one each"
    return (
        f" {refuted}: not everyone there is decided alike. A pair says nothing about how much of its cell is affected, "
        "so a small violating share does not mean that few people are."
    )


def _asked(result: SweepResult) -> Iterator[Block]:
    yield (
        "Is there any pair of people who could exist, whom φ calls similar and to whom the model gives different "
        "decisions? The universe of the schema is split into cells until each is proved or violating, or the budget is "
        "spent."
    )
    if (tolerance := result.model.tolerance) is not None:
        yield f"Tolerance {exactly(tolerance)}: {tolerance_words(tolerance)}."
    phi = result.model.phi
    yield from formula_blocks(phi.text, phi.source, phi.english)


def _found(result: SweepResult) -> Iterator[Block]:
    yield (
        "Proved: no one similar to anyone there gets a different decision, ties included. Violating: everyone there "
        "has a similar person with a different decision. Open: neither is known."
    )
    yield shares_table(result)
    yield (
        "Shares count people who could exist, each combination of values once."
        if result.sweep.individuals is not None
        else "Shares are by volume: the product of lengths of intervals and counts of values."
    )
    for line in result.people_lines:
        yield f"{line[0].upper()}{line[1:]}."
    if result.people.one_by_one:
        yield (
            "People whom no cell decides were asked about one by one, as in an audit. people.parquet says how each "
            "person was decided."
        )


def _map(result: SweepResult) -> Iterator[Block]:
    found = result.sweep.map()
    if not result.sweep.refuted:
        yield "No pair was found. The charts show where proofs are missing, if anywhere."
    elif not result.sweep.violating:
        yield "Pairs are known in open cells, but no cell is known to be violating as a whole, so nothing is red yet."
    if found.grid is not None:
        yield "The two attributes that separate best:"
        yield grid(found.grid, shown_standings(result))
    yield "Each attribute on its own; those with the largest changes come first:"
    standings = shown_standings(result)
    yield Gallery(tuple(strip(one, place, standings) for place, one in enumerate(found.strips)), "")


def _pairs(result: SweepResult) -> Iterator[Block]:
    if not result.worst:
        yield "No pair was found."
        return
    shown, of = result.worst[:SHOWN], len(result.sweep.pairs)
    yield (
        f"{count(of)} {'pair was' if of == 1 else 'pairs were'} found. pairs.csv has all of them; these are the ones "
        "whose outputs are furthest apart. For each, φ holds, evaluated exactly, both people could exist, and two "
        "plain forward passes decide differently beyond rounding."
    )
    for number, pair in enumerate(shown, 1):
        yield pair_table(number, pair, result.model)


def _method(result: SweepResult, settings: RunSettings) -> Iterator[Block]:
    yield (
        "In each cell, bounds and branching first try to show that everyone gets the same decision. If that fails, a "
        "pair of people is one point of a larger space, which contains what φ keeps equal once and everything else "
        "twice, and the search is for the pair whose decisions differ most. If no two decisions can differ, "
        "including ties and rounding, the cell is proved; otherwise it is split along the attribute with the largest "
        "change in scores. docs/design/pairs.md explains why this is correct."
    )
    named = {"look_up": "look-up of columns", "similarity": "φ"}
    hashes = {named.get(name, name): sha256 for name, sha256 in result.model.hashes.to_dict().items()}
    asked = {name: str(value) for name, value in settings.arguments.items() if value not in (None, [])}
    yield from run_tables({**hashes, "sweep": result.sweep.hash}, settings.versions, asked)


# The report of a sweep in every format of a report.

FORMAT = "lcifr-sweep-report-1"


def render_sweep(
    result: SweepResult, settings: RunSettings, format: str = "html", *, author: str = "", written: str = ""
) -> str:
    """The report as text in one format: html, md or json.

    Parameters
    ----------
    author : who is responsible for the page. written : its date, shown if it differs from the sweep's.
    """
    if format == "json":
        return json.dumps({**result.to_dict(), "format": FORMAT}, indent=1, allow_nan=False) + "\n"
    document = put_sweep_into_words(result, settings, author=author, written=written)
    if format == "html":
        return html_document(document)
    if format == "md":
        return markdown_document(document)
    raise LcifrError(f"no report of a sweep is written as {format!r}", fix="one of html, json, md")
