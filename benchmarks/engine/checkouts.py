"""The same job in several checkouts, each in a process of its own with only its own source in sight."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.models.network import Network

HERE = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Job:
    """A task of :mod:`benchmarks.engine.worker` about some test people of a data set.

    Parameters
    ----------
    encoder : or None, where the model takes people as they are encoded. head : the model, for verdicts.
    options : what the task takes besides.
    """

    task: str
    dataset: str
    similarity: str
    people: np.ndarray
    encoder: Network | None = None
    head: Network | None = None
    options: dict[str, Any] | None = None


def ask(job: Job, checkout: Path = HERE, threads: int = 1) -> dict[str, Any]:
    """The figures of one checkout."""
    with _weights(job) as file:
        asked = {
            "task": job.task,
            "dataset": job.dataset,
            "similarity": job.similarity,
            "people": [int(one) for one in job.people],
            "weights": str(file),
            **(job.options or {}),
        }
        done = subprocess.run(
            [sys.executable, str(WORKER)],
            input=json.dumps(asked),
            env={**os.environ, "PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": str(threads)},
            cwd=checkout,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise SystemExit(f"{checkout}, {job.task} of {job.dataset}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def _weights(job: Job) -> Iterator[Path]:
    arrays = {}
    for name, network in (("encoder", job.encoder), ("head", job.head)):
        for index, layer in enumerate(network.layers if network else ()):
            arrays[f"{name}.weight.{index}"], arrays[f"{name}.bias.{index}"] = layer.weight, layer.bias
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "weights.npz"
        np.savez(file, **arrays)
        yield file
