"""``lcifr repeat``: run again what made a folder, from the settings that lie beside its results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from lcifr.cli._folder import describe_input, read_settings
from lcifr.cli._options import ForceOption, OutOption
from lcifr.cli._output import JsonOption, command, to_stderr
from lcifr.errors import LcifrError

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
    """Run the command that made FOLDER again, with the same settings and the same files, into another folder.

    The files must be where they were (paths count from the current folder) and what they were. The same versions on
    the same machine give the same weights; other versions are named. Exits as the repeated command does.
    """
    settings = read_settings(folder)
    _same_inputs(settings)
    _name_other_versions(settings)
    words, more = settings["argv"], ["--out", str(out)]
    more += ["--force"] * force + ["--json"] * as_json
    to_stderr(command(words[0], *more, *words[1:]))
    context.find_root().command.main([words[0], *more, *words[1:]], prog_name="lcifr")


def _same_inputs(settings: dict[str, Any]) -> None:
    for name, before in settings["inputs"].items():
        path = Path(before["path"])
        if not path.exists():
            raise LcifrError(f"{path} ({name}) is not there", fix="run it from the folder where it was run")
        if describe_input(path)["sha256"] != before["sha256"]:
            raise LcifrError(
                f"{path} ({name}) is not what it was: its hash differs", fix="put the old one in its place"
            )


def _name_other_versions(settings: dict[str, Any]) -> None:
    import platform

    from lcifr.certificates.latent import versions

    now = {"python": platform.python_version(), **versions()}
    for name, before in settings["versions"].items():
        if now.get(name) != before:
            to_stderr(f"Note: {name} was {before} then and is {now.get(name)} now: numbers may differ a little")
