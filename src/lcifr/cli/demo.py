"""``lcifr demo``: the main job on the built-in data, from formula to report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.options import new_app
from lcifr.cli.output import JsonOption, print_json, words_of
from lcifr.display.text import format_value, percent

if TYPE_CHECKING:
    from rich.console import Console

    from lcifr.phi import Similarity
    from lcifr.workflows.demo import DemoModel


# The text of ``lcifr demo``, for readers who are new to the subject.


def _step(console: Console, number: int, title: str) -> None:
    from rich.text import Text

    console.print(Text(f"{number}. {title}", style="bold"))


def show_formula(console: Console, similarity: Similarity) -> None:
    from rich.panel import Panel
    from rich.text import Text

    console.print(
        "A bank grants or refuses credit. Similar applicants should get the same answer.\n"
        "But who counts as similar? That takes a rule that a person can read and a\n"
        "machine can check.\n"
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

    _step(console, 2, "Three models, and what is proved about them")
    people = len(results[0].audit)
    table = Table(title=f"{people} applicants not used for training (percent)", title_justify="left")
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
            "Ignoring sex is not enough: the second model never sees it, and still gives\n"
            "similar people different decisions.\n"
        )


def show_person(console: Console, result: DemoModel) -> None:
    """The violated person whose counterexample differs in the fewest attributes; in sex, if there is one."""
    from rich.table import Table

    _step(console, 3, f"One counterexample to the {result.name} model")
    found = result.audit
    pairs = {name: found.counterexample(name) for name, bad in zip(found.ids, found.violated, strict=True) if bad}
    if not pairs:
        console.print(f"No counterexample to the {result.name} model was found.\n")
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
    console.print("Everything else about the two is equal, and the rule calls them similar.\n")


def show_check(console: Console, results: Sequence[DemoModel], out: Path) -> None:
    _step(console, 4, "Check the proofs")
    proofs = sum(result.checked.certified for result in results)
    others = sum(result.checked.counterexamples for result in results)
    refused = sum(len(result.checked.rejected) for result in results)
    verdict = "every one confirmed" if not refused else f"[bold red]{refused} NOT confirmed[/bold red]"
    console.print(
        f"{proofs} certificates and {others} counterexamples were written to {out / 'proofs'}\n"
        f"and recomputed in exact arithmetic by a checker that needs only Python:\n{verdict}.\n",
        soft_wrap=True,
    )


def show_report(console: Console, results: Sequence[DemoModel], page: Path) -> None:
    _step(console, 5, "The report")
    last = results[-1]
    share = percent(last.figures["certified"])
    console.print(
        f"[bold]{page}[/bold]   open it in a browser\n\n"
        f"{share} are certified with respect to the rule above. Nothing else is claimed.\n"
        "To write your own rule, see docs/language.md.",
        soft_wrap=True,
    )


app = new_app()
EXAMPLE = "Example: lcifr demo --out lcifr-demo"


@app.command(epilog=EXAMPLE)
def demo(
    context: typer.Context,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FOLDER", help="Where to write the report and the proofs. Replaces an earlier demo."
        ),
    ] = Path("lcifr-demo"),
    seed: Annotated[int, typer.Option(help="Seed for training.")] = 0,
    as_json: JsonOption = False,
    picture: Annotated[Path | None, typer.Option(help="Also save the output as an SVG picture.")] = None,
) -> None:
    """Train three models on the built-in German credit data, audit them, and check the proofs.

    Takes about half a minute and writes a report. Exits 1 if the exact checker rejects a proof.
    """
    from rich.console import Console

    from lcifr.report.page import write_demo_report
    from lcifr.workflows.demo import DemoRequest, demo_similarity
    from lcifr.workflows.demo import demo as run_demo

    request = DemoRequest(out=out, seed=seed)
    console = Console(highlight=False, record=picture is not None, width=110 if picture else None, quiet=as_json)
    show_formula(console, demo_similarity())
    result = run_demo(request, argv=words_of(context))
    show_table(console, result.models)
    show_person(console, result.models[0])
    show_check(console, result.models, out)
    show_report(console, result.models, write_demo_report(result))
    if as_json:
        print_json(result.to_dict())
    if picture:
        _save_picture(console, picture)
    raise typer.Exit(1 if result.refused else 0)


def _save_picture(console: Console, path: Path) -> None:
    """An SVG that loads nothing from anywhere: rich's own refers to a web font."""
    path.write_text(re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="lcifr demo"), flags=re.DOTALL))
