"""Streamed runs: the peak memory of hand-over and audit at 80,000 and 640,000 people, each in a process of its own.

The claim: memory does not grow with the table. German's test people are drawn again and again, each with an id of their
own, in Parquet files. The smaller run has ten parts, so that what is filled once is full.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks._memory import peak, run_alone

SIZES = (80_000, 640_000)
GROUP = 65_536  # rows that Parquet keeps together; in both files alike
ID = "who"


def work(folder: Path, what: str) -> None:
    """One run, in a fresh process: prints its peak in kB and its CPU seconds."""
    from sklearn.linear_model import LogisticRegression

    from lcifr.certification.handover import FrozenEncoder
    from lcifr.data import Encoding
    from lcifr.datasets import load
    from lcifr.models.network import Network
    from lcifr.phi.similarity import Similarity
    from lcifr.workflows.jobs import audit_file, represent_file

    data = load("german")
    encoding = Encoding.fit(data.train.X, data.schema)
    random = np.random.default_rng(0)
    features = len(encoding.features)
    network = Network.from_arrays(
        [(random.normal(size=(8, features)) / 8, np.zeros(8)), (random.normal(size=(4, 8)) / 2, np.zeros(4))]
    )
    encoder = FrozenEncoder(network, Similarity.ready("german/noise", data.schema, encoding))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        head = LogisticRegression().fit(encoder.transform(data.train.X), data.train.y)
    start = time.process_time()
    source, target = folder / "people.parquet", folder / what
    if what == "represent":
        represent_file(encoder, source, target, id_column=ID, workers=1)
    else:
        audit_file(encoder, head, source, target, id_column=ID, workers=1)
    print(peak(), time.process_time() - start)


def measure(people: int, what: str) -> tuple[float, float]:
    """(peak MB, CPU seconds) of one run."""
    from lcifr.datasets import load

    with tempfile.TemporaryDirectory() as folder:
        table = load("german").test.X.sample(people, replace=True, random_state=0)
        table[ID] = [f"person {i:09d}" for i in range(people)]
        table.to_parquet(Path(folder) / "people.parquet", index=False, row_group_size=GROUP)
        out = run_alone("-m", "benchmarks.stream", folder, what)
    return int(out[0]) / 1024, float(out[1])


def main(sizes: tuple[int, int] = SIZES) -> dict[str, float]:
    """Print both runs at both sizes, and return what each person more adds to the peak, in bytes."""
    growth = {}
    for what in ("represent", "audit"):
        found = [measure(people, what) for people in sizes]
        for people, (most, seconds) in zip(sizes, found, strict=True):
            print(f"  {what:9} {people:7,} people  peak {most:6.0f} MB  CPU {seconds:6.1f} s")
        growth[what] = (found[1][0] - found[0][0]) * 1024**2 / (sizes[1] - sizes[0])
        print(f"  {what:9} {growth[what]:.1f} bytes of peak memory per person more")
    return growth


if __name__ == "__main__":
    if len(sys.argv) == 3:
        work(Path(sys.argv[1]), sys.argv[2])
    else:
        main()
