"""What one checkout measures about its engine, in a process of its own: a job on stdin, figures on stdout, both JSON.

Started by :mod:`benchmarks.engine.checkouts` as a file, with the source of one checkout in sight. It uses names that
``lcifr`` exports (for bundles, three more), so that older checkouts can be asked as well.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

import lcifr
import lcifr.datasets

Job = dict[str, Any]
Figures = dict[str, Any]


class Scene:
    """The people of a job, their regions, and its networks."""

    def __init__(self, job: Job) -> None:
        data = lcifr.datasets.load(job["dataset"])
        self.encoding = lcifr.Encoding.fit(data.train.X, data.schema)
        self.similarity = lcifr.Similarity.ready(job["similarity"], data.schema, self.encoding)
        index = np.asarray(job["people"])
        self.people = data.test.X.iloc[index]
        with np.load(job["weights"]) as arrays:
            self.encoder, self.head = (_network(arrays, name) for name in ("encoder", "head"))

    @property
    def producer(self) -> Any:
        """What ``audit`` takes for an encoder; where the job has none, people go to the model as they are encoded."""
        width = len(self.encoding.features)
        identity = lcifr.Network.from_arrays([(np.eye(width), np.zeros(width))])
        return SimpleNamespace(
            network=self.encoder or identity, similarity=self.similarity, encoding=self.encoding, whole_numbers=False
        )


def _network(arrays: Any, name: str) -> Any:
    count = sum(key.startswith(f"{name}.weight") for key in arrays)
    pairs = [(arrays[f"{name}.weight.{i}"], arrays[f"{name}.bias.{i}"]) for i in range(count)]
    return lcifr.Network.from_arrays(pairs) if pairs else None


def measure_radius(job: Job) -> Figures:
    """Exact radii, or on which side of a target each lies, of everybody in one call."""
    scene = Scene(job)
    x, region = scene.encoding.encode(scene.people), scene.similarity.region(scene.people)
    options = {"tolerance": job["tolerance"], "proof": job.get("proof", False), "budget": job.get("nodes")}
    if "targets" in job:
        options["target"] = np.asarray(job["targets"])
    warm = {**options, "target": options["target"][:2]} if "targets" in job else options
    lcifr.radius(scene.encoder, x[:2], region.take(slice(2)), **warm)
    spent = []
    for _ in range(job.get("rounds", 1)):
        start = time.process_time()
        found = lcifr.radius(scene.encoder, x, region, **options)
        spent.append(time.process_time() - start)
    return {
        "seconds": min(spent) / len(x),
        "radius": found.radius.tolist(),
        "nodes": found.nodes.tolist(),
        "exact": found.exact.tolist(),
    }


def measure_audit(job: Job) -> Figures:
    """Verdicts from end to end of everybody in one call."""
    scene = Scene(job)
    lcifr.audit(scene.producer, scene.head, scene.people.iloc[:2], modular=False)
    spent = []
    for _ in range(job.get("rounds", 1)):
        start = time.process_time()
        found = lcifr.audit(scene.producer, scene.head, scene.people, modular=False)
        spent.append(time.process_time() - start)
    return {"seconds": min(spent) / len(scene.people), "verdict": [str(one) for one in found.verdict]}


def measure_search(job: Job) -> Figures:
    """The question of a verdict about everybody in one call, given their regions."""
    scene = Scene(job)
    x, region = scene.encoding.encode(scene.people), scene.similarity.region(scene.people, whole_numbers=True)
    away = np.where(scene.head(x)[:, 0] > 0, -1.0, 1.0)[:, None, None]
    lcifr.maximize(scene.head, away[:2], region.take(slice(2)), target=0.0, method="branch")
    spent = []
    for _ in range(job.get("rounds", 1)):
        start = time.process_time()
        lcifr.maximize(scene.head, away, region, target=0.0, method="branch")
        spent.append(time.process_time() - start)
    return {"seconds": min(spent) / len(x)}


def measure_each(job: Job) -> Figures:
    """The question of a verdict, person by person: seconds, nodes and whether it was decided."""
    scene = Scene(job)
    network = scene.head
    x = scene.encoding.encode(scene.people)
    region = scene.similarity.region(scene.people, whole_numbers=job.get("whole", True))
    away = np.where(network(x)[:, 0] > 0, -1.0, 1.0)[:, None, None]
    parts = [region.take([person]) for person in range(len(x))]
    lcifr.maximize(network, away[:1], parts[0], target=0.0, method="branch")
    seconds, nodes, certified, refuted = [], [], [], []
    for direction, part in zip(away, parts, strict=True):
        start = time.process_time()
        found = lcifr.maximize(network, direction[None], part, target=0.0, method="branch")
        seconds.append(time.process_time() - start)
        nodes.append(int(found.nodes.sum()))
        certified.append(bool(found.upper[0, 0] < 0))
        refuted.append(bool(found.best[0, 0] > 0))
    return {"each": seconds, "nodes": nodes, "certified": certified, "refuted": refuted}


def measure_bundle(job: Job) -> Figures:
    """Radii and verdicts of everybody, and the bundle with their proofs; seconds on the clock and of all cores."""
    from lcifr.certification.audit import audit
    from lcifr.certification.bundle import write_bundle
    from lcifr.certification.handover import FrozenEncoder, represent

    torch.set_num_threads(job.get("threads", 1))
    scene = Scene(job)
    encoder = FrozenEncoder(scene.encoder, scene.similarity)
    audit(encoder, scene.head, scene.people.iloc[:2], modular=False)
    clock, cores = time.perf_counter(), time.process_time()
    handed = represent(encoder, scene.people)
    found = audit(encoder, scene.head, scene.people, modular=handed)
    searched = time.perf_counter() - clock
    with tempfile.TemporaryDirectory() as folder:
        write_bundle(Path(folder) / "bundle", encoder, scene.people, handed, found)
        size = sum(file.stat().st_size for file in (Path(folder) / "bundle").rglob("*") if file.is_file())
    whole, cores = time.perf_counter() - clock, time.process_time() - cores
    return {"searched": searched, "whole": whole, "cores": cores, "megabytes": size / 2**20}


TASKS: dict[str, Callable[[Job], Figures]] = {
    "radius": measure_radius,
    "audit": measure_audit,
    "search": measure_search,
    "each": measure_each,
    "bundle": measure_bundle,
}


if __name__ == "__main__":
    torch.set_num_threads(1)
    asked = json.load(sys.stdin)
    figures = TASKS[asked["task"]](asked)
    print(json.dumps(figures))
