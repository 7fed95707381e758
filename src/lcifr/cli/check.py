"""``lcifr check``: the exact checker on an audit bundle. The same as ``python -m lcifr.check``, with a bar."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli._output import JsonOption, print_json, say
from lcifr.errors import LcifrError

EXAMPLE = "Example: lcifr check producer/bundle --json > checked.json"


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(check)


def check(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder `bundle` of a producer or an audit.")],
    as_json: JsonOption = False,
) -> None:
    """Confirm every proof of an audit bundle in exact arithmetic, trusting neither solver, nor GPU, nor this library.

    Without lcifr's other parts, where nothing but Python is installed: python -m lcifr.check BUNDLE

    Exit codes: 0 everything that is claimed is confirmed, 1 something is not, 2 the bundle cannot be read, 3 all is
    confirmed but what rests on a solver's word.
    """
    from lcifr.check.bundle import check_bundle
    from lcifr.check.exact import Rejected
    from lcifr.runs.events import StepKind, step

    if not bundle.is_dir():
        raise LcifrError(f"{bundle}: there is no such folder", fix="give the folder `bundle` of a producer or an audit")
    if not (bundle / "manifest.json").exists() and (bundle / "bundle" / "manifest.json").exists():
        bundle = bundle / "bundle"
    try:
        with step("Checking", StepKind.COUNT) as progress:
            people = _people(bundle)
            report = check_bundle(bundle, lambda done: progress(done, max(people, done)))
        if as_json:
            print_json(asdict(report))
        else:
            say("\n".join(report.lines()))
    except (Rejected, RecursionError) as problem:
        raise LcifrError(f"{bundle}: {problem}", fix="get the bundle again; nothing in it is confirmed") from None
    raise typer.Exit(report.exit_code)


def _people(bundle: Path) -> int:
    """How many people the manifest says there are, for the bar alone."""
    import json

    try:
        found = json.loads((bundle / "manifest.json").read_bytes()).get("people")
    except (OSError, ValueError, AttributeError, RecursionError):
        return 0  # the checker says what is wrong
    return found if isinstance(found, int) else 0
