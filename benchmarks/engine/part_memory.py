"""How much memory the engine takes beyond what it is given and what it hands back, measured in a fresh process."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np
from benchmarks._memory import peak
from benchmarks.engine.options import Options

from lcifr import Network, Region, radius

FEATURES, MOVING, VALUES = 104, 6, 2


def run(options: Options) -> None:
    """Populations of growing size."""
    print("working memory of verdicts, Adult-shaped 20+20, without x, region and result")
    for people in (10_000, 40_000, 160_000):
        count = options.people(people)
        print(f"  {count:,} people {working_memory(count):8.1f} MB", flush=True)


def working_memory(people: int) -> float:
    """Peak MB of exact verdicts for so many people of Adult's shape, less x, region and result."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measure, (people,))


def _measure(people: int) -> float:
    random = np.random.default_rng(0)
    network = Network.from_arrays(
        [
            (random.normal(size=(20, FEATURES)) / 10, random.normal(size=20) / 3),
            (random.normal(size=(20, 20)) / 4, [0.0] * 20),
        ]
    )

    region, x = _people(people, random)
    small, few = _people(2, random)
    radius(network, few, small, target=5.0)  # loads everything once
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from what is held now (Linux)
    before = peak()
    found = radius(network, x, region, target=5.0)
    after = peak()
    result = sum(part.nbytes for part in vars(found).values() if isinstance(part, np.ndarray))
    return (after - before) / 1024 - result / 2**20


def _people(count: int, random: np.random.Generator) -> tuple[Region, np.ndarray]:
    lower, upper = np.zeros((count, FEATURES)), np.zeros((count, FEATURES))
    middle = random.normal(size=(count, FEATURES - VALUES))
    lower[:, :-VALUES], upper[:, :-VALUES] = middle, middle
    lower[:, :MOVING] -= 0.3
    upper[:, :MOVING] += 0.3
    upper[:, -VALUES:] = 1.0
    x = (lower + upper) / 2
    x[:, -VALUES:] = np.arange(VALUES) == 0
    free = (np.arange(FEATURES - VALUES, FEATURES), np.ones((count, VALUES), dtype=bool))
    return Region.from_arrays(lower, upper, [free]), x
