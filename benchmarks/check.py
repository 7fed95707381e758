"""The exact checker: its time per person next to the engine's proving time, in one run.

German with one and two hidden layers before the latents, and Adult's shape where its data is at hand. Root proofs and
split trees are timed apart: a person's proofs are a tree where any claim has more than one node.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import FrozenEncoder, represent
from lcifr.check import bundle
from lcifr.check.judge import CheckReport
from lcifr.data import Encoding
from lcifr.datasets import load
from lcifr.errors import DatasetError
from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity

SCENES = (("german", (20,)), ("german", (20, 20)), ("adult", (20,)), ("adult", (20, 20)))
PEOPLE = 60


def parts(name: str, hidden: tuple[int, ...]) -> tuple[FrozenEncoder, Network, Any]:
    """An encoder with these hidden layers and four latents, a linear head, and the first test people."""
    from sklearn.neural_network import MLPClassifier

    data = load(name)
    encoding = Encoding.fit(data.train.X, data.schema)
    learner = MLPClassifier((*hidden, 4), alpha=1.0, max_iter=60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(encoding.encode(data.train.X)[:4000], np.asarray(data.train.y)[:4000])
    layers = [(weight.T, bias) for weight, bias in zip(learner.coefs_, learner.intercepts_, strict=True)]
    similarity = Similarity.ready(f"{name}/cat_noise", data.schema, encoding)
    model = Network.from_arrays([(np.eye(4), np.zeros(4)), layers[-1]])
    return FrozenEncoder(Network.from_arrays(layers[:-1]), similarity), model, data.test.X.head(PEOPLE)


def nodes(line: Any) -> int:
    """The most nodes of any proof of a person."""
    return max(
        (len(tree) for part in ("latent", "decision") for tree in line.get(part, {}).get("proofs", ())), default=0
    )


def main(scenes: tuple[tuple[str, tuple[int, ...]], ...] = SCENES) -> float:
    """Prove, write, check, and print; the median time of a root proof in milliseconds, of the first scene."""
    torch.set_num_threads(1)
    first = None
    for name, hidden in scenes:
        try:
            encoder, model, people = parts(name, hidden)
        except DatasetError as missing:
            print(f"{name}: {str(missing).splitlines()[0]}")
            continue
        start = time.process_time()
        handed = represent(encoder, people)
        found = audit(encoder, model, people, modular=False)
        proving = (time.process_time() - start) / len(people) * 1e3
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            write_bundle(Path(folder) / "bundle", encoder, people, handed, found)
            writing = (time.process_time() - start) / len(people) * 1e3
            root, trees = timed(Path(folder) / "bundle")
        print(f"{name} {'+'.join(map(str, hidden))}, {len(people)} people, certified {found.certified.sum()}")
        print(f"  engine: verdict and radius {proving:.1f} ms a person, proofs written down {writing:.1f} ms")
        for what, each in (("root proofs", root), ("split trees", trees)):
            if each:
                print(
                    f"  checker, {what}: {len(each)} people, median {median(each):.1f} ms, largest {max(each):.1f} ms"
                )
        first = median(root) if first is None and root else first
    return first or 0.0


def timed(folder: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of CPU per person: those with root proofs only, and those with split trees."""
    judge, about, _ = bundle.read_judge(folder)
    found: tuple[list[float], list[float]] = ([], [])
    for line in bundle.read_people(folder / bundle.PEOPLE, about.hashes[bundle.PEOPLE]):
        report, start = CheckReport(), time.process_time()
        judge.judge(line, report)
        found[nodes(line) > 1].append((time.process_time() - start) * 1e3)
        if report.rejected:
            raise RuntimeError(f"not confirmed: {report.rejected}")
    return found


if __name__ == "__main__":
    main()
