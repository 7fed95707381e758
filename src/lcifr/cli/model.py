"""``lcifr model``: what is in a model file; and what lcifr learned, as ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.terminal.model_options import DescribeOption
from lcifr.cli.terminal.output import JsonOption, print_json, say

app = typer.Typer(no_args_is_help=True, help="Model files: what is in them; and what lcifr learned, as ONNX.")

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A model: ONNX, skops, XGBoost or LightGBM.")]


@app.command("show", epilog="Example: lcifr model show model.skops")
def show(file: FileArgument, describe: DescribeOption = None, as_json: JsonOption = False) -> None:
    """Say what was loaded: inputs, layers, outputs, rule of decision, arithmetic, hash."""
    from lcifr.runs.models.showing import show_model

    found = show_model(file, describe)
    if as_json:
        print_json(found.to_dict())
        return
    say(" ".join(found.outline.sentences()))
    if found.description:
        say(f"Inputs as described in {found.description}: {found.described}.")
    say(f"sha256 {found.sha256}")
