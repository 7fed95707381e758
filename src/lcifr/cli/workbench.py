"""``lcifr workbench``: formulas, models and audits in a browser, for people who do not write Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.options import new_app
from lcifr.cli.output import JsonOption, print_json, say, to_stderr

app = new_app()
EXAMPLE = "Example: lcifr workbench people"


@app.command(epilog=EXAMPLE)
def workbench(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder with your tables, formulas, models and audits.")
    ] = Path(),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0 for any free port.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in your default browser.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Write formulas, inspect models, and run and explore audits in a browser.

    FOLDER defaults to the current folder. Nothing leaves your machine: the server listens on 127.0.0.1 only, answers
    only requests that use the address it prints, and reads and writes only files below FOLDER. It shows the command for
    everything it does. Needs the extra `workbench` (starlette and uvicorn). Ctrl-C stops it; a running audit stops too,
    and keeps its progress.
    """
    from lcifr.workbench.server import WorkbenchRequest, serve

    def ready(address: str) -> None:
        if as_json:
            print_json({"format": "lcifr-workbench-1", "command": "workbench", "address": address})
        else:
            say(address)
        to_stderr(
            "Anyone with this address on this machine can see the folder; do not share it. Ctrl-C stops the workbench."
        )
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(WorkbenchRequest(folder=folder, port=port), ready)
