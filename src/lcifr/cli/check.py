"""``lcifr check``: the exact checker on an audit bundle, held against the reader's own files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lcifr.cli.options import IdOption, MissingOption, new_app
from lcifr.cli.output import JsonOption, print_json, say

if TYPE_CHECKING:
    from lcifr.certification.bundle import ProofSample

app = new_app()
EXAMPLE = (
    "Example: lcifr check producer/bundle --json > checked.json\n\n"
    "Compare it with your own files: lcifr check audit/bundle --people people.csv --id person "
    "--model model.onnx --phi rule.phi --schema people.toml --train train.csv"
)
PANEL = "Your own files, to compare the bundle with"


@app.command(epilog=EXAMPLE)
def check(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The `bundle` folder of a producer or an audit.")],
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 4 if every claim is confirmed, but someone has no claim.")
    ] = False,
    patience: Annotated[
        int, typer.Option("--patience", min=1, metavar="TIMES", help="Allow this many times the usual work per person.")
    ] = 1,
    people: Annotated[
        Path | None,
        typer.Option("--people", metavar="TABLE", help="The people: .csv or .parquet.", rich_help_panel=PANEL),
    ] = None,
    id_column: IdOption = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            "--model",
            metavar="FILE|FOLDER",
            help="The model (ONNX, skops, XGBoost, LightGBM), or the producer's and the consumer's folder.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    describe: Annotated[
        Path | None,
        typer.Option(
            "--describe",
            metavar="TOML",
            help="Describes the model's inputs and outputs. (Default: the .toml next to the model.)",
            rich_help_panel=PANEL,
        ),
    ] = None,
    missing: MissingOption = None,
    phi: Annotated[
        str | None, typer.Option("--phi", metavar="FILE|NAME", help="Who counts as similar.", rich_help_panel=PANEL)
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            metavar="FILE|NAME",
            help="The schema: a .toml file. (Default: the .toml next to the .phi.)",
            rich_help_panel=PANEL,
        ),
    ] = None,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            metavar="TABLE",
            help="The table that supplies the standard deviations and ranks in φ.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Recompute every proof in a bundle in exact arithmetic, independently of the rest of lcifr.

    Pass your own files to find out whether the bundle is about them: each is the same, DIFFERS, or was not given. "The
    same" never relies on a hash in the bundle: people, φ, schema, standard deviations and model are derived again from
    your files.

    With nothing but Python installed, run: python -m lcifr.check BUNDLE --people TABLE

    Exit codes: 0 every claim is confirmed (and all your files match), 1 a claim is not confirmed, 2 the bundle cannot
    be read or exceeds a limit. With --strict or your own files: 4 every claim is confirmed, but someone has no claim,
    or a radius has no proof. With your own files: 5 one of them differs, 6 none differs, but something was not given or
    not compared.
    """
    from lcifr.check.report import hush
    from lcifr.workflows.binding import OwnFiles
    from lcifr.workflows.checking import CheckRequest
    from lcifr.workflows.checking import check as run_check

    files = OwnFiles(
        people=people,
        id_column=id_column,
        model=tuple(model or ()),
        describe=describe,
        missing=missing,
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


def _about(drawn: ProofSample | None) -> list[str]:
    if drawn is None or drawn.everybody:
        return []
    return [f"the bundle covers only {drawn}; nothing is confirmed for the others"]
