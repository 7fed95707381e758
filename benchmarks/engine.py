"""The engine against the paper's way: two mixed-integer programs per output and person, on the same weights and people.

Both sides run in this process, on the same people, one after the other. The paper's side counts only the seconds inside
HiGHS. The cascade's side counts everything, once on the same people and once on the whole test set (its fixed cost per
call is spread over more people there; people per second are what a city needs).
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass

import numpy as np
from benchmarks.recipe import Case, Setting, prepare

from lcifr.errors import DatasetError
from lcifr.prove import Radius, radius
from lcifr.prove.paper import paper_radius

SEED = 0
CAT_NOISE = "same(categorical except sex) and numeric within 0.3 sd"
NOISE = "same(categorical) and numeric within 0.3 sd"
SETTINGS = [
    (Setting("compas", CAT_NOISE, 20, 20, 0.0, 20, 200), 1e-6),
    (Setting("compas", CAT_NOISE, 20, 20, 1.0, 20, 200), 1e-6),
    (Setting("adult", CAT_NOISE, 20, 20, 0.0, 3, 200), 1e-6),
    (Setting("adult", CAT_NOISE, 20, 20, 1.0, 3, 200), 1e-6),
    (Setting("crime", "numeric within 0.3 sd", 20, 20, 0.0, 10, 20), 1e-6),
    (Setting("adult", NOISE, 200, 200, 0.0, 3, 5), 1e-4),
]


@dataclass(frozen=True)
class Timed:
    """A result and the seconds it took per person."""

    found: Radius
    seconds: float


def timed(case: Case, index: np.ndarray, tolerance: float, with_target: bool) -> Timed:
    """The cascade on some of the people: exact radii, or only on which side of its target each lies."""
    region, x = case.region.take(index), case.x[index]
    target = case.targets[index] if with_target else None
    start = time.perf_counter()
    found = radius(case.encoder, x, region, target=target, tolerance=tolerance)
    return Timed(found, (time.perf_counter() - start) / len(index))


def compare(setting: Setting, tolerance: float, people: int | None = None, everybody: int = 20_000) -> dict[str, float]:
    """One row of the table: seconds per person on both sides, ratios, and agreement."""
    case = prepare(setting, SEED)
    order = np.random.default_rng(SEED).permutation(len(case.x))
    some, many = order[: people or setting.people], order[:everybody]
    timed(case, some[:2], tolerance, False)  # load everything once
    exact, verdict = timed(case, some, tolerance, False), timed(case, some, tolerance, True)
    crowd = timed(case, many, tolerance, True)
    quick = setting.dataset != "crime" and setting.hidden <= 20  # the others take too long for more than their sample
    thousand = timed(case, order[: 1000 if quick else len(some)], tolerance, False)
    paper = paper_radius(case.encoder, case.x[some], case.region.take(some))
    target = case.targets[some]
    seconds = float(paper.seconds.mean())
    return {
        "paper ms": 1e3 * seconds,
        "exact ms": 1e3 * exact.seconds,
        "verdict ms": 1e3 * verdict.seconds,
        "verdict ms, everybody": 1e3 * crowd.seconds,
        "exact ratio": seconds / exact.seconds,
        "exact ms, a thousand": 1e3 * thousand.seconds,
        "exact ratio, a thousand": seconds / thousand.seconds,
        "verdict ratio": seconds / verdict.seconds,
        "verdict ratio, everybody": seconds / crowd.seconds,
        "exact share": float(exact.found.exact.mean()),
        "verdicts agree": float(((verdict.found.radius < target) == (paper.radius < target)).mean()),
        "largest difference": float(np.abs(exact.found.radius - paper.radius).max()),
        "people/s, everybody": 1.0 / crowd.seconds,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Print one block per setting."""
    print(f"people are sampled with seed {SEED}")
    for setting, tolerance in SETTINGS:
        print(f"\n{setting.title}, {setting.people} people, tolerance {tolerance:g}", flush=True)
        try:
            row = compare(setting, tolerance)
        except DatasetError as missing:
            print(f"  skipped: {missing}")
            continue
        for name, value in row.items():
            print(f"  {name:26} {value:14.5g}", flush=True)


if __name__ == "__main__":
    main()
