"""Every command of the command line."""

from __future__ import annotations

import typer.main

from lcifr.cli import build


def commands(group=None, before=()):
    """Every command with its words."""
    group = group or typer.main.get_command(build())
    for name, command in sorted(group.commands.items()):
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


COMMANDS = dict(commands())
