"""Stdout kept for results: what native libraries print there goes to stderr instead."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

STDOUT, STDERR = 1, 2


def keep_stdout_for_results() -> None:
    """Let only Python write to stdout.

    A solver that prints a line of its own, past Python, would otherwise stand among the results, and in the middle of
    the JSON that ``--json`` promises.
    """
    stream = sys.stdout
    with suppress(OSError, ValueError, AttributeError):  # closed, or no file at all: then there is nothing to keep
        if stream.fileno() != STDOUT:
            return
        stream.flush()
        kept = os.dup(STDOUT)
        os.dup2(STDERR, STDOUT)
        sys.stdout = os.fdopen(kept, "w", 1 if stream.isatty() else -1, encoding=stream.encoding, errors=stream.errors)
