"""Results to stdout, for people or as JSON for machines; everything else to stderr."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lcifr.drawing.text import visible

if TYPE_CHECKING:
    from rich.console import Console

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def console() -> Console:
    """Stdout, for people. Text is printed as it is: square brackets are no markup."""
    from rich.console import Console

    return Console(markup=False, highlight=False)


def stderr() -> Console:
    """For progress bars: they are no results."""
    from rich.console import Console

    return Console(stderr=True)


def print_json(value: Any) -> None:
    """Stdout, for machines: one JSON value."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def say(text: str) -> None:
    """Stdout, for people, a line: control characters in names and categories are spelled out, not obeyed."""
    typer.echo(visible(text))


def to_stderr(message: str) -> None:
    """What is not a result: errors, warnings, progress."""
    typer.echo(visible(message), err=True)


def command(*words: object) -> str:
    """A command to paste into a shell, whatever the names in it are."""
    return shlex.join(["lcifr", *(str(word) for word in words)])
