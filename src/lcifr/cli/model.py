"""``lcifr model``: show what is in a model file, and export what lcifr trained as ONNX."""

from __future__ import annotations

from lcifr.cli.options import Call, new_app, request_command
from lcifr.cli.output import say
from lcifr.models.source import quoted
from lcifr.workflows.diagnosis import (
    ExportedModel,
    ExportRequest,
    ShownModel,
    ShowRequest,
    described_words,
    export_folders,
    show_model,
)

app = new_app(no_args_is_help=True, help="Inspect model files, and export models that lcifr trained.")

SHOWN = 12
"""Entries of metadata that are printed."""


@request_command(app, ShowRequest, epilog="Example: lcifr model show model.skops")
def show(request: ShowRequest, call: Call) -> None:
    """Show what a model file contains: inputs, layers, outputs, decision rule, arithmetic, hash."""
    call.print(show_model(request), _show)


def _show(found: ShownModel) -> None:
    metadata, described = found.outline.metadata, found.file.description
    say(" ".join(found.outline.sentences()))
    if described is not None:
        say(described_words(described))
    say(f"sha256 {found.file.sha256}")
    if described is not None and described.draft:
        say("The description is a draft: its entries are guesses until the line `draft = true` is deleted.")
    if metadata:
        say("\nMetadata, as the file has it (lcifr checks none of it):")
        for name, text in metadata[:SHOWN]:
            say(f"  {quoted(name)}: {quoted(text)}")
        if len(metadata) > SHOWN:
            say(f"  and {len(metadata) - SHOWN} more; --json shows all")


@request_command(app, ExportRequest, epilog="Example: lcifr model export producer consumer --out model.onnx")
def export(request: ExportRequest, call: Call) -> None:
    """Export a trained network as ONNX: from the table's columns to z or, with CONSUMER, to the decision."""
    call.print(export_folders(request), _show_exported)


def _show_exported(found: ExportedModel) -> None:
    say(
        f"{found.file} takes {len(found.inputs)} columns by name, returns {' and '.join(found.outputs)}, and computes "
        f"in {found.arithmetic}. sha256 {found.sha256}"
    )
