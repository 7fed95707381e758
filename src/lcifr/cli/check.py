"""``lcifr check``: the exact checker on an audit bundle. The same as ``python -m lcifr.check``, with a bar."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.terminal.output import JsonOption, print_json, say

if TYPE_CHECKING:
    from lcifr.certification.bundles.manifest import Drawn

EXAMPLE = "Example: lcifr check producer/bundle --json > checked.json"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(check)


def check(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder `bundle` of a producer or an audit.")],
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 4 if everything is confirmed, but nothing claimed of somebody.")
    ] = False,
    patience: Annotated[
        int, typer.Option(min=1, metavar="TIMES", help="Allow so many times the usual work for one person.")
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Confirm every proof of an audit bundle in exact arithmetic, trusting neither solver, nor GPU, nor this library.

    Without lcifr's other parts, where nothing but Python is installed: python -m lcifr.check BUNDLE

    Exit codes: 0 everything that is claimed is confirmed, 1 something is not, 2 the bundle cannot be read or goes
    beyond a limit; with --strict 4 all that is claimed is confirmed, and nothing is claimed of somebody, or a radius
    has no proof.
    """
    from lcifr.check.__main__ import hush
    from lcifr.runs.checking import CheckRequest
    from lcifr.runs.checking import check as run_check

    result = run_check(CheckRequest(bundle, patience))
    try:
        if as_json:
            print_json(result.to_dict())
        else:
            say("\n".join([*result.report.lines(), *_about(result.drawn)]))
    except BrokenPipeError:
        hush()
    raise typer.Exit(result.report.strict_exit_code if strict else result.report.exit_code)


def _about(drawn: Drawn | None) -> list[str]:
    if drawn is None or drawn.everybody:
        return []
    return [f"the bundle says whom it is about: {drawn}; nothing is confirmed for the others"]
