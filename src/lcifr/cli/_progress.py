"""A progress bar on stderr, for what takes longer than people wait in silence."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lcifr.cli._output import to_stderr

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 2.0  # seconds before a bar appears


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with (done, in all); the bar is drawn only once it has taken two seconds.

    Where stderr is no terminal, a line says what is going on instead.
    """
    start = time.monotonic()
    shown: list[tuple[Progress, TaskID]] = []

    def report(done: int, total: int) -> None:
        if not shown and (done >= total or time.monotonic() - start < PATIENCE):
            return
        if not shown:
            shown.append(_start(what, total))
        bar, task = shown[0]
        bar.update(task, completed=done)

    try:
        yield report
    finally:
        for bar, _ in shown:
            bar.stop()


def _start(what: str, total: int) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not console.is_terminal:
        to_stderr(f"{what}: {total} in all …")
    bar = Progress(console=console, transient=True, disable=not console.is_terminal)
    bar.start()
    return bar, bar.add_task(what, total=total)
