"""The regions of Adult's 15,060 test people under Cat + Noise against encoding the same people.

Both sides start from the same pandas frame and pay for the gate (every check of every value). Regions feed everything
that is proved, so the claim is that they cost less than what anybody who trains on the people already pays.
"""

from __future__ import annotations

from statistics import median

from benchmarks.encode_million import interleaved, people

from lcifr.data import Encoding
from lcifr.datasets import find, load
from lcifr.errors import DatasetError
from lcifr.phi.similarity import Similarity

PEOPLE = 15_060
ROUNDS = 101  # each takes milliseconds, and a busy machine adds as many again
FORMULA = "adult/cat_noise"


def main(rounds: int = ROUNDS) -> float:
    """Measure both sides in one run and print them; the ratio of regions to encoding, in medians."""
    try:
        frame, origin = load("adult").test.X, "the test split"
    except DatasetError:
        frame, origin = people(PEOPLE)
    schema = find("adult").schema
    encoding = Encoding.fit(frame, schema)
    similarity = Similarity.ready(FORMULA, schema, encoding)
    if not similarity.region(frame).contains(encoding.encode(frame)).all():  # also warms both sides up
        raise RuntimeError("somebody is outside their own region")
    encode, region = interleaved([lambda: encoding.encode(frame), lambda: similarity.region(frame)], rounds)
    ratio = median(region) / median(encode)
    print(f"{FORMULA} for {len(frame):,} people of Adult ({origin}), {rounds} rounds in turns")
    for name, seconds in (("Encoding.encode  ", encode), ("Similarity.region", region)):
        each = sorted(seconds)
        print(f"  {name}  median {median(each) * 1e3:.1f} ms, half of the rounds between", end=" ")
        print(f"{each[len(each) // 4] * 1e3:.1f} and {each[3 * len(each) // 4] * 1e3:.1f}")
    print(f"  ratio of the medians {ratio:.2f}: regions are {'faster' if ratio < 1 else 'slower'} than encoding")
    return ratio


if __name__ == "__main__":
    main()
