"""The command line, one file per command: options, wording and exit codes; the work is in :mod:`lcifr.workflows`.

A command is a module of this folder and an entry of ``COMMANDS``; the module is imported when its command is called, so
``lcifr --help`` answers at once. It defines ``app``, a ``typer.Typer`` with one command of the module's name, or with
several (``lcifr data list``). What commands share is in :mod:`lcifr.cli.options` and :mod:`lcifr.cli.output`.

Exit codes: 0 fine, 1 the answer is no (a counterexample, a table with problems), 2 wrong use, 3 some undecided; 70 a
fault of lcifr itself, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Iterator
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from lcifr.cli.output import keep_stdout_for_results, on_terminal, to_stderr
from lcifr.errors import LcifrError, missing_extra, system_error

COMMANDS = {
    "audit": "Prove for each person that everyone similar gets the same decision, or show a counterexample.",
    "certify": "Decide about new people with saved models, and certify the decisions.",
    "check": "Recompute every proof in a bundle in exact arithmetic, independently of the rest of lcifr.",
    "consume": "Train a classifier or regressor on a hand-over and labels, and certify its decisions.",
    "demo": "Train three models on the built-in German credit data, audit them, and check the proofs.",
    "doctor": "Show versions, optional packages and the GPU, and test every solver on questions with known answers.",
    "init": "Draft a schema (.toml) and a similarity formula (.phi) for a table, for you to correct.",
    "produce": "Train an encoder or booster on a table and φ, prove everyone's radius, and write the hand-over.",
    "repeat": "Repeat the run that wrote FOLDER, with the same settings and files, into a new folder.",
    "report": "Write a report on an audit or a sweep: one page with the results, for people who were not involved.",
    "represent": "Write a hand-over for new people, z and proved radius, with an encoder trained earlier.",
    "sweep": "Prove or refute that similar people get the same decision, for everyone who could exist.",
    "tune": "Train models with increasing weight on certification, compare them with two baselines, and choose one.",
    "workbench": "Write formulas, inspect models, and run and explore audits in a browser.",
    "data": "List, fetch and check datasets and tables.",
    "evidence": "Pack, sign and verify audits, and audit by sample.",
    "model": "Inspect model files, and export models that lcifr trained.",
    "phi": "List, explain and check similarity formulas.",
}
"""Every command or group of commands, with what ``lcifr --help`` says of it: the first paragraph of its own help."""

WRONG_USE, FAULT, STOPPED = 2, 70, 130
TRACEBACK = "LCIFR_TRACEBACK"  # set it to see where a fault comes from


class _Root(TyperGroup):
    """The commands by name, each loaded when it is called; errors that lcifr raises on purpose have no traceback."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, summary in COMMANDS.items():
            self.add_command(TyperCommand(name, help=summary, rich_markup_mode="rich"))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The loaded command in the place of the one that only has a name and a summary."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, None if command is None else load(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            with on_terminal():
                return super().invoke(ctx)
        except LcifrError as error:
            to_stderr(f"Error: {error}")
            raise typer.Exit(WRONG_USE) from None
        except KeyboardInterrupt as stopped:
            from lcifr.workflows.folders import RunStopped

            to_stderr(f"\n{stopped}" if isinstance(stopped, RunStopped) else "\nStopped.")
            raise typer.Exit(STOPPED) from None
        except BrokenPipeError:  # the reader of stdout has seen enough
            raise
        except OSError as error:
            to_stderr(f"Error: {system_error(error)}")
            raise typer.Exit(WRONG_USE) from None
        except Exception as error:
            if type(error).__module__.split(".")[0] in ("click", "typer") or os.environ.get(TRACEBACK):
                raise
            if isinstance(error, ModuleNotFoundError):
                error = missing_extra(error, "this command")
            if isinstance(error, LcifrError):
                to_stderr(f"Error: {error}")
                raise typer.Exit(WRONG_USE) from None
            to_stderr(f"Error: lcifr has a bug: {type(error).__name__}: {error}")
            to_stderr(f"Fix: run it again with {TRACEBACK}=1 and report what it prints")
            raise typer.Exit(FAULT) from None


def build() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        name="lcifr",
        cls=_Root,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_show_locals=False,
    )
    app.callback()(_root)
    return app


def load(name: str) -> Any:
    """A command or a group of commands by its name, as click has it."""
    app = importlib.import_module(f"{__name__}.{name}").app
    for command in app.registered_commands:
        command.help = command.help or _flowing(command.callback)
    loaded = typer.main.get_command(app)
    loaded.name = name
    return loaded


def every_command() -> Iterator[tuple[str, Any]]:
    """Every command with its words, ``data list`` for one of a group."""
    for name in sorted(COMMANDS):
        loaded = load(name)
        if isinstance(loaded, TyperGroup):
            yield from ((f"{name} {inner}", command) for inner, command in sorted(loaded.commands.items()))
        else:
            yield name, loaded


def _flowing(command: Any) -> str:
    """A command's help text with its paragraphs in one line each: they are broken where the terminal ends."""
    text = inspect.getdoc(command) or ""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"lcifr {version('lcifr')}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Prove that a model gives similar people the same decision."""


def main() -> None:
    """Run the command line."""
    keep_stdout_for_results()
    build()()
