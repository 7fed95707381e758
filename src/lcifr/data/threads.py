"""Thread pool over columns and chunks of large tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

WORTH_THREADS = 20_000  # rows; below this, starting threads costs more than they save


def map_in_threads(work: Callable[[Item], Result], items: Iterable[Item], *, rows: int) -> list[Result]:
    """``work`` applied to every item, in order; in threads for large tables (Arrow and numpy release the GIL)."""
    if rows < WORTH_THREADS:
        return [work(item) for item in items]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # more threads than cores only wait for the GIL
        return list(pool.map(work, items))
