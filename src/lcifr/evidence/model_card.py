"""The model card: what the model is, who it was measured on, what was found, and what its provider must add."""

from __future__ import annotations

from collections.abc import Iterator

from lcifr.display.text import count, percent, percents
from lcifr.report.content import Report
from lcifr.report.markdown import markdown_table, plain_markdown
from lcifr.report.sections import NAMES, Table, fit_cells, library_name
from lcifr.workflows.results import AuditResult

OPEN = "*To be added by the provider of the model; an audit does not know it.*"


def model_card(result: AuditResult, report: Report) -> str:
    """Markdown, in the order of Mitchell and others, *Model Cards for Model Reporting* (2019)."""
    sections = {
        "Model details": _details(result, report),
        "Intended use": iter([OPEN]),
        "Factors": _factors(result, report),
        "Metrics": _metrics(report),
        "Evaluation data": _evaluated(result, report),
        "Training data": _trained(result),
        "Quantitative analyses": _figures(report),
        "Ethical considerations": _considerations(report),
        "Caveats and recommendations": _caveats(report),
    }
    lines = [f"# Model card: {plain_markdown(result.model.target)}", ""]
    for title, body in sections.items():
        lines += [f"## {title}", "", *body, ""]
    return "\n".join(lines).rstrip() + "\n"


def _details(result: AuditResult, report: Report) -> Iterator[str]:
    about, library = report.about, report.about.library
    yield f"- Predicts: {plain_markdown(result.model.target)} ({result.model.task})"
    if result.model.classes:
        yield f"- Decides between: {plain_markdown(', '.join(map(result.model.shown, result.model.classes)))}"
    if library is not None:
        yield f"- File: {plain_markdown(library_name(library))}, SHA-256 `{library.sha256}`"
        yield f"- Rule: {plain_markdown(library.rule)}"
    yield f"- Arithmetic: {plain_markdown(report.arithmetic)}"
    yield f"- Audited: {about.audited or 'on a day that is not on file'}" + (
        f", by {plain_markdown(about.author)}" if about.author else ""
    )
    yield from (f"- {NAMES.get(name, name)}: `{value}`" for name, value in report.hashes.items())


def _factors(result: AuditResult, report: Report) -> Iterator[str]:
    groups = dict.fromkeys(row["attribute"] for row in report.groups)
    yield f"- Groups that were examined: {plain_markdown(', '.join(groups)) or 'none'}; see `group-rates.md`"
    yield "- Who counts as similar: φ, in `similar.phi`; in English, in `similar-in-english.txt`"


def _metrics(report: Report) -> Iterator[str]:
    yield f"- Certified: {plain_markdown(report.rule)}, for everyone φ calls similar, proved person by person"
    yield "- Counterexample: a similar person who could exist and gets a different decision"
    yield "- Undecided: neither is known"


def _evaluated(result: AuditResult, report: Report) -> Iterator[str]:
    yield f"- {plain_markdown(report.about.data)}"
    yield f"- Not examined, because a value is missing: {count(result.left_out)} of {count(result.statement.rows)}"
    yield from (f"- {plain_markdown(text)}" for text in report.about.data_cautions)


def _trained(result: AuditResult) -> Iterator[str]:
    learned = result.model.trained_on
    yield OPEN if learned is None else f"- {count(learned)} people. {OPEN}"


def _figures(report: Report) -> Iterator[str]:
    said = report.statement
    names = ("certified with respect to φ", "with a counterexample", "undecided", "not examined: a value is missing")
    people = (said.certified, said.violated, said.undecided, said.not_examined)
    cells = tuple(zip(names, map(count, people), percents(people), strict=True))
    yield from markdown_table(Table("Verdicts", ("", "People", "Share"), cells, (False, True, True)))
    yield ""
    if said.not_examined:
        yield f"The figures below are of the {count(said.people)} people who were examined."
        yield ""
    numbers = any(row["mean_error"] is not None for row in report.models)
    head = ("Model", *(("R²", "Mean error") if numbers else ("Accuracy", "Balanced")), "Certified")
    rows = tuple((row.name, *fit_cells(row, numbers=numbers), percent(row["certified"])) for row in report.models)
    yield from markdown_table(Table("Beside its baselines", head, rows, (False, True, True, True)))


def _considerations(report: Report) -> Iterator[str]:
    yield "- Certified means: with respect to this φ, for the model with these hashes. It does not mean fair."
    yield "- Proxies remain: what φ holds equal may stand for what it leaves free."
    yield "- The proofs hold attributes of people: share the pack with those who may see them."


def _caveats(report: Report) -> Iterator[str]:
    found = [f"- **{plain_markdown(one.title)}.** {plain_markdown(one.text)}" for one in report.cautions]
    yield from found or ["- The audit found none."]
