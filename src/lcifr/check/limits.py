"""How much a foreign file may ask for: what docs/design/proofs.md allows at most, and a count of the work."""

import math

MOST, LETTERS = 1_000_000, 200  # people of a bundle, letters of an id
BYTES, VALUES, LONGER = 16 << 20, 250_000, 1_000_000  # of a JSON file; values of one person's line
EXPANDED, FREE = 250, 16 << 20  # bytes from one byte of gzip, once more than the second number came out
COLUMNS, LAYERS, OUTPUTS, WEIGHTS = 10_000, 32, 1_000, 1 << 26  # features; of a network; bits of all its weights
DEEP, CELLS, DIGITS = 100, 512, 4_096  # nodes of φ inside each other, cells of a person, bits of a fraction
STEPS = 50_000_000  # of work for one person, each below a tenth of a microsecond


class Limit(Exception):
    """More than a limit allows: the whole bundle is refused, whoever it came up with."""


def at_most(most: float, found: float, what: str) -> None:
    """Refuse what is beyond a limit, before any work is done on it."""
    if found > most:
        raise Limit(f"beyond a limit: at most {most:,} {what}")


class StepCounter:
    """Counts steps before they are taken, so that no file decides how long the checker runs, or how much it holds."""

    def __init__(self, most: float = math.inf) -> None:
        self.most, self.done = most, 0

    def spend(self, steps: int) -> None:
        """About to take so many more."""
        self.done += steps
        at_most(self.most, self.done, "steps of work for one person")


UNCOUNTED = StepCounter()
