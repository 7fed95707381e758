"""One person at a time: decision and end-to-end certificate against a plain forward pass of the same person.

Both sides start from the same dictionary and pay for the gate and the encoding. The claim: a median under 5 ms per
person after loading, on one core.
"""

from __future__ import annotations

import time
import warnings
from statistics import median

import torch
from benchmarks.online import OnlineCertifier
from sklearn.neural_network import MLPClassifier

from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Encoding
from lcifr.datasets import load
from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity

PEOPLE = 100
ROUNDS = 3


def desk() -> tuple[OnlineCertifier, list[dict[str, object]]]:
    """A 20 + 20 encoder and a linear head for German, Cat + Noise, and the test people."""
    data = load("german")
    encoding = Encoding.fit(data.train.X, data.schema)
    similarity = Similarity.ready("german/cat_noise", data.schema, encoding)
    model = MLPClassifier((20,), alpha=1.0, max_iter=300, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(encoding.encode(data.train.X), data.train.y)
    first, second = ((weight.T, bias) for weight, bias in zip(model.coefs_, model.intercepts_, strict=True))
    encoder = FrozenEncoder(Network.from_arrays([first]), similarity)
    head = Network.from_arrays([([[float(i == j) for j in range(20)] for i in range(20)], [0.0] * 20), second])
    return OnlineCertifier(encoder, head), data.test.X.head(PEOPLE).to_dict("records")


def main(rounds: int = ROUNDS) -> float:
    """Measure both in turns and print them; the median in milliseconds of a decision with its certificate."""
    torch.set_num_threads(1)
    here, people = desk()
    verdicts = [str(here.decide(person).verdict) for person in people]  # also compiles what is compiled once

    def forward(person: dict[str, object]) -> None:
        here.network(here.encoder.encoding.encode(here._read(person)))

    sides = {"decision + certificate": here.decide, "decision alone": forward}
    times: dict[str, list[float]] = {name: [] for name in sides}
    for person in people * rounds:
        for name, action in sides.items():
            start = time.process_time()  # of the processor: a busy machine does not count
            action(person)
            times[name].append(time.process_time() - start)
    print(f"German, cat_noise, 20 hidden, {len(people)} people one at a time, {rounds} rounds, one thread, CPU time")
    for name, seconds in times.items():
        each = sorted(seconds)
        tail = f"nine in ten below {each[9 * len(each) // 10] * 1e3:.2f}, all below {each[-1] * 1e3:.0f}"
        print(f"  {name:22}  median {median(each) * 1e3:.2f} ms, {tail}")
    print(f"  certified {verdicts.count('CERTIFIED')} of {len(verdicts)}")
    return median(times["decision + certificate"]) * 1e3


if __name__ == "__main__":
    main()
