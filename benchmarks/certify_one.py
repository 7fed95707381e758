"""One person at a time: decision and end-to-end certificate against a plain forward pass of the same person.

Both sides start from the same dictionary and pay for the gate and the encoding. The claim: a median under 5 ms per
person after loading, on one core.
"""

from __future__ import annotations

import warnings
from statistics import median

import torch
from benchmarks.encode_million import interleaved
from sklearn.neural_network import MLPClassifier

from lcifr.certificates import FrozenEncoder
from lcifr.certificates.desk import Desk
from lcifr.data import Encoding
from lcifr.datasets import load
from lcifr.network import Network
from lcifr.similarity.similarity import Similarity

PEOPLE = 100
ROUNDS = 3


def desk() -> tuple[Desk, list[dict[str, object]]]:
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
    return Desk(encoder, head), data.test.X.head(PEOPLE).to_dict("records")


def main(rounds: int = ROUNDS) -> float:
    """Measure both in turns and print them; the median in milliseconds of a decision with its certificate."""
    torch.set_num_threads(1)
    here, people = desk()
    place = {"decide": 0, "forward": 0}

    def next_person(who: str) -> dict[str, object]:
        place[who] += 1
        return people[place[who] % len(people)]

    def decide() -> None:
        here.decide(next_person("decide"))

    def forward() -> None:
        here.network(here.encoder.encoding.encode(here._read(next_person("forward"))))

    certified, plain = interleaved([decide, forward], rounds * len(people))
    verdicts = [str(here.decide(person).verdict) for person in people]
    print(f"German, cat_noise, 20 hidden, {len(people)} people one at a time, {rounds} rounds, one thread")
    for name, seconds in (("decision + certificate", certified), ("decision alone        ", plain)):
        each = sorted(seconds)
        print(f"  {name}  median {median(each) * 1e3:.2f} ms, nine in ten below {each[9 * len(each) // 10] * 1e3:.2f}")
    print(f"  certified {verdicts.count('CERTIFIED')} of {len(verdicts)}")
    return median(certified) * 1e3


if __name__ == "__main__":
    main()
