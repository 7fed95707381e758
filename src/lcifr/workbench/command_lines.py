"""Command lines that do what the workbench does, to be shown, pasted and run."""

from __future__ import annotations

import shlex
from typing import Any


def command_words(*words: Any, **options: Any) -> list[str]:
    """The words after ``lcifr``: the command and its arguments, then options whose value is not empty.

    Values stand in the word of their option, so that none is taken for an option itself.
    """
    given: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            given.append(flag)
        elif value is not None and value is not False and value != "":
            given.append(f"{flag}={value}")
    return [str(word) for word in words] + given


def command_line(*words: Any, **options: Any) -> str:
    """The same as one line for a shell."""
    return shlex.join(["lcifr", *command_words(*words, **options)])
