"""Exact radii where φ has linear rows over several numbers, beside categories: the engine against a plain MILP.

Both sides answer the same question about the same people of German Credit, one person at a time, on one thread: the
largest distance of four latents, by branch-and-bound, and by one mixed-integer program of HiGHS for each direction and
cell. CPU time, everything counted on either side. The engine is timed a second time with its proofs written down.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch
from benchmarks.check import parts
from threadpoolctl import threadpool_limits

from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity
from lcifr.prove import Radius, radius
from lcifr.regions.region import Region

SAME = "same(all except sex, job, housing, age, duration, credit_amount)"
BOX = "age within 5 and duration within 6 and credit_amount within 600"
FORMULAS = {
    "a sum of distances": f"{SAME} and |age - age'| + |duration - duration'| "
    "+ 0.01*|credit_amount - credit_amount'| <= 6",
    "a row": f"{SAME} and {BOX} and 100*duration' + credit_amount' <= 100*duration + credit_amount + 50",
    "an equation": f"{SAME} and {BOX} and 100*duration' + credit_amount' = 100*duration + credit_amount",
    "three cells": f"{SAME} and {BOX} and (100*duration' + credit_amount' <= 2000 or same(job, housing) and "
    "100*age' - credit_amount' = 100*age - credit_amount or |age - age'| + |duration - duration'| <= 4)",
}
PEOPLE, PROVED, SOLVED, CROWD = 60, 10, 6, 3_000


@dataclass(frozen=True)
class Timed:
    """CPU seconds per person, and what was found."""

    seconds: float
    found: list[Radius]

    @property
    def radii(self) -> np.ndarray:
        return np.array([float(one.radius[0]) for one in self.found])


def one_by_one(network: Network, x: np.ndarray, region: Region, people: int, **options: object) -> Timed:
    """The radii of the first people, each asked about alone."""
    alone = [region.take(slice(person, person + 1)) for person in range(people)]
    start = time.process_time()
    found = [radius(network, x[[person]], part, **options) for person, part in enumerate(alone)]  # type: ignore[arg-type]
    return Timed((time.process_time() - start) / people, found)


def together(network: Network, x: np.ndarray, region: Region) -> float:
    """CPU seconds per person where a crowd is asked about in one call: the same people again and again."""
    crowd = np.resize(np.arange(len(x)), CROWD)
    points, regions = x[crowd], region.take(crowd)
    start = time.process_time()
    radius(network, points, regions)
    return (time.process_time() - start) / CROWD


def main() -> float:
    """Print both sides for every formula; the smallest ratio."""
    torch.set_num_threads(1)
    encoder, _, frame = parts("german", (20,))
    network, encoding = encoder.network, encoder.encoding
    x, ratios = encoding.encode(frame), []
    print(f"German, 20 hidden, 4 latents, exact radii; {PEOPLE} people, with proofs {PROVED}, MILP {SOLVED}; CPU time")
    with threadpool_limits(1):
        for name, text in FORMULAS.items():
            region = Similarity(text, encoding.schema, encoding).region(frame)
            one_by_one(network, x, region, 2)  # loads, and compiles what is compiled once
            ours = one_by_one(network, x, region, PEOPLE)
            crowd = together(network, x, region)
            proved = one_by_one(network, x, region, PROVED, proof=True)
            solver = one_by_one(network, x, region, SOLVED, method="milp")
            apart = np.abs(ours.radii[:SOLVED] - solver.radii).max()
            exact = np.mean([bool(one.exact[0]) for one in ours.found])
            nodes = np.mean([int(one.nodes[0]) for one in ours.found])
            rows = sum(len(cell.rows.G) for cell in region.cells if cell.rows is not None)
            ratios.append(solver.seconds / ours.seconds)
            print(
                f"  {name:18} {len(region.cells)} cells, {rows:2} rows: {1e3 * ours.seconds:7.2f} ms/person, "
                f"{1e3 * crowd:.2f} of {CROWD:,} together "
                f"({nodes:.0f} nodes, {100 * exact:.0f} % exact), with proofs {1e3 * proved.seconds:8.1f}, "
                f"MILP {1e3 * solver.seconds:9.1f}: {ratios[-1]:,.0f}× "
                f"({solver.seconds / proved.seconds:.1f}× with proofs); radii differ by at most {apart:.1g}",
                flush=True,
            )
    return min(ratios)


if __name__ == "__main__":
    main()
