"""Encoding a million people of Adult's schema against pandas reading the same rows from CSV.

The table is in memory on one side and in a file on the other: the claim is that encoding costs less than what anybody
already pays for reading. The gate (every check of every value) is part of the encoding's time. The matrix of a million
people is 832 MB; what the system takes to hand out that much fresh memory is shown apart.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd

from lcifr.data import Categorical, Encoding, Schema
from lcifr.datasets import find, load
from lcifr.errors import DatasetError

ROWS = 1_000_000
ROUNDS = 7  # single rounds differ by a factor of two on a busy machine, so the medians are compared


def people(rows: int, seed: int = 0) -> tuple[pd.DataFrame, str]:
    """Adult resampled where its files are here, else drawn from its schema; and which of the two it was."""
    random = np.random.default_rng(seed)
    try:
        train = load("adult").train.X
    except DatasetError:
        return _drawn(find("adult").schema, rows, random), "drawn from the schema"
    return train.iloc[random.integers(0, len(train), rows)].reset_index(drop=True), "resampled from the data"


def _drawn(schema: Schema, rows: int, random: np.random.Generator) -> pd.DataFrame:
    columns = {
        attribute.name: np.array(attribute.values)[random.integers(0, len(attribute.values), rows)]
        if isinstance(attribute, Categorical)
        else random.integers(0, 100_000, rows)
        for attribute in schema
    }
    return pd.DataFrame(columns)


def interleaved(actions: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """The seconds of every round of every action, taking turns so that a busy spell of the machine meets them all."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for action, seconds in zip(actions, times, strict=True):
            gc.collect()
            start = time.perf_counter()
            action()
            seconds.append(time.perf_counter() - start)
    return times


def main(rows: int = ROWS, rounds: int = ROUNDS) -> float:
    """Measure all sides in one run and print them; the ratio of encoding to reading, in medians."""
    frame, origin = people(rows)
    encoding = Encoding.fit(frame, find("adult").schema)
    matrix = encoding.encode(frame)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        frame.to_csv(path, index=False)
        if len(pd.read_csv(path)) != rows or len(matrix) != rows:  # also warms both sides up
            raise RuntimeError("the two sides do not handle the same rows")
        actions = {
            "pandas.read_csv": lambda: pd.read_csv(path),
            "encode into a matrix at hand": lambda: encoding.encode(frame, out=matrix),
            "encode into fresh memory": lambda: encoding.encode(frame),
        }
        times = dict(zip(actions, interleaved(list(actions.values()), rounds), strict=True))
    read = median(times["pandas.read_csv"])
    print(f"{rows:,} people of Adult's schema ({origin}), {len(encoding.features)} features, {rounds} rounds in turns")
    for name, seconds in times.items():
        spread = f"from {min(seconds):.2f} to {max(seconds):.2f}"
        print(f"  {name:28}  median {median(seconds):.2f} s, {spread}, {median(seconds) / read:.2f} × reading")
    return median(times["encode into a matrix at hand"]) / read


if __name__ == "__main__":
    main()
