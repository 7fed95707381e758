"""The command line, one file per command.

Every module of this folder is a command; what commands share lies in :mod:`lcifr.cli.terminal`. A command defines
either ``app``, a ``typer.Typer`` whose commands appear under the module's name (``lcifr data list``), or
``register(app)``, which adds what it likes to the root. A folder with an ``app`` is a group of commands: its modules
``register`` themselves with it (``lcifr evidence sign``). A folder without one (``preparing``) only keeps related
commands together. A command holds options, wording and exit codes; its work is a function of :mod:`lcifr.runs`. Heavy
packages are imported inside the commands: ``lcifr --help`` answers at once.

Exit codes: 0 fine, 1 the answer is no (a counterexample, a table with problems), 2 wrong use, 3 some undecided; 70 a
fault of lcifr itself, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lcifr.cli.terminal.output import to_stderr
from lcifr.cli.terminal.result_stream import keep_stdout_for_results
from lcifr.errors import LcifrError, system_error

WRONG_USE, FAULT, STOPPED = 2, 70, 130
SHARED = "terminal"  # the one folder that is no group of commands
TRACEBACK = "LCIFR_TRACEBACK"  # set it to see where a fault comes from


class _PlainErrors(TyperGroup):
    """Errors that lcifr raises on purpose are messages to a person: no traceback."""

    def invoke(self, ctx: Any) -> Any:
        from lcifr.cli.terminal.output import on_terminal
        from lcifr.runs.folders.run import RunStopped

        try:
            with on_terminal():
                return super().invoke(ctx)
        except LcifrError as error:
            to_stderr(f"Error: {error}")
            raise typer.Exit(WRONG_USE) from None
        except KeyboardInterrupt as stopped:
            to_stderr(f"\n{stopped}" if isinstance(stopped, RunStopped) else "\nStopped.")
            raise typer.Exit(STOPPED) from None
        except BrokenPipeError:  # whoever read along has seen enough
            raise
        except OSError as error:
            to_stderr(f"Error: {system_error(error)}")
            raise typer.Exit(WRONG_USE) from None
        except Exception as error:
            if type(error).__module__.split(".")[0] in ("click", "typer") or os.environ.get(TRACEBACK):
                raise
            to_stderr(f"Error: lcifr has a bug: {type(error).__name__}: {error}")
            to_stderr(f"Fix: run it again with {TRACEBACK}=1 and report what it prints")
            raise typer.Exit(FAULT) from None


def build() -> typer.Typer:
    """The whole command line, its commands found by looking at this folder."""
    app = typer.Typer(
        name="lcifr",
        cls=_PlainErrors,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_show_locals=False,
    )
    app.callback()(_root)
    for name, module in sorted(_commands(__name__, __path__), key=lambda found: found[0]):
        _add(app, name, module)
    for group in (app, *(found.typer_instance for found in app.registered_groups)):
        for command in group.registered_commands if group else ():
            command.help = command.help or _flowing(command.callback)
    return app


def _commands(package: str, path: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The modules of commands by name: those of a folder, and of the folders in it that are no groups themselves."""
    for found in pkgutil.iter_modules(path):
        if found.name == SHARED or found.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package}.{found.name}")
        if found.ispkg and not hasattr(module, "app"):
            yield from _commands(module.__name__, module.__path__)
        else:
            yield found.name, module


def _flowing(command: Any) -> str:
    """A command's help text with its paragraphs in one line each: they are broken where the terminal ends."""
    text = inspect.getdoc(command) or ""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _add(app: typer.Typer, name: str, module: Any) -> None:
    if hasattr(module, "register"):
        module.register(app)
    elif hasattr(module, "app"):
        _fill(module)
        app.add_typer(module.app, name=name.replace("_", "-"))
    else:
        raise LcifrError(f"cli/{name}.py is no command", fix="define app or register(app) in it")


def _fill(module: Any) -> None:
    """Let the modules of a group that is a folder add their commands, unless the group was built before."""
    found = [] if module.app.registered_commands else pkgutil.iter_modules(getattr(module, "__path__", ()))
    for name in sorted(one.name for one in found):
        importlib.import_module(f"{module.__name__}.{name}").register(module.app)


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
