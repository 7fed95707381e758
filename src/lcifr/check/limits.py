"""How much a foreign file may ask for: what docs/design/proofs.md allows at most, and a count of the work."""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST, LETTERS = 1_000_000, 200  # people of a bundle, letters of an id
BYTES, VALUES, LONGER = 16 << 20, 250_000, 1_000_000  # of a JSON file; values of one person's line
COLUMNS, LAYERS, OUTPUTS, WEIGHTS = 10_000, 32, 1_000, 1 << 26  # features; of a network; bits of all its weights
DEEP, CELLS, DIGITS = 100, 512, 4_096  # nodes of φ inside each other, cells of a person, bits of a fraction
STEPS = 50_000_000  # of work for one person, each below a tenth of a microsecond


class Limit(Exception):
    """More than a limit allows: the whole bundle is refused, whoever it came up with."""


def at_most(most: float, found: float, what: str) -> None:
    """Refuse what is beyond a limit, before any work is done on it."""
    if found > most:
        raise Limit(f"beyond a limit: at most {most:,} {what}")


class StepCounter(threading.local):
    """Counts steps before they are taken, so that no file decides how long the checker runs, or how much it holds."""

    most, done = math.inf, 0


COUNTER = StepCounter()  # of this thread


@contextmanager
def counted(most: float) -> Iterator[None]:
    """Work that takes so many steps at most."""
    COUNTER.most, COUNTER.done = most, 0
    try:
        yield
    finally:
        COUNTER.most = math.inf


def spend(steps: int) -> None:
    """About to take so many more steps."""
    COUNTER.done += steps
    at_most(COUNTER.most, COUNTER.done, "steps of work for one person")
