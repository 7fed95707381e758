"""``lcifr workbench``: formulas, models and audits in a browser, for people who do not write Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.terminal.output import JsonOption, print_json, say, to_stderr

EXAMPLE = "Example: lcifr workbench people"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(workbench)


def workbench(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Whose tables, formulas, models and audits are shown.")
    ] = Path(),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 for a free port.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the default browser.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Write formulas, look at models, and start and explore audits, in a browser on this machine.

    FOLDER is this one unless it is said. Nothing leaves the machine: the page is answered on 127.0.0.1 alone, to
    whoever has its address, and only files below FOLDER are read and written. Whatever it does, it shows the command
    that does the same. Needs the extra `workbench` (starlette and uvicorn). Ctrl-C ends it; an audit that runs is
    stopped, and keeps what is done.
    """
    from lcifr.workbench.web.server import WorkbenchRequest, serve

    def ready(address: str) -> None:
        if as_json:
            print_json({"format": "lcifr-workbench-1", "command": "workbench", "address": address})
        else:
            say(address)
        to_stderr("Whoever has this address sees the folder: do not pass it on. Ctrl-C ends the workbench.")
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(WorkbenchRequest(folder=folder, port=port), ready)
