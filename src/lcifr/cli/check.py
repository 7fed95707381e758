"""``lcifr check``: the exact checker on an audit bundle, held against the reader's own files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.terminal.options import IdOption
from lcifr.cli.terminal.output import JsonOption, print_json, say

if TYPE_CHECKING:
    from lcifr.certification.bundles.manifest import Drawn

EXAMPLE = (
    "Example: lcifr check producer/bundle --json > checked.json\n\n"
    "Is it about our people and our model? lcifr check audit/bundle --people people.csv --id person "
    "--model model.onnx --phi rule.phi --schema people.toml --train train.csv"
)
PANEL = "Your own files, to compare the bundle with"


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
    people: Annotated[
        Path | None, typer.Option(metavar="TABLE", help="The people: .csv or .parquet.", rich_help_panel=PANEL)
    ] = None,
    id_column: IdOption = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE|FOLDER",
            help="The model: ONNX, skops, XGBoost, LightGBM; or the folder of a producer, and once more of a consumer.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    describe: Annotated[
        Path | None,
        typer.Option(metavar="TOML", help="Which column feeds which input of the model.", rich_help_panel=PANEL),
    ] = None,
    phi: Annotated[
        str | None, typer.Option(metavar="FILE|NAME", help="Who counts as similar.", rich_help_panel=PANEL)
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="What the columns mean: a .toml file. (Default: the .toml beside the .phi.)",
            rich_help_panel=PANEL,
        ),
    ] = None,
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="The people whose standard deviations and ranks φ speaks of.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Confirm every proof of an audit bundle in exact arithmetic, trusting neither solver, nor GPU, nor this library.

    Your own files say what it is about: each is the same, DIFFERS, or was not given. "The same" is never said by a
    hash that the bundle names: people, φ, schema, standard deviations and model are derived again from your file.

    Without lcifr's other parts, where nothing but Python is installed: python -m lcifr.check BUNDLE --people TABLE

    Exit codes: 0 everything that is claimed is confirmed (and all your files are the same), 1 something is not, 2 the
    bundle cannot be read or goes beyond a limit; with --strict, or with a file of yours, 4 all that is claimed is
    confirmed, and nothing is claimed of somebody, or a radius has no proof; with a file of yours, 5 one of them
    differs, 6 none differs, and something was not given or not compared.
    """
    from lcifr.check.report.command import hush
    from lcifr.runs.binding.own_files import OwnFiles
    from lcifr.runs.checking import CheckRequest
    from lcifr.runs.checking import check as run_check

    files = OwnFiles(
        people=people,
        id_column=id_column,
        model=tuple(model or ()),
        describe=describe,
        phi=phi,
        schema=schema,
        train=train,
    )
    result = run_check(CheckRequest(bundle, patience, files))
    try:
        if as_json:
            print_json(result.to_dict())
        else:
            say("\n".join([*result.lines(), *_about(result.drawn)]))
    except BrokenPipeError:
        hush()
    raise typer.Exit(result.exit_code or (result.report.strict_exit_code if strict else 0))


def _about(drawn: Drawn | None) -> list[str]:
    if drawn is None or drawn.everybody:
        return []
    return [f"the bundle says whom it is about: {drawn}; nothing is confirmed for the others"]
