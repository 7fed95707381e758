"""The rule by which a model is chosen: useful ones only, and what one standard error cannot tell apart is equal."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.errors import LearningError
from lcifr.estimators.tuning import CERTIFIED, FrontierPoint, Scale, choose
from lcifr.learn.history import USELESS
from lcifr.learn.scores import (
    balanced_error_of,
    balanced_score_of,
    degeneracies,
    score_error_of,
    score_of,
    share_error,
)
from lcifr.learn.target import Target
from lcifr.models.model import Degeneracy

ACCURACY = Scale.of("accuracy")
PEOPLE = 100


def point(gamma: float, score: float, certified: float, *trivial: str, balanced: float | None = None) -> FrontierPoint:
    balanced = score if balanced is None else balanced
    errors = [share_error(share, PEOPLE) for share in (score, balanced, certified)]
    found = tuple(Degeneracy(name, name) for name in trivial)
    return FrontierPoint(f"gamma-{gamma:g}", gamma, score, balanced, certified, 0.1, found, *errors)


SHARES = st.integers(0, PEOPLE).map(lambda people: people / PEOPLE)


@st.composite
def frontiers(draw: st.DrawFn) -> list[FrontierPoint]:
    gammas = draw(st.lists(st.sampled_from([0.1, 0.3, 1.0, 3.0, 10.0]), min_size=1, unique=True).map(sorted))
    trivial = st.sampled_from([(), (), ("flat latent",), *((name,) for name in USELESS)])
    return [point(gamma, draw(SHARES), draw(SHARES), *draw(trivial)) for gamma in gammas]


@given(points=frontiers(), required=SHARES)
def test_what_is_chosen_is_useful_good_enough_and_beaten_by_nobody(
    points: list[FrontierPoint], required: float
) -> None:
    chosen = choose(points, required, ACCURACY).point
    able = [one for one in points if one.useful and one.score >= required]
    if not able:
        assert chosen is None
        return
    assert chosen in able
    for other in able:
        assert CERTIFIED.as_good(chosen, other)  # nobody is more certified by more than one standard error
        # Nobody as certified as the best scores more by more than that.
        if all(CERTIFIED.as_good(other, third) for third in able):
            assert ACCURACY.as_good(chosen, other)


@given(points=frontiers(), required=SHARES)
def test_the_order_of_the_points_does_not_matter(points: list[FrontierPoint], required: float) -> None:
    found = {choose(order, required, ACCURACY).point for order in itertools.permutations(points[:4])}
    assert len(found) == 1


@pytest.mark.parametrize("name", USELESS)
def test_no_useless_model_is_chosen_however_certified(name: str) -> None:
    useless = point(10.0, 0.9, 1.0, name)
    assert choose([useless], 0.5, ACCURACY).point is None
    assert "no model is useful" in choose([useless], 0.5, ACCURACY).why
    humble = point(1.0, 0.7, 0.3)
    assert choose([useless, humble], 0.5, ACCURACY).point == humble


def test_certified_people_within_one_standard_error_do_not_outweigh_a_better_score() -> None:
    """One more person certified is noise; ten percent of the decisions are not."""
    better, noise = point(1.0, 0.80, 0.90), point(0.3, 0.70, 0.91)
    assert choose([noise, better], 0.5, ACCURACY).point == better


def test_scores_within_one_standard_error_are_equal_and_then_the_more_certified_wins() -> None:
    accurate, certified = point(0.3, 0.81, 0.60), point(3.0, 0.79, 0.90)
    choice = choose([accurate, certified], 0.5, ACCURACY)
    assert choice.point == certified
    level = point(1.0, 0.80, 0.89)
    choice = choose([accurate, level, certified], 0.5, ACCURACY)
    assert choice.point == certified
    assert "gamma 1 is within one standard error" in choice.why


def test_at_the_very_same_share_the_score_within_one_error_is_no_reason() -> None:
    first, second = point(0.3, 0.80, 1.0), point(1.0, 0.79, 1.0)
    assert choose([first, second], 0.5, ACCURACY).point == second


def test_by_balanced_accuracy() -> None:
    lazy, honest = point(1.0, 0.97, 0.9, balanced=0.5), point(3.0, 0.8, 0.9, balanced=0.8)
    assert choose([lazy, honest], 0.5, ACCURACY).point == lazy
    assert choose([lazy, honest], 0.5, Scale.of("balanced")).point == honest
    assert choose([lazy, honest], 0.6, Scale.of("balanced")).point == honest
    with pytest.raises(LearningError, match="by='f1'"):
        Scale.of("f1")


def drawn(kind: str, seed: int, people: int) -> tuple[Target, Any, Any]:
    random = np.random.default_rng(seed)
    if kind == "number":
        label = random.standard_normal(people)
        return Target.of(label, "regression"), label + random.standard_normal(people), label
    label = (random.random(people) < 0.2).astype(float)
    wrong = random.random(people) < np.where(label == 1, 0.4, 0.1)
    return Target.of(label, "classification"), np.where(wrong, 1 - label, label), label


@pytest.mark.parametrize("kind", ["classes", "number"])
def test_standard_errors_are_the_spread_of_the_figures(kind: str) -> None:
    """Over many draws of as many people, figures spread by what their standard error says."""
    for figure, error in ((score_of, score_error_of), (balanced_score_of, balanced_error_of)):
        figures, errors = [], []
        for seed in range(400):
            target, decision, label = drawn(kind, seed, 300)
            figures.append(figure(target, decision, label))
            errors.append(error(target, decision, label))
        assert np.std(figures) == pytest.approx(np.mean(errors), rel=0.15)


def test_class_weights_are_judged_by_balanced_accuracy() -> None:
    """Taken seriously, a rare class costs accuracy: that is no fault of the model."""
    label = np.array([0.0] * 90 + [1.0] * 10)
    decision = np.array([0.0] * 70 + [1.0] * 30)
    target = Target.of(label, "classification")
    names = [{one.name for one in degeneracies(target, decision=decision, label=label, balanced=b)} for b in (0, 1)]
    assert names == [{"below majority"}, set()]
    worse = degeneracies(target, decision=1 - decision, label=label, balanced=True)
    assert {one.name for one in worse} == {"below majority"}


def test_numbers_worse_than_the_mean_are_useless() -> None:
    label = np.arange(10.0)
    target = Target.of(label + 0.5, "regression")
    (found,) = degeneracies(target, decision=-label, label=label)
    assert found.name in USELESS
    assert not degeneracies(target, decision=label, label=label)


def test_degeneracies_travel_with_their_advice() -> None:
    one = Degeneracy("constant", "it is", "do this")
    assert str(one) == "it is. do this"
    assert str(replace(one, advice="")) == "it is"
