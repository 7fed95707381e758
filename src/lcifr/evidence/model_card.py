"""The model card: what the model is, who it was measured on, what was found, and what its provider must add."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lcifr.display.text import count, fixed, percent, percents, quantity
from lcifr.report.content import Report
from lcifr.report.markdown import markdown_table, plain_markdown
from lcifr.report.sections import NAMES, Table
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
    origin, library = report.origin, report.origin.library
    yield f"- Predicts: {plain_markdown(result.model.target)} ({result.model.task})"
    if result.model.classes:
        yield f"- Decides between: {plain_markdown(', '.join(map(result.model.shown, result.model.classes)))}"
    if library is not None:
        yield f"- File: {plain_markdown(library.name)}, SHA-256 `{library.sha256}`"
        yield f"- Rule: {plain_markdown(library.rule)}"
    yield f"- Arithmetic: {plain_markdown(origin.arithmetic)}"
    yield f"- Audited: {origin.audited or 'on a day that is not on file'}" + (
        f", by {plain_markdown(origin.author)}" if origin.author else ""
    )
    yield from (f"- {NAMES.get(name, name)}: `{value}`" for name, value in report.hashes.items())


def _factors(result: AuditResult, report: Report) -> Iterator[str]:
    groups = dict.fromkeys(row.attribute for row in report.groups)
    yield f"- Groups that were examined: {plain_markdown(', '.join(groups)) or 'none'}; see `group-rates.md`"
    yield "- Who counts as similar: φ, in `similar.phi`; in English, in `similar-in-english.txt`"


def _metrics(report: Report) -> Iterator[str]:
    yield f"- Certified: {plain_markdown(report.rule)}, for everyone φ calls similar, proved person by person"
    yield "- Counterexample: a similar person who could exist and gets a different decision"
    yield "- Undecided: neither is known"


def _evaluated(result: AuditResult, report: Report) -> Iterator[str]:
    yield f"- {plain_markdown(report.data)}"
    yield f"- Not examined, because a value is missing: {count(result.left_out)} of {count(result.statement.rows)}"
    yield from (f"- {plain_markdown(text)}" for text in report.data_cautions)


def _trained(result: AuditResult) -> Iterator[str]:
    learned = result.model.trained_on
    yield OPEN if learned is None else f"- {count(learned)} people. {OPEN}"


def _figures(report: Report) -> Iterator[str]:
    proved = report.proved
    rows = [
        ("certified with respect to φ", proved.certified),
        ("with a counterexample", proved.violated),
        ("undecided", proved.undecided),
        ("not examined: a value is missing", proved.not_examined),
    ]
    shares = percents([people for _, people in rows])
    cells = tuple((name, count(people), share) for (name, people), share in zip(rows, shares, strict=True))
    yield from markdown_table(Table("Verdicts", ("", "People", "Share"), cells, (False, True, True)))
    yield ""
    if proved.not_examined:
        yield f"The figures below are of the {count(proved.people)} people who were examined."
        yield ""
    head, models = _beside(report)
    yield from markdown_table(Table("Beside its baselines", head, models, (False, True, True, True)))


def _beside(report: Report) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Head and rows of a table of all models: accuracy, or the fit of numbers, and the certified share."""
    if any(row.mean_error is not None for row in report.models):
        fit = [(row, _or_dash(row.r2, fixed), _or_dash(row.mean_error, quantity)) for row in report.models]
        return ("Model", "R²", "Mean error", "Certified"), tuple((r.name, *f, percent(r.certified)) for r, *f in fit)
    right = [(row, percent(row.accuracy), percent(row.balanced_accuracy)) for row in report.models]
    return ("Model", "Accuracy", "Balanced", "Certified"), tuple((r.name, *f, percent(r.certified)) for r, *f in right)


def _or_dash(value: float | None, show: Callable[[float], str]) -> str:
    return "–" if value is None else show(value)


def _considerations(report: Report) -> Iterator[str]:
    yield "- Certified means: with respect to this φ, for the model with these hashes. It does not mean fair."
    yield "- Proxies remain: what φ holds equal may stand for what it leaves free."
    yield "- The proofs hold attributes of people: share the pack with those who may see them."


def _caveats(report: Report) -> Iterator[str]:
    found = [f"- **{plain_markdown(one.title)}.** {plain_markdown(one.text)}" for one in report.cautions]
    yield from found or ["- The audit found none."]
