"""Every command of the command line."""

from __future__ import annotations

from lcifr.cli import every_command

COMMANDS = dict(every_command())
