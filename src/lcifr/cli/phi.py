"""``lcifr phi``: what a formula says in English, whether it is odd, and what it means for real people."""

from __future__ import annotations

import typer

from lcifr.certification.population import scale_sources
from lcifr.cli.options import Call, new_app, request_command
from lcifr.cli.output import JsonOption, console, print_json
from lcifr.cli.statements import scale_words
from lcifr.phi.lint import Example, short_percent
from lcifr.phi.syntax_errors import find_position, point_at
from lcifr.workflows.formulas import (
    CountOptions,
    FormulaCheckResult,
    FormulaRequest,
    check_formula,
    explain_formula,
)

# What ``lcifr phi check`` prints: the formula in English, what is odd about it, and pairs of people.


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


app = new_app(help="List, explain and check similarity formulas.", no_args_is_help=True)


@app.command("list", epilog="Example: lcifr phi list")
def list_formulas(as_json: JsonOption = False) -> None:
    """List the ready-made formulas: the paper's constraints on its datasets."""
    from rich.table import Table

    from lcifr.phi import ready, ready_names

    entries = [(name, _summary(ready(name))) for name in ready_names()]
    if as_json:
        print_json([{"name": name, "summary": text, "formula": ready(name)} for name, text in entries])
        return
    table = Table("name", "meaning", box=None, header_style="bold", pad_edge=False)
    for entry in entries:
        table.add_row(*entry)
    console().print(table)


@request_command(app, FormulaRequest, epilog="Example: lcifr phi explain adult/cat_noise")
def explain(request: FormulaRequest, call: Call) -> None:
    """Explain a formula in English: what must be equal, what may differ and by how much, and what is free.

    With --data, distances in standard deviations are also given in the data's own units.
    """
    call.print(explain_formula(request), lambda found: typer.echo(found.english))


@request_command(app, FormulaRequest, CountOptions, epilog="Example: lcifr phi check german/cat_noise --data german")
def check(request: FormulaRequest, count: CountOptions, call: Call) -> None:
    """Check a formula for likely mistakes, and show what it means for real people.

    Ready-made formulas are checked on their own dataset unless you pass --data. Exits 1 if nothing can be proved with
    the formula.
    """
    result = check_formula(request, most=count.most, seed=count.seed)
    call.print(result, lambda found: typer.echo(formula_report(found)))
    if result.has_errors:
        raise typer.Exit(1)


def _summary(text: str) -> str:
    """The comment that a formula begins with, up to the end of its first sentence."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines).split(". ")[0].rstrip(".") + "."
