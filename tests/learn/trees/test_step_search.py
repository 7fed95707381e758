"""The search for steps, against the second-order model written out place by place."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lcifr.learn.trees.attribute_bins import choose_bins
from lcifr.learn.trees.directions import Directions
from lcifr.learn.trees.robust_loss import RobustLoss
from lcifr.learn.trees.step_proposals import BoostingStep, StepProposer, StepRules
from tests.learn.trees.reference import FORMULAS, encoded


def slow_gain(loss: RobustLoss, values: np.ndarray, step: BoostingStep) -> float:
    """What slopes and curvatures say about a step: the exact move of every place's worst value, one by one."""
    ranges, matrix = loss.places.ranges[step.attribute], loss.directions.matrix
    after = values.copy()
    after[:, step.output] += step.times(1.0)
    change = 0.0
    for place, number in enumerate(loss.places.number[step.attribute]):
        bins = ranges.member[ranges.start[number] : ranges.start[number + 1]]
        for slot, direction in enumerate(loss.slots[place]):
            moved = (after[bins] @ matrix[direction]).max() - (values[bins] @ matrix[direction]).max()
            change += loss.now.slope[place, slot] * moved + 0.5 * loss.now.curve[place, slot] * moved**2
    return -change / loss.size


def prepared(
    formula: str, kind: str, rules: StepRules, monotone: int = 0, rising: float = 0.0
) -> tuple[RobustLoss, list[np.ndarray], list[list[BoostingStep]]]:
    """A loss in the middle of learning, and the proposals for every output."""
    encoding, target, people = encoded(60, formula, kind=kind, weighted=True)
    bins = choose_bins(encoding, people.x, people.region, 10)
    draw = np.random.default_rng(2)
    loss = RobustLoss(bins, people, Directions(target.kind, target.outputs), 1.0, np.zeros(target.outputs))
    values = [np.round(draw.normal(size=(one.count, target.outputs)), 1) for one in bins]  # with ties here and there
    values = [one + rising * np.linspace(-1, 1, len(one))[:, None] for one in values]
    for attribute, one in enumerate(values):
        loss.keep(loss.after(attribute, one))
    proposer = StepProposer(bins, loss, rules, [monotone] * len(bins))
    with ThreadPoolExecutor(2) as pool:
        found = [proposer.propose(values, o, loss.now.slope, loss.now.curve, pool) for o in range(target.outputs)]
    return loss, values, found


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_gains_are_exact_moves_under_the_second_order_model(formula: str, kind: str) -> None:
    loss, values, found = prepared(formula, kind, StepRules(0.3, 1.0, 1))
    assert all(found)
    for steps in found:
        assert [step.gain for step in steps] == sorted((step.gain for step in steps), reverse=True)
        for step in steps:
            assert step.gain == pytest.approx(slow_gain(loss, values[step.attribute], step), rel=1e-8)


def test_no_other_cut_of_a_number_is_better_with_newton_steps_for_both_sides() -> None:
    """Where nobody can be on both sides, the search is the ordinary one of boosted stumps."""
    loss, values, (steps,) = prepared(FORMULAS["nobody else"], "binary", StepRules(1.0, 0.5, 3))
    for step in steps:
        number = loss.places.number[step.attribute]
        ranges = loss.places.ranges[step.attribute]
        bins = ranges.member[ranges.start[number]]
        signs = loss.directions.matrix[loss.slots[:, 0], 0]
        if step.attribute > 1:
            continue
        for cut in range(len(values[step.attribute]) - 1):
            gain, people = 0.0, []
            for side in (bins <= cut, bins > cut):
                slope, curve = (signs * loss.now.slope[:, 0])[side].sum(), loss.now.curve[side].sum()
                leaf = -slope / (curve + 0.5)
                gain -= slope * leaf + 0.5 * curve * leaf**2
                people.append(side[:60].sum())
            if min(people) >= 3:
                assert gain / loss.size <= step.gain + 1e-12


@pytest.mark.parametrize("monotone", [1, -1])
def test_monotone_steps_go_one_way(monotone: int) -> None:
    too_far = -30.0 * monotone  # shape functions that go the other way, so that steps this way are wanted
    _, _, (steps,) = prepared(
        FORMULAS["noise and a free category"], "binary", StepRules(0.3, 1.0, 1), monotone, too_far
    )
    assert {step.attribute for step in steps} >= {0, 1}
    assert all(monotone * (step.second_value - step.first_value) > 0 for step in steps)


def test_enough_people_are_on_either_side() -> None:
    loss, _, (steps,) = prepared(FORMULAS["noise and a free category"], "binary", StepRules(0.3, 1.0, 20))
    for step in steps:
        ranges = loss.places.ranges[step.attribute]
        own = ranges.member[ranges.start[loss.places.number[step.attribute][:60]]]
        assert 20 <= step.second[own].sum() <= 40
