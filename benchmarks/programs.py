"""What each way to solve the linear program of a node is worth: time and exact answers with it and without.

The batched engine solves the programs of one hidden layer by a batched interior point, and by HiGHS's simplex method
where few of them are cut by constraints; for deeper networks HiGHS gives the multipliers of leaves. The compiled
kernel has a simplex method of its own. Everything is timed in one process, on the same people and weights; CPU time.

    python -m benchmarks programs
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import torch
from benchmarks.rows import BOX, FORMULAS, SAME

import lcifr.datasets
from lcifr.data import Encoding
from lcifr.models.network import Network
from lcifr.prove import radius
from lcifr.regions.region import Region
from lcifr.similarity.similarity import Similarity

INTERIOR = "lcifr.prove.networks.linear_bounds.interior"
WAYS: dict[str, dict[str, object]] = {
    "as it is": {},
    "interior point only": {f"{INTERIOR}._few": lambda program: False},
    "HiGHS simplex only": {f"{INTERIOR}._few": lambda program: True},
    "no programs for leaves": {"lcifr.prove.networks.batched.leaf.LAST": -1},
    "no compiled kernel": {"lcifr.prove.networks.kernel.covers": lambda *_: False},
}


@dataclass(frozen=True)
class Setting:
    """People, layers, whether proofs are written, nodes, and the ways that can make a difference."""

    name: str
    phi: str
    people: int
    widths: tuple[int, ...]
    proof: bool
    nodes: int
    ways: tuple[str, ...]


PROGRAMS = ("as it is", "interior point only", "HiGHS simplex only")
LEAVES = (*PROGRAMS, "no programs for leaves")
KERNEL = ("as it is", "no compiled kernel")
SETTINGS = (
    Setting("one hidden layer, no proof", f"{SAME} and {BOX}", 100, (20, 4), False, 20_000, KERNEL),
    Setting("one hidden layer, proof", f"{SAME} and {BOX}", 100, (20, 4), True, 20_000, PROGRAMS),
    Setting("one hidden layer, a row, proof", FORMULAS["a row"], 20, (20, 4), True, 20_000, PROGRAMS),
    Setting("one hidden layer, an equation, proof", FORMULAS["an equation"], 20, (20, 4), True, 20_000, PROGRAMS),
    Setting("60 wide, a row, proof", FORMULAS["a row"], 20, (60, 10), True, 2_000, PROGRAMS),
    Setting("200 wide, proof", f"{SAME} and {BOX}", 20, (200, 20), True, 300, PROGRAMS),
    Setting("two hidden layers", f"{SAME} and {BOX}", 10, (20, 20, 4), False, 2_000, LEAVES),
    Setting("two hidden layers, a row", FORMULAS["a row"], 5, (20, 20, 4), False, 1_000, LEAVES),
)


@contextmanager
def only(way: str) -> Iterator[None]:
    """The engine in one way."""
    patches = [patch(place, value) for place, value in WAYS[way].items()]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def draw_network(inputs: int, widths: tuple[int, ...]) -> Network:
    """Weights drawn by seed."""
    draw, layers = np.random.default_rng(0), []
    for width in widths:
        layers.append((draw.normal(size=(width, inputs)) / inputs**0.5, draw.normal(size=width) / 4))
        inputs = width
    return Network.from_arrays(layers)


def measure(setting: Setting, way: str, x: np.ndarray, region: Region) -> tuple[float, float, float]:
    """CPU milliseconds per person, the share of exact radii, and the mean radius."""
    network = draw_network(x.shape[1], setting.widths)
    with only(way):
        radius(network, x[:1], region.take(slice(1)), proof=setting.proof, budget=setting.nodes)  # loads and compiles
        start = time.process_time()
        found = radius(network, x, region, proof=setting.proof, budget=setting.nodes)
        spent = time.process_time() - start
    return 1e3 * spent / len(x), float(found.exact.mean()), float(found.radius.mean())


def main() -> None:
    """Print one row for every setting and way."""
    torch.set_num_threads(1)
    data = lcifr.datasets.load("german")
    encoding = Encoding.fit(data.train.X, data.schema)
    for setting in SETTINGS:
        frame = data.test.X.iloc[: setting.people]
        region = Similarity(setting.phi, data.schema, encoding).region(frame)
        x = encoding.encode(frame)
        print(f"{setting.name} ({setting.people} people)")
        for way in setting.ways:
            spent, exact, mean = measure(setting, way, x, region)
            print(f"  {way:24s} {spent:10.2f} ms per person, {exact:5.0%} exact, mean radius {mean:.6f}", flush=True)


if __name__ == "__main__":
    main()
