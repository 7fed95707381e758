"""How far a large run is: people per second and the time left, on stderr."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def people_bar(shown: bool, total: int | None) -> Iterator[Any]:
    """A function to call with how many people are done, and whether they were worked on or found."""
    if not shown:
        yield lambda people, worked=True: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("people"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]} per second"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task, begun, done = bar.add_task("", total=total, rate="–"), time.monotonic(), 0

        def advance(people: int, *, worked: bool = True) -> None:
            nonlocal done
            if not worked:  # who was found says nothing about the pace, so the time left is not judged by them
                bar.reset(task, completed=int(bar.tasks[0].completed) + people)
                return
            done += people
            bar.update(task, advance=people, rate=f"{done / max(time.monotonic() - begun, 1e-9):,.0f}")

        yield advance
