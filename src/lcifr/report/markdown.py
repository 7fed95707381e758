"""The report as Markdown and as JSON: the same sections and facts, tables instead of charts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.display.scores import person_sentence
from lcifr.display.text import count, visible
from lcifr.report.content import Explorer, PersonRow, Report
from lcifr.report.people import Shown, contribution_rows, profile_sentences, show
from lcifr.report.sections import (
    Block,
    Chart,
    CodeBlock,
    Document,
    Gallery,
    PeopleBlock,
    Points,
    Table,
    library_name,
    put_into_words,
    tried_models,
)
from lcifr.workflows.results import CheckedProofs, ModelOrigin, TuneResult

if TYPE_CHECKING:
    from lcifr.estimators.tuning import Frontier

# The report as Markdown: the same sections, tables instead of charts, people in tables.


def render_markdown(report: Report) -> str:
    """Markdown (CommonMark with tables)."""
    return markdown_document(put_into_words(report))


def markdown_document(document: Document) -> str:
    """The same of any document."""
    head = document.headline
    lines = [f"# {plain_markdown(document.title)}", "", plain_markdown(document.subtitle), ""]
    lines += [f"- {name}: {plain_markdown(text)}" for name, text in document.facts] + [""]
    first = (
        f"**{plain_markdown(head.words)}**"
        if head.muted
        else f"**{plain_markdown(head.figure)}** {plain_markdown(head.words)}"
    )
    lines += [f"{first} {plain_markdown(head.bound)}", ""]
    lines += [
        f"- {name}: {f'{count(people)} ({share})' if head.counted else share}" for _, name, people, share in head.parts
    ]
    lines.append("")
    if document.cautions:
        lines += ["## Read this first", ""]
        lines += [
            f"- **{plain_markdown(caution.title)}.** {plain_markdown(caution.text)}" for caution in document.cautions
        ] + [""]
    for section in document.sections:
        lines += [f"## {plain_markdown(section.title)}", ""]
        for block in section.blocks:
            lines += [*_block(block), ""]
    return "\n".join(lines).rstrip() + "\n"


def plain_markdown(text: str) -> str:
    """Text that is nothing but text: no markup, no HTML, no line of its own."""
    one_line = visible(text).replace("\n", " ").replace("\t", " ")
    escaped = re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", one_line)
    return re.sub(r"&(?=[#\w])", r"\\&", escaped)


def _block(block: Block) -> Iterator[str]:
    yield from WRITERS[type(block)](block)


def _chart(chart: Chart) -> Iterator[str]:
    yield f"**{plain_markdown(chart.picture.title)}.** {plain_markdown(chart.description)}"
    yield ""
    yield from markdown_table(chart.table)


def _gallery(gallery: Gallery) -> Iterator[str]:
    for chart in gallery.charts:
        yield from (*_chart(chart), "")


def _code(block: CodeBlock) -> Iterator[str]:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", block.text)), default=0))
    yield plain_markdown(block.label)
    yield ""
    yield from (fence, visible(block.text), fence)


def _points(points: Points) -> Iterator[str]:
    for item in points.items:
        depth = len(item) - len(item.lstrip())
        yield "  " * (depth // 2) + f"- {plain_markdown(item.strip())}"


def markdown_table(table: Table) -> Iterator[str]:
    """A table with its caption above it."""
    yield f"*{plain_markdown(table.caption)}*"
    yield ""
    yield "| " + " | ".join(plain_markdown(name) for name in table.head) + " |"
    yield "|" + "|".join(" ---: " if number else " --- " for number in table.numbers) + "|"
    for row in table.rows:
        yield "| " + " | ".join(plain_markdown(cell) for cell in row) + " |"


def _people(block: PeopleBlock) -> Iterator[str]:
    """Everyone in a line each, and the counterexamples in full."""
    shown = [show(person, block.explorer) for person in block.explorer.people]
    if not shown:
        return
    facts = tuple(name for name, _ in shown[0].facts)
    rows = tuple((one.id, one.verdict, *(value for _, value in one.facts), one.sentence) for one in shown)
    yield from markdown_table(Table("People", ("Id", "Verdict", *facts, "In words"), rows, (False,) * (3 + len(facts))))
    for one, person in zip(shown, block.explorer.people, strict=True):
        if one.rows:
            yield ""
            yield from _person(one, block.explorer)
            yield from _explained(person, block.explorer)


WRITERS: dict[type, Callable[[Any], Iterator[str]]] = {
    str: lambda text: iter([plain_markdown(text)]),
    Table: markdown_table,
    Chart: _chart,
    Gallery: _gallery,
    CodeBlock: _code,
    Points: _points,
    PeopleBlock: _people,
}
"""Of each kind of block its lines; ``templates/blocks.html`` has a macro for each."""


def _person(one: Shown, explorer: Explorer) -> Iterator[str]:
    """The attributes that may differ, or do; the others are the person's own and must be equal."""
    head = ("Attribute", "This person", "A similar person may have")
    rows: list[tuple[str, ...]] = [
        (row.attribute + (f" ({row.unit})" if row.unit else ""), row.own, row.may) for row in one.rows
    ]
    if one.kind == "counterexample":
        head = (*head, "Counterexample")  # type: ignore[assignment]
        rows = [(*cells, ("≠ " if row.differs else "") + row.other) for cells, row in zip(rows, one.rows, strict=True)]
    yield f"### Person {plain_markdown(one.id)}: {one.verdict}"
    yield ""
    yield from markdown_table(Table(one.note or "Attributes", head, tuple(rows), (False,) * len(head)))


