"""The command that is being run, as the settings of a result folder keep it."""

from __future__ import annotations

import typer

from lcifr.runs.folder import Command

NOT_REPEATED = ("out", "force", "as_json")  # say where and how results are shown, not what they are


def command_of(context: typer.Context) -> Command:
    """Name and arguments of this command, and the words that would run it again."""
    arguments = {name: value for name, value in context.params.items() if name not in NOT_REPEATED}
    return Command(str(context.info_name), arguments, tuple(_words(context)))


def words_of(context: typer.Context) -> tuple[str, ...]:
    """The words after ``lcifr`` that say the same again, defaults included."""
    return tuple(_words(context))


def _words(context: typer.Context) -> list[str]:
    positional, words = [], [str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if parameter.name in NOT_REPEATED or value is None or value == ():
            continue
        values = list(value) if isinstance(value, list | tuple) else [value]
        if parameter.param_type_name == "argument":
            positional += [str(one) for one in values]
        elif isinstance(value, bool):
            words += [parameter.opts[0]] if value else parameter.secondary_opts[:1]
        else:
            words += [f"{max(parameter.opts, key=len)}={one}" for one in values]
    return [*words, "--", *positional]
