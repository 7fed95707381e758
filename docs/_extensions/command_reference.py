"""The command reference: every command, argument and option, taken from the command line itself."""

from __future__ import annotations

import re
from typing import Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from lcifr.cli import every_command

KINDS = {
    "<int range>": "N",
    "<int>": "N",
    "<float range>": "X",
    "<float>": "X",
    " <path>": "",
    " <str>": "",
    "<str>": "TEXT",
}
"""How `--help` shows kinds of values, and what a page writes instead."""


def reference() -> str:
    """The whole reference as Markdown."""
    return "\n\n".join(_section(name, command) for name, command in every_command())


def _section(name: str, command: Any) -> str:
    context = typer.Context(command, info_name=f"lcifr {name}")
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    arguments = [_entry(one, context) for one in shown if one.param_type_name == "argument"]
    options = [_entry(one, context) for one in shown if one.param_type_name == "option"]
    usage = f"```text\n{' '.join(command.get_usage(context).split()).removeprefix('Usage: ')}\n```"
    parts = [f"## lcifr {name}", _plain(command.help), usage, *_examples(command.epilog or "")]
    for title, entries in (("Arguments", arguments), ("Options", options)):
        parts += [f"**{title}**", *entries] if entries else []
    return "\n\n".join(parts)


def _examples(epilog: str) -> list[str]:
    """Commands of the epilog as blocks that can be copied; what else it says as text."""
    parts: list[str] = []
    for paragraph in filter(None, (" ".join(one.split()) for one in epilog.split("\n\n"))):
        words, found, rest = paragraph.partition("lcifr ")
        said = words.strip()
        parts += [_plain(said)] if said else []
        parts += [f"```sh\n{found}{rest}\n```"] if found else []
    return parts


def _entry(parameter: Any, context: Any) -> str:
    """One definition: how it is written, then what `--help` says about it."""
    written, said = parameter.get_help_record(context)
    for shown, better in KINDS.items():
        written = written.replace(shown, better)
    names = [f"`{name.strip()}`" for name in written.split(" / ")]
    return f"{' / '.join(names)}\n: {_plain(said).replace('  ', ' ').strip() or '–'}"


def _plain(text: str | None) -> str:
    """Help without the markup of rich, and with nothing that Markdown would take for its own."""
    without = re.sub(r"\[/?(?:bold|italic|dim|green|red|cyan)\]", "", text or "")
    marked = re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)(?![\w`-])", r"`\1`", without)
    apart = re.split(r"(`[^`]*`)", marked)
    return "".join(one if one.startswith("`") else re.sub(r"([*_<>\[\]|])", r"\\\1", one) for one in apart)


class CommandReference(SphinxDirective):
    """``{command-reference}`` stands for the reference of all commands."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        """Parse the generated Markdown where the directive stands."""
        return self.parse_text_to_nodes(reference(), allow_section_headings=True)


def setup(app: Any) -> dict[str, bool]:
    """Register the directive with Sphinx."""
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True}
