"""The words that run a command again, as the settings of a result folder keep them."""

from __future__ import annotations

import typer

NOT_REPEATED = ("out", "force", "as_json")  # say where and how results are shown, not what they are


def words_of(context: typer.Context) -> tuple[str, ...]:
    """The words after ``lcifr`` that say the same again, defaults included."""
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
    return (*words, "--", *positional)
