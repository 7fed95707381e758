"""``lcifr repeat``: run again what made a folder, from the settings that lie beside its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.options import ForceOption, OutOption, new_app
from lcifr.cli.output import JsonOption, command, to_stderr
from lcifr.workflows.folders import unchanged_settings

app = new_app()
EXAMPLE = "Example: lcifr repeat consumer --out consumer-again"


@app.command(epilog=EXAMPLE)
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
