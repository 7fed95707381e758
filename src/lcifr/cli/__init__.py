"""How is it used from a shell? The command line, one file per command.

Every module of this folder whose name does not begin with an underscore is a command. It defines either ``app``, a
``typer.Typer`` whose commands appear under the module's name (``lcifr data list``), or ``register(app)``, which adds
what it likes to the root. Heavy packages are imported inside the commands, so that ``lcifr --help`` answers at once.

Exit codes: 0 fine, 1 the answer is no (a counterexample, a table with problems), 2 wrong use, 3 some undecided.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lcifr.cli._output import to_stderr
from lcifr.errors import LcifrError

WRONG_USE = 2


class _PlainErrors(TyperGroup):
    """Errors that lcifr raises on purpose are messages to a person: no traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except LcifrError as error:
            to_stderr(f"Error: {error}")
            raise typer.Exit(WRONG_USE) from None


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
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        if not module.name.startswith("_"):
            _add(app, module.name, importlib.import_module(f"{__name__}.{module.name}"))
    return app


def _add(app: typer.Typer, name: str, module: Any) -> None:
    if hasattr(module, "register"):
        module.register(app)
    elif hasattr(module, "app"):
        app.add_typer(module.app, name=name.replace("_", "-"))
    else:
        raise LcifrError(f"cli/{name}.py is no command", fix="define app or register(app) in it")


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
    """Say who is similar, and prove that similar people get the same decision."""


def main() -> None:
    """Run the command line."""
    build()()
