"""``lcifr repeat``: run again what made a folder, from the settings stored next to its results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lcifr.cli.options import Call, new_app, request_command
from lcifr.cli.output import command, to_stderr
from lcifr.workflows.folders import unchanged_settings
from lcifr.workflows.options import OutOptions, argument

app = new_app()
EXAMPLE = "Example: lcifr repeat consumer --out consumer-again"


@dataclass(frozen=True, kw_only=True)
class RepeatRequest(OutOptions):
    """Which run to repeat, and where its results go."""

    folder: Path = argument("FOLDER", "A folder that a command of lcifr wrote.")


@request_command(app, RepeatRequest, epilog=EXAMPLE)
def repeat(request: RepeatRequest, call: Call) -> None:
    """Repeat the run that wrote FOLDER, with the same settings and files, into a new folder.

    The input files must be unchanged and in the same place, relative to the current folder. The same versions on the
    same machine give the same weights; version differences are listed. Exits as the repeated command does.
    """
    first, *others = unchanged_settings(request.folder).argv
    words = [first, "--out", str(request.out), *["--force"] * request.force, *["--json"] * call.as_json, *others]
    to_stderr(command(*words))
    call.run(*words)
