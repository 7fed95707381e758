"""Deployed arithmetic: verdicts of the same weights in exact, float64 and float32, and what the bound costs.

One encoder and head per dataset of the paper (γ 0.1, ten epochs, Cat + Noise), audited from end to end and on the ball
in all three, in one process and in turns. Prints who is certified, how many verdicts differ from exact arithmetic, the
largest room that rounding took, and the CPU seconds of the audit beside those of the exact one.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from lcifr import FairEncoder, LcifrError, RobustClassifier, audit, certify
from lcifr.certification.subject import Subject
from lcifr.datasets import load
from lcifr.models.arithmetic import Arithmetic
from lcifr.phi import ready

DATASETS = ("german", "compas", "crime", "adult")
PEOPLE = 2_000
ROUNDS = 3
GAMMA = 0.1
EPOCHS = 10


@dataclass(frozen=True)
class Judged:
    """Verdicts from end to end and on the ball, the largest error of an output, and CPU seconds of the audit."""

    verdicts: list[str]
    on_ball: list[str]
    certified: float
    error: float
    seconds: float


def learn(name: str) -> tuple[FairEncoder, RobustClassifier, Any]:
    """An encoder and head, and at most PEOPLE test people."""
    data = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = FairEncoder(_phi(name), schema=data.schema, gamma=GAMMA, epochs=EPOCHS, random_state=0)
        encoder.fit(data.train.X, data.train.y)
        known = encoder.represent(data.train.X.iloc[:PEOPLE])
        head = RobustClassifier().fit(known.latent, data.train.y.iloc[:PEOPLE], radius=known.radius)
    return encoder, head, data.test.X.iloc[:PEOPLE]


def _phi(name: str) -> str:
    return ready(f"{name}/cat_noise")


def judge(encoder: FairEncoder, head: RobustClassifier, X: Any, arithmetic: Arithmetic) -> Judged:
    """One audit, and the certificates of its hand-over."""
    start = time.process_time()
    found = audit(encoder, head, X, modular=False, arithmetic=arithmetic)
    seconds = time.process_time() - start
    ball = certify(encoder.represent(X, arithmetic=arithmetic), head, largest_radius=False, arithmetic=arithmetic)
    region = encoder.similarity_.region(X, whole_numbers=True)
    error = Subject.of(encoder, head, arithmetic=arithmetic).deployed.error_over(region)
    return Judged(
        [str(one) for one in found.verdict],
        [str(one) for one in ball.verdict],
        float(found.certified.mean()),
        float(error.max(initial=0.0)),
        seconds,
    )


def main(datasets: tuple[str, ...] = DATASETS, rounds: int = ROUNDS) -> dict[str, dict[str, int]]:
    """Print the table; for each dataset and arithmetic, how many verdicts from end to end differ from exact ones."""
    torch.set_num_threads(1)
    changed: dict[str, dict[str, int]] = {}
    for name in datasets:
        try:
            encoder, head, X = learn(name)
        except LcifrError as error:
            print(f"{name}: {str(error).splitlines()[0]}")
            continue
        judge(encoder, head, X.iloc[:50], Arithmetic.EXACT)  # compiles what is compiled once
        runs = [[judge(encoder, head, X, arithmetic) for arithmetic in Arithmetic] for _ in range(rounds)]
        exact = runs[0][0]
        changed[name] = {}
        for place, arithmetic in enumerate(Arithmetic):
            found = runs[0][place]
            ratio = float(np.median([run[place].seconds / run[0].seconds for run in runs]))
            changed[name][arithmetic] = _differ(found.verdicts, exact.verdicts)
            print(
                f"{name:8} {len(X):5} people  {arithmetic:8} certified {100 * found.certified:6.2f} %  other verdicts "
                f"than exact: {changed[name][arithmetic]} from end to end, {_differ(found.on_ball, exact.on_ball)} on "
                f"the ball  largest error {found.error:.1e}  CPU {ratio:.2f} × exact",
                flush=True,
            )
    return changed


def _differ(found: list[str], other: list[str]) -> int:
    return sum(one != two for one, two in zip(found, other, strict=True))


if __name__ == "__main__":
    main()
