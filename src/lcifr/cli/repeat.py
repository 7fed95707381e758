"""``lcifr repeat``: run again what made a folder, from the settings that lie beside its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.terminal.options import ForceOption, OutOption
from lcifr.cli.terminal.output import JsonOption, command, to_stderr
from lcifr.runs.folders.settings import unchanged_settings

EXAMPLE = "Example: lcifr repeat consumer --out consumer-again"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(repeat)


def repeat(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder that a command of lcifr wrote.")],
    out: OutOption,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Repeat the run that wrote FOLDER, with the same settings and files, into a new folder.

    The input files must be unchanged and in the same place, relative to the current folder. The same versions on the
    same machine give the same weights; version differences are listed. Exits as the repeated command does.
    """
    settings = unchanged_settings(folder)
    words, more = settings.argv, ["--out", str(out)]
    more += ["--force"] * force + ["--json"] * as_json
    to_stderr(command(words[0], *more, *words[1:]))
    context.find_root().command.main([words[0], *more, *words[1:]], prog_name="lcifr")
