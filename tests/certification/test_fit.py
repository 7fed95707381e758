"""How well numbers are predicted: the same figures in any chunks, and those that scikit-learn gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error, r2_score

from lcifr.certification.audit import audit
from lcifr.certification.population import Fit, state
from lcifr.display.text import moved_words, quantity
from tests.certification.scenes import FORMULAS, scene


@given(
    cuts=st.lists(st.integers(0, 40), max_size=4),
    scale=st.sampled_from([1e-6, 1.0, 1e9]),
    middle=st.sampled_from([0.0, -3.0, 1e4]),
    seed=st.integers(0, 99),
)
@settings(deadline=None)
def test_figures_are_those_of_everybody_at_once(cuts: list[int], scale: float, middle: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, predicted, learned = (scale * (rng.normal(size=size) + middle) for size in (40, 40, 1))
    fit, edges = Fit(), [0, *sorted(cuts), 40]
    for first, last in pairwise(edges):
        fit.add(y[first:last], predicted[first:last], float(learned[0]))
    constant = np.full(40, learned[0])
    assert fit.figures() == pytest.approx(
        {
            "r2": r2_score(y, predicted),
            "mean_error": mean_absolute_error(y, predicted),
            "r2_of_mean": r2_score(y, constant),
            "mean_error_of_mean": mean_absolute_error(y, constant),
        },
        rel=1e-6,
    )


def test_true_numbers_that_are_all_one_have_no_r2() -> None:
    fit = Fit()
    fit.add(np.full(3, 2.0), np.array([1.0, 2.0, 3.0]), None)
    assert fit.figures() == {"mean_error": 2 / 3}


def test_a_statement_about_numbers() -> None:
    one = scene(0, FORMULAS[0], count=6)
    found = audit(one.encoder, one.model, one.people, modular=False, tolerance=1.0)
    y = np.asarray(found.prediction) + np.array([1.0, -1.0, 2.0, -2.0, 0.0, 0.0])
    women = (one.people["sex"] == "female").to_numpy()
    said = state(found, y, held_out=False, by={"sex": one.people["sex"]})
    assert (said.accuracy, said.majority_rate) == (None, None)
    assert said.mean_error == pytest.approx(1.0)
    assert said.r2 == pytest.approx(r2_score(y, found.prediction))
    assert "mean error 1" in str(said)
    row = said.subgroups.set_index("value").loc["female"]
    assert row["mean_error"] == pytest.approx(np.abs(y - found.prediction)[women].mean())
    assert state(found, held_out=False).mean_error is None


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (41230.123, 500, "41,230"),
        (111.70361, 5, "111.7"),
        (-0.0544, 0.1, "−0.054"),
        (-0.001, 500, "0"),
        (2.34567e-6, 1e-7, "0.000002346"),
        (1e9 + 0.25, 1, "1,000,000,000.25"),
        (28155.3, 0, "28,155"),
        (23.3263, 0, "23.33"),
    ],
)
def test_numbers_are_shown_as_finely_as_the_tolerance_asks(value: float, step: float, text: str) -> None:
    assert quantity(value, step) == text


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e6), st.floats(1e-9, 1e3))
def test_a_counterexample_is_seen_to_be_too_far(own: float, tolerance: float, beyond: float) -> None:
    far = abs(own + tolerance * (1 + beyond) - own)
    if far > tolerance:
        moved, allowed = moved_words(far, tolerance).removeprefix("moves by ").split(", more than the tolerance of ")
        assert moved != allowed