def _explained(person: PersonRow, explorer: Explorer) -> Iterator[str]:
    """What speaks for and against, and what is seen around the counterexample."""
    for sentence in profile_sentences(person, explorer):
        yield ""
        yield plain_markdown(sentence)
    if person.score is not None:
        head = ("Attribute", "This person", "Adds", "Within φ")
        yield ""
        yield plain_markdown(person_sentence(person.score))
        yield ""
        rows = tuple(contribution_rows(person, explorer))
        yield from markdown_table(Table("What speaks for and against", head, rows, (False, False, True, True)))


# The report for machines: every fact as it is, numbers with all their digits.

FORMAT = "lcifr-report-1"


def render_json(report: Report) -> str:
    """JSON, in the order of the content's fields."""
    return json.dumps(to_dict(report), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def to_dict(report: Report) -> dict[str, Any]:
    """Plain values."""
    about, said, modular = report.about, report.statement, report.modularity
    return {
        "format": FORMAT,
        **_some(about, "title", "data"),
        "origin": _origin(report),
        "promise": asdict(report.promise),
        "proved": {
            **_some(said, "people", "certified", "violated", "undecided", "vacuous"),
            "alone": report.alone,
            **_some(said, "share", "lower", "confidence"),
            "reasons": report.reasons,
            "on_ball": modular.get("ball"),
            "on_box": modular.get("box"),
            "constant": report.constant,
            "not_examined": said.not_examined,
            "no_bound": report.no_bound,
        },
        "cautions": [asdict(one) for one in report.cautions],
        "models": [{"name": one.name} | {figure: one[figure] for figure in FIGURES} for one in report.models],
        "majority_rate": said.majority_rate,
        "margins": _plain(report.margins),
        "radii": _plain(report.radii),
        "groups": [
            {column: row.get(column) for column in GROUPS} | {"value": str(row["value"])} for row in report.groups
        ],
        "decisions": _plain(report.decisions),
        "explorer": asdict(report.explorer),
        "tuning": None if report.tuning is None else _tuning(report.tuning),
        "checked": None if about.checked is None else _checked(about.checked),
        "recheck": about.recheck,
        **_some(report, "rule", "hashes"),
        **_some(about, "versions", "settings", "data_cautions"),
        "notes": report.notes,
        "scales": [asdict(one) for one in about.scales or ()],
        "baseline_learner": about.baseline_learner,
    }


FIGURES = ("accuracy", "balanced_accuracy", "certified", "violated", "undecided", "r2", "mean_error")
GROUPS = ("attribute", "value", "people", "certified", "at_least", "violated", "accuracy", "mean_error")


def _some(one: object, *names: str) -> dict[str, Any]:
    return {name: getattr(one, name) for name in names}


def _plain(one: Any) -> dict[str, Any] | None:
    return None if one is None else asdict(one)


def _origin(report: Report) -> dict[str, Any]:
    """What was audited, when and by whom; sizes are those of layers, inputs first."""
    about, own, encoder = report.about, report.found.model.function, report.encoder_function
    return {
        "audited": about.audited,
        "written": about.written_later,
        "author": about.author,
        "encoder": () if encoder is None else encoder.widths,
        "model": own.widths,
        "arithmetic": report.arithmetic,
        "library": None if about.library is None else _library(about.library),
        "trees": own.tree_count,
        "encoder_trees": 0 if encoder is None else encoder.tree_count,
        "labels": about.decisions,
    }


def _library(model: ModelOrigin) -> dict[str, Any]:
    named = {"name": library_name(model), **_some(model, "steps", "rule", "runtime", "sha256")}
    return {**named, "reference": Path(model.reference).name, "assumptions": model.assumptions}


def _tuning(tuning: Frontier | TuneResult) -> dict[str, Any]:
    rows = [
        {
            "name": one.name,
            "kind": dot.kind,
            **_some(one, "gamma", "score", "balanced", "certified"),
            "family": dot.family,
        }
        for one, dot in tried_models(tuning)
    ]
    return {"required": float(tuning.required), "rows": rows, "by": tuning.by}


def _checked(checked: CheckedProofs) -> dict[str, Any]:
    return {**_some(checked, "people", "certified", "counterexamples"), "rejected": len(checked.rejected)}
