"""Adversarial numerics: extreme weights, ties, zeros and denormals, judged by exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lcifr.prove import maximize
from lcifr.prove.gate import build_question
from tests.models.exact import exactly
from tests.prove.confirming import refusals
from tests.prove.hard_numbers import corners, networks, regions

METHODS = ["cascade", "bounds", "interval"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", regions())
@pytest.mark.parametrize("kind", networks())
def test_no_exact_value_exceeds_a_bound_and_every_proof_holds(kind: str, shape: str, method: str) -> None:
    network, region = networks()[kind], regions()[shape]
    directions = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, -1.0], [1e-8, 1e8]])
    question = build_question(network, directions, region, proof=True, resources=50)
    answer = maximize(network, directions, region, method=method, proof=True, budget=50)
    for person in range(region.people):
        for point in corners(region, person):
            value = exactly(network, point)
            for k, direction in enumerate(directions):
                true = sum((Fraction(d) * v for d, v in zip(direction.tolist(), value, strict=True)), Fraction(0))
                assert true <= Fraction(float(answer.upper[person, k]))
    assert not refusals(network, question.directions, region, answer)
