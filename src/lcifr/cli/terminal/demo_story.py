"""What ``lcifr demo`` says: for somebody who has never heard of any of this."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.drawing.text import format_value, percent

if TYPE_CHECKING:
    from rich.console import Console

    from lcifr.runs.demo import DemoModel
    from lcifr.similarity import Similarity


def _step(console: Console, number: int, title: str) -> None:
    from rich.text import Text

    console.print(Text(f"{number}. {title}", style="bold"))


def show_formula(console: Console, similarity: Similarity) -> None:
    from rich.panel import Panel
    from rich.text import Text

    console.print(
        "A bank grants or refuses credit. Applicants who are alike in all that matters\n"
        "should get the same answer. But who is alike? Somebody has to say so, in a rule\n"
        "that a person can read and a machine can check.\n"
    )
    _step(console, 1, "The rule")
    lines = [line for line in similarity.text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    console.print(
        Panel(
            Text("\n".join(lines), style="bold"),
            title=f"who counts as similar: {similarity.source}",
            title_align="left",
        )
    )
    console.print(Text(similarity.explain() + "\n"))


def show_table(console: Console, results: Sequence[DemoModel]) -> None:
    from rich.table import Table

    _step(console, 2, "Three models, and what can be proved about them")
    people = len(results[0].audit)
    table = Table(title=f"{people} applicants nobody trained on (percent)", title_justify="left")
    for heading in ("model", "accuracy", "balanced", "certified", "violated", "undecided"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    for result in results:
        shares = result.figures.values()
        style = "bold" if result is results[-1] else None
        table.add_row(result.name, *(f"{100 * share:.1f}" for share in shares), style=style)
    console.print(table)
    console.print(
        "certified  proved: every similar applicant, real or not, gets the same decision\n"
        "violated   a similar applicant with the opposite decision was found\n"
        "undecided  neither a proof nor such an applicant was found\n"
    )
    if results[1].figures["violated"] > 0:
        console.print(
            "Not looking at sex is not enough: the second model never sees it, and still\ntells similar people apart.\n"
        )


def show_person(console: Console, result: DemoModel) -> None:
    """The violated person whose counterexample differs in the fewest attributes; in sex, if there is one."""
    from rich.table import Table

    _step(console, 3, f"One of them: what the {result.name} model does")
    found = result.audit
    pairs = {name: found.counterexample(name) for name, bad in zip(found.ids, found.violated, strict=True) if bad}
    if not pairs:
        console.print(f"Nobody was found whom the {result.name} model treats differently from somebody similar.\n")
        return
    person = min(pairs, key=lambda name: (pairs[name].shape[1], "sex" not in pairs[name].columns))
    granted = bool(found.prediction[found.ids.index(person)])
    words = ("refused", "granted")
    table = Table()
    for heading in ("", f"applicant {person}", "a similar applicant"):
        table.add_column(heading)
    for name in pairs[person].columns:
        table.add_row(name, *(format_value(value) for value in pairs[person][name].tolist()))
    table.add_row("decision", words[granted], words[not granted], style="bold")
    console.print(table)
    console.print("All else about the two is equal, and by the rule they are similar.\n")


def show_check(console: Console, results: Sequence[DemoModel], out: Path) -> None:
    _step(console, 4, "Do not take our word for it")
    proofs = sum(result.checked.certified for result in results)
    others = sum(result.checked.counterexamples for result in results)
    refused = sum(len(result.checked.rejected) for result in results)
    verdict = "every one confirmed" if not refused else f"[bold red]{refused} NOT confirmed[/bold red]"
    console.print(
        f"{proofs} certificates and {others} counterexamples were written to {out / 'proofs'}\n"
        f"and computed again, in exact arithmetic, by a checker that needs nothing but\nPython: {verdict}.\n",
        soft_wrap=True,
    )


def show_report(console: Console, results: Sequence[DemoModel], page: Path) -> None:
    _step(console, 5, "The report")
    last = results[-1]
    share = percent(last.figures["certified"])
    console.print(
        f"[bold]{page}[/bold]   open it with a browser\n\n"
        f"{share} certified means: with respect to the rule above, and no more.\n"
        "docs/language.md says how to write your own rule.",
        soft_wrap=True,
    )
