"""Trees on the outputs of an encoder in exact arithmetic: what a machine computes is as near as the checker says."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from lcifr.check.functions import FactorChain, MixedChain, TreeSum, errors, numeric, read_network

WIDTH, LATENT = 3, 2


def leaf(rng: np.random.Generator) -> list[Any]:
    return ["leaf", [[0, float(rng.normal())], [1, float(rng.normal())]]]


def chain(rng: np.random.Generator, near: list[float]) -> MixedChain:
    """A random encoder, and trees whose thresholds are at, and a little beside, the z of a point."""
    rows = [[float(v) for v in rng.normal(size=WIDTH + 1)] for _ in range(LATENT)]
    encoder = FactorChain([[read_network([rows])]], WIDTH)
    z = encoder.at(numeric([v] for v in near))
    trees = []
    for _ in range(4):
        column = int(rng.integers(LATENT))
        at = float(z[column]) + float(rng.choice([0.0, 1e-16, -1e-16, 1e-9, -0.1, 0.1]))
        trees.append([["numeric", column, at], leaf(rng), leaf(rng)])
    plain = {"kind": "trees", "inputs": LATENT, "base": [0.0, 0.5], "scale": [1, 1], "trees": trees}
    return MixedChain(encoder, TreeSum(plain, LATENT))


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
@pytest.mark.parametrize("seed", range(20))
def test_outputs_at_all_that_z_can_be_are_within_the_error(seed: int, arithmetic: str) -> None:
    rng = np.random.default_rng(seed)
    near = [float(v) for v in rng.normal(size=WIDTH)]
    both, point = chain(rng, near), numeric([v] for v in near)
    own, off = both.at(point), errors(both, point, [arithmetic] * 2)
    z, apart = both.first.at(point), errors(both.first, point, [arithmetic])
    for _ in range(30):
        machine = [float(v + Fraction(float(rng.uniform(-1, 1))) * e) for v, e in zip(z, apart, strict=True)]
        inside = all(abs(Fraction(m) - v) <= e for m, v, e in zip(machine, z, apart, strict=True))
        outputs = both.second.at(numeric([m] for m in machine))
        assert not inside or all(abs(a - b) <= e for a, b, e in zip(outputs, own, off, strict=True))


def test_a_number_between_two_floats_counts_as_the_next() -> None:
    """z = 1/3 exactly is no float64: it is above every float below it, and so on the second side of the last one."""
    layer = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
    encoder = FactorChain([[read_network([layer])]], WIDTH)
    tiny = math.ldexp(1.0, -200)
    plain: dict[str, Any] = {"kind": "trees", "inputs": LATENT, "base": [0.0], "scale": [1, 1]}
    plain["trees"] = [[["numeric", 0, 1.0], ["leaf", [[0, -1.0]]], ["leaf", [[0, 1.0]]]]]
    mixed = FactorChain([[read_network([[[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]])]], WIDTH)
    for value, expected in (([1.0, 0.0, 0.0], -1), ([1.0, tiny, 0.0], 1), ([1.0, -tiny, 0.0], -1)):
        assert MixedChain(mixed, TreeSum(plain, LATENT)).at(numeric([v] for v in value)) == [expected]
    assert MixedChain(encoder, TreeSum(plain, LATENT)).at(numeric([v] for v in (1.0, 0.0, 0.0))) == [-1]
