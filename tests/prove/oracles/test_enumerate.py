"""The oracle against pencil and paper, against sampling, and against a second exact solver for its linear programs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.errors import LcifrError
from lcifr.prove.gate import ask, build_question
from lcifr.prove.oracles.enumerate import Enumerate, maximize_exactly, rounded_up
from lcifr.regions.region import Region
from tests.prove.instances import Known, corpus, largest_sampled, random_instance, random_network

SMALL = st.integers(-3, 3).map(Fraction)


@pytest.mark.parametrize("known", corpus(), ids=lambda known: known.name)
def test_hand_computed_answers(known: Known) -> None:
    instance = known.instance
    answer = ask(Enumerate(), build_question(instance.network, instance.directions, instance.region))
    assert answer.upper[0, 0] == known.answer


@pytest.mark.parametrize("seed", range(60))
def test_no_sample_beats_it_and_its_witness_reaches_it(seed: int) -> None:
    instance = random_instance(seed, people=2)
    answer = ask(Enumerate(), build_question(instance.network, instance.directions, instance.region))
    sampled = largest_sampled(instance, seed)
    assert (sampled <= answer.upper + 1e-9).all()
    reached = np.isfinite(answer.upper)
    assert np.allclose(answer.best[reached], answer.upper[reached], atol=1e-7)
    assert np.isneginf(sampled[~reached]).all()


def test_a_large_network_is_refused_with_the_number() -> None:
    network = random_network(np.random.default_rng(0), [2, 25, 1])
    question = build_question(network, [[1.0]], Region.from_arrays([[0.0, 0.0]], [[1.0, 1.0]]))
    with pytest.raises(LcifrError, match="33,554,432"):
        ask(Enumerate(), question)


def vertices(
    rows: list[list[Fraction]], limits: list[Fraction], width: list[Fraction]
) -> list[tuple[Fraction, Fraction]]:
    """The corners of a polygon: intersections of two of its edges that satisfy all the others."""
    one, zero = Fraction(1), Fraction(0)
    lines = [*zip(rows, limits, strict=True), ([one, zero], width[0]), ([zero, one], width[1])]
    lines += [([-one, zero], zero), ([zero, -one], zero)]
    found = []
    for ((a, b), e), ((c, d), f) in combinations(lines, 2):
        if determinant := a * d - b * c:
            point = (e * d - b * f) / determinant, (a * f - e * c) / determinant
            if all(g * point[0] + h * point[1] <= limit for (g, h), limit in lines):
                found.append(point)
    return found


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(st.lists(SMALL, min_size=2, max_size=2), SMALL), max_size=5),
    st.lists(SMALL.map(abs), min_size=2, max_size=2),
    st.lists(SMALL, min_size=2, max_size=2),
)
def test_simplex_agrees_with_the_corners_of_the_polygon(cuts: list, width: list, objective: list) -> None:
    rows, limits = [row for row, _ in cuts], [limit for _, limit in cuts]
    found = maximize_exactly(objective, rows, limits, width)
    corners = vertices(rows, limits, width)
    if found is None:
        assert not corners
    else:
        assert found.value == max(objective[0] * x + objective[1] * y for x, y in corners)


@given(st.fractions())
def test_rounding_up_is_up_and_tight(value: Fraction) -> None:
    assert rounded_up(value) >= value > np.nextafter(rounded_up(value), -np.inf)
