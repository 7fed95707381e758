"""Scores beside true labels: the interval of the AUC covers, and stops nothing that chance explains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.workflows.labels import Z_99, auc_interval, compare_with_labels


def model(*labels: object) -> Model:
    """A network of the identity, which is compared with 0 or takes the largest."""
    outputs = 1 if len(labels) == 2 else len(labels)
    network = Network.from_arrays([(np.eye(outputs), np.zeros(outputs))])
    return Model(network, Rule.of(outputs), np.array(labels))


@given(st.floats(0, 1), st.integers(1, 5000), st.integers(1, 5000))
@settings(max_examples=200)
def test_an_interval_holds_its_estimate_and_turns_around_with_it(auc: float, first: int, second: int) -> None:
    lower, upper = auc_interval(auc, first, second)
    assert 0 <= lower <= auc <= upper <= 1
    assert lower < upper
    np.testing.assert_allclose(auc_interval(1 - auc, first, second), (1 - upper, 1 - lower), atol=1e-9)
    # It lies below ½ exactly where the test of Mann and Whitney says so.
    z = (auc - 0.5) / np.sqrt((first + second + 1) / (12 * first * second))
    if abs(z + Z_99) > 1e-6:
        assert (upper < 0.5) == (z < -Z_99)


@pytest.mark.parametrize(("shift", "first", "second"), [(0.0, 12, 30), (0.8, 20, 20), (2.0, 8, 60)])
def test_an_interval_covers_the_true_area_as_often_as_it_says(shift: float, first: int, second: int) -> None:
    from scipy.stats import norm

    rng, true, inside = np.random.default_rng(2), norm.cdf(shift / np.sqrt(2)), 0
    for _ in range(600):
        one, other = rng.normal(size=first), rng.normal(shift, size=second)
        auc = (other[:, None] > one).mean()
        lower, upper = auc_interval(float(auc), first, second)
        inside += lower <= true <= upper
    assert inside / 600 > 0.98


@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from(["no", "yes", "?", None])), min_size=1, max_size=40))
def test_the_area_is_the_share_of_pairs_where_ties_count_as_half(rows: list[tuple[int, str | None]]) -> None:
    found = compare_with_labels(
        model("no", "yes"), np.array([[float(s)] for s, _ in rows]), [label for _, label in rows]
    )
    low = [s for s, label in rows if label == "no"]
    high = [s for s, label in rows if label == "yes"]
    if not low + high:
        assert found is None  # no label is a class of the model
        return
    assert found is not None
    assert found.people == len(low + high)
    assert found.accuracy * found.people == pytest.approx(sum(s <= 0 for s in low) + sum(s > 0 for s in high))
    if low and high:
        pairs = [1.0 if b > a else 0.5 if a == b else 0.0 for a in low for b in high]
        assert found.auc == pytest.approx(np.mean(pairs))
        assert found.positive == "yes"
    else:
        assert found.auc is None  # one label only
        assert not found.is_backwards


def test_a_few_people_who_happen_to_be_the_wrong_way_round_stop_nothing() -> None:
    for count, backwards in ((1, False), (3, False), (8, True)):
        labels = ["yes"] * count + ["no"] * count
        found = compare_with_labels(model("no", "yes"), np.arange(2.0 * count)[:, None], labels)
        assert found is not None
        assert found.auc == 0.0
        assert found.is_backwards == backwards


def test_a_score_that_is_the_same_for_everyone_is_not_backwards() -> None:
    found = compare_with_labels(model(0, 1), np.zeros((400, 1)), [0, 1] * 200)
    assert found is not None
    assert (found.auc, found.is_backwards) == (0.5, False)


def test_of_more_classes_the_share_that_is_right_is_all_that_is_compared() -> None:
    values = np.eye(3)[[0, 1, 2, 2, 1]]
    found = compare_with_labels(model("a", "b", "c"), values, ["c", "c", "c", "c", "a"])
    assert found is not None
    assert (found.auc, found.is_backwards) == (None, False)
    assert (found.accuracy, found.majority) == (0.4, 0.8)
