"""Underflow and overflow in verdicts: what is said of h ∘ f is what exact arithmetic says, or a layer is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.consumer import certify
from lcifr.certification.handover import FrozenEncoder, represent
from lcifr.check.bundle import check_bundle
from lcifr.data import Encoding, Numeric, Schema
from lcifr.errors import NetworkError
from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity
from tests.models.exact import exactly
from tests.prove.extremes import KINDS, Layers, sizes_of

SCHEMA = Schema((Numeric("a", lower=-10, upper=10), Numeric("b", lower=-10, upper=10)))
ENCODING = Encoding(SCHEMA, np.zeros(2), np.ones(2))
SIMILAR = Similarity("a within 1 and b within 0.5", SCHEMA, ENCODING)
REACH = np.array([1.0, 0.5])
NODES = 10


def people(rng: np.random.Generator, count: int) -> pd.DataFrame:
    return pd.DataFrame(np.round(rng.uniform(-3, 3, size=(count, 2)), 1), columns=["a", "b"])


def everybody_similar(x: np.ndarray) -> list[np.ndarray]:
    """x itself, and the corners and middles of the edges of its neighbourhood, a little inside."""
    return [x + REACH * share * 0.999 for share in product([0, -1, 1], repeat=2)]


def signs(encoder: Network, model: Network, points: list[np.ndarray]) -> list[int]:
    """1, 0 or −1 by the exact value of h(f(x))."""
    values = [exactly(model, exactly(encoder, point))[0] for point in points]
    return [(value > 0) - (value < 0) for value in values]


def halves(rng: np.random.Generator, layers: Layers) -> tuple[Network, Network]:
    """The first layers as encoder, the others (half the time: the last) as model; where they meet there is no ReLU."""
    cut = len(layers) - 1 if rng.random() < 0.5 else int(rng.integers(1, len(layers)))
    return Network.from_arrays(layers[:cut]), Network.from_arrays(layers[cut:])


def say(encoder: Network, model: Network, table: pd.DataFrame) -> list[np.ndarray]:
    """(people,) who is certified: from end to end, on the ball and on the box. The hand-over must hold what it says."""
    frozen = FrozenEncoder(encoder, SIMILAR)
    handed = represent(frozen, table, budget=NODES)
    for x, low, high in zip(table.to_numpy(), handed.lower, handed.upper, strict=True):
        for point in everybody_similar(x):
            for value, a, b in zip(exactly(encoder, point), low.tolist(), high.tolist(), strict=True):
                assert a == -np.inf or Fraction(a) <= value
                assert b == np.inf or value <= Fraction(b)
    whole = audit(frozen, model, table, modular=handed, budget=NODES)
    parts = [certify(handed, model, on=on, budget=NODES, largest_radius=False) for on in ("ball", "box")]
    return [whole.certified, *(part.certified for part in parts)]


def no_false_word(seed: int, kind: str) -> bool:
    """Whether there was anything to look at; where not, a layer is named."""
    rng = np.random.default_rng(seed)
    layers, table = KINDS[kind](rng, sizes_of(rng, inputs=2, outputs=1)), people(rng, 3)
    try:
        encoder, model = halves(rng, layers)
        certified = say(encoder, model, table)
    except NetworkError as refused:
        if "layer " not in str(refused):
            raise
        return False
    for person, x in enumerate(table.to_numpy()):
        found = signs(encoder, model, everybody_similar(x))
        one_decision = found[0] != 0 and all(sign == found[0] for sign in found)
        assert one_decision or not any(mask[person] for mask in certified), (seed, kind)
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_certified_whom_exact_arithmetic_decides_otherwise(kind: str) -> None:
    looked = [no_false_word(seed, kind) for seed in range(40)]
    assert sum(looked) > 10  # the others are refused


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_nobody_is_certified_falsely_in_many_networks(kind: str, part: int) -> None:
    looked = [no_false_word(seed, kind) for seed in range(1000 + 100 * part, 1100 + 100 * part)]
    assert sum(looked) > 10


def lost_in_a_merger() -> list[np.ndarray]:
    """1e-200 · 1e-200 is 0 in the merged layer, and yet it decides: exact forward passes differ in sign."""
    encoder = Network.from_arrays([([[1e99, 0.0]], [0.0]), ([[1e99]], [0.0]), ([[1e-200]], [0.0])])
    model = Network.from_arrays([([[1e-200]], [-1e-203])])
    assert set(signs(encoder, model, everybody_similar(np.zeros(2)))) == {-1, 1}
    return say(encoder, model, pd.DataFrame({"a": [0.0], "b": [0.0]}))


def test_what_a_merger_loses_is_refused() -> None:
    with pytest.raises(NetworkError, match="layer 1: the products of weights"):
        lost_in_a_merger()


def test_the_exact_checker_confirms_what_is_said(tmp_path: Path) -> None:
    confirmed = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        layers, table = list(KINDS.values())[seed % 2](rng, sizes_of(rng, inputs=2, outputs=1)), people(rng, 3)
        try:
            encoder, model = halves(rng, layers)
            frozen = FrozenEncoder(encoder, SIMILAR)
            handed = represent(frozen, table, budget=NODES)
            found = audit(frozen, model, table, modular=handed, budget=NODES)
        except NetworkError:
            continue
        write_bundle(tmp_path / str(seed), frozen, table, handed, found)
        report = check_bundle(tmp_path / str(seed))
        assert report.rejected == {}
        confirmed += len(report.names["certified"])
    assert confirmed > 0
