"""``lcifr check``: the exact checker on an audit bundle. The same as ``python -m lcifr.check``, with a bar."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli._output import JsonOption, print_json, say
from lcifr.errors import LcifrError

if TYPE_CHECKING:
    from lcifr.certification.bundles.drawn import Drawn

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
    from lcifr.certification.bundles.drawn import read_drawn
    from lcifr.check.__main__ import hush
    from lcifr.check.bundle import check_bundle
    from lcifr.check.exact import Rejected
    from lcifr.runs.events import StepKind, step

    if not bundle.is_dir():
        raise LcifrError(f"{bundle}: there is no such folder", fix="give the folder `bundle` of a producer or an audit")
    if not (bundle / "manifest.json").exists() and (bundle / "bundle" / "manifest.json").exists():
        bundle = bundle / "bundle"
    try:
        with step("Checking", StepKind.COUNT) as progress:
            report = check_bundle(bundle, progress, patience)
    except (Rejected, RecursionError) as problem:
        fix = "get the bundle again; nothing in it is confirmed"
        if "steps of work" in str(problem):
            fix += f". If you trust whoever wrote it, allow more work: --patience {10 * patience}"
        raise LcifrError(f"{bundle}: {problem}", fix=fix) from None
    drawn = read_drawn(bundle)
    try:
        if as_json:
            print_json({**asdict(report), **({} if drawn is None else {"drawn": asdict(drawn)})})
        else:
            say("\n".join([*report.lines(), *_about(drawn)]))
    except BrokenPipeError:
        hush()
    raise typer.Exit(report.strict_exit_code if strict else report.exit_code)


def _about(drawn: Drawn | None) -> list[str]:
    if drawn is None or drawn.everybody:
        return []
    return [f"the bundle says whom it is about: {drawn}; nothing is confirmed for the others"]
