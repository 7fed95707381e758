"""``lcifr demo``: the main job on the built-in data, from formula to report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.terminal.output import JsonOption, print_json, words_of

if TYPE_CHECKING:
    from rich.console import Console

EXAMPLE = "Example: lcifr demo --out lcifr-demo"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(demo)


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

    from lcifr.cli.terminal import demo_story as story
    from lcifr.report.page import write_demo_report
    from lcifr.runs.demo import DemoRequest, demo_similarity
    from lcifr.runs.demo import demo as run_demo

    request = DemoRequest(out=out, seed=seed)
    console = Console(highlight=False, record=picture is not None, width=110 if picture else None, quiet=as_json)
    story.show_formula(console, demo_similarity())
    result = run_demo(request, argv=words_of(context))
    story.show_table(console, result.models)
    story.show_person(console, result.models[0])
    story.show_check(console, result.models, out)
    story.show_report(console, result.models, write_demo_report(result))
    if as_json:
        print_json(result.to_dict())
    if picture:
        _save_picture(console, picture)
    raise typer.Exit(1 if result.refused else 0)


def _save_picture(console: Console, path: Path) -> None:
    """An SVG that loads nothing from anywhere: rich's own refers to a web font."""
    path.write_text(re.sub(r"@font-face \{.*?\}", "", console.export_svg(title="lcifr demo"), flags=re.DOTALL))
