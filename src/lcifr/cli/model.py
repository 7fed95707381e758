"""``lcifr model``: what is in a model file; and what lcifr learned, as ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lcifr.cli.options import DescribeOption, MissingOption, new_app
from lcifr.cli.output import JsonOption, print_json, say

app = new_app(no_args_is_help=True, help="Inspect model files, and export models that lcifr trained.")

SHOWN = 12
"""Entries of metadata that are printed."""

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="A model: ONNX, skops, XGBoost or LightGBM.")]


@app.command("show", epilog="Example: lcifr model show model.skops")
def show(
    file: FileArgument,
    describe: DescribeOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a model file contains: inputs, layers, outputs, decision rule, arithmetic, hash."""
    from lcifr.models.source import quoted
    from lcifr.workflows.diagnosis import show_model

    found = show_model(file, describe, missing)
    if as_json:
        print_json(found.to_dict())
        return
    say(" ".join(found.outline.sentences()))
    if found.description:
        say(found.described_words)
    say(f"sha256 {found.sha256}")
    if found.draft:
        say("The description is a draft: its entries are guesses until the line `draft = true` is deleted.")
    if found.outline.metadata:
        say("\nMetadata, as the file has it (lcifr checks none of it):")
        for name, text in found.outline.metadata[:SHOWN]:
            say(f"  {quoted(name)}: {quoted(text)}")
        if len(found.outline.metadata) > SHOWN:
            say(f"  and {len(found.outline.metadata) - SHOWN} more; --json shows all")


@app.command("export", epilog="Example: lcifr model export producer consumer --out model.onnx")
def export(
    producer: Annotated[Path, typer.Argument(metavar="PRODUCER", help="The folder that `lcifr produce` wrote.")],
    consumer: Annotated[
        Path | None,
        typer.Argument(metavar="[CONSUMER]", help="The folder that `lcifr consume` wrote, to export the whole model."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")] = Path("model.onnx"),
    arithmetic: Annotated[str, typer.Option("--arithmetic", metavar="FORMAT", help="float32 or float64.")] = "float32",
    as_json: JsonOption = False,
) -> None:
    """Export a trained network as ONNX: from the table's columns to z or, with CONSUMER, to the decision."""
    from lcifr.workflows.diagnosis import export_folders

    found = export_folders(producer, consumer, out, arithmetic)
    if as_json:
        print_json(found.to_dict())
        return
    say(
        f"{found.file} takes {len(found.inputs)} columns by name, returns {' and '.join(found.outputs)}, and computes "
        f"in {found.arithmetic}. sha256 {found.sha256}"
    )
