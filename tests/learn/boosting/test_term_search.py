"""The search for steps, against the second-order model written out place by place."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lcifr.learn.boosting.boosting import GrowingModel
from lcifr.learn.boosting.losses import RobustLoss
from lcifr.learn.boosting.proposals import BoostingStep, StepRules
from lcifr.learn.parameters import BoostingSettings
from lcifr.models.additive import choose_bins
from tests.learn.boosting.models import pair_bins
from tests.learn.boosting.reference import FORMULAS, encoded

POOL = ThreadPoolExecutor(2)


def slow_gain(loss: RobustLoss, values: np.ndarray, step: BoostingStep) -> float:
    """What slopes and curvatures say about a step: the exact move of every place's worst value, one by one."""
    ranges, matrix = loss.terms[step.term].ranges, loss.directions.matrix
    after = values.copy()
    after[:, step.output] += step.addition
    change = 0.0
    for place, number in enumerate(loss.terms[step.term].number):
        bins = ranges.member[ranges.start[number] : ranges.start[number + 1]]
        for slot, direction in enumerate(loss.slots[place]):
            moved = (after[bins] @ matrix[direction]).max() - (values[bins] @ matrix[direction]).max()
            change += (
                loss.now.evaluation.slope[place, slot] * moved + 0.5 * loss.now.evaluation.curve[place, slot] * moved**2
            )
    return -change / loss.size


def prepared(
    formula: str, kind: str, rules: StepRules, monotone: int = 0, rising: float = 0.0, *, pairs: bool = False
) -> tuple[RobustLoss, list[np.ndarray], list[list[BoostingStep]]]:
    """A loss in the middle of learning, and the proposals for every output."""
    encoding, target, people = encoded(60, formula, kind=kind, weighted=True)
    settings = BoostingSettings(
        learning_rate=rules.rate,
        penalty=rules.penalty,
        min_people=rules.least,
        monotone=dict.fromkeys(("age", "income"), monotone),
    )
    bins = choose_bins(encoding, people.x, people.region, 10)
    grown = GrowingModel(people, people, target, settings, POOL)
    for one in bins if not pairs else pair_bins(bins, people.x):
        grown.add(one)
    draw, loss, bins = np.random.default_rng(2), grown.loss, grown.bins
    values = [np.round(draw.normal(size=(one.count, target.outputs)), 1) for one in bins]  # with ties here and there
    values = [one + rising * np.linspace(-1, 1, len(one))[:, None] for one in values]
    for term, one in enumerate(values):
        loss.keep(loss.after(term, one))
    propose = grown.proposer.propose
    found = [propose(values, output, grown.derivatives(output)) for output in range(target.outputs)]
    return loss, values, found


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
@pytest.mark.parametrize("pairs", [False, True])
def test_gains_are_exact_moves_under_the_second_order_model(formula: str, kind: str, pairs: bool) -> None:
    loss, values, found = prepared(formula, kind, StepRules(0.3, 1.0, 1), pairs=pairs)
    assert all(found)
    for steps in found:
        assert [step.gain for step in steps] == sorted((step.gain for step in steps), reverse=True)
        for step in steps:
            assert step.gain == pytest.approx(slow_gain(loss, values[step.term], step), rel=1e-8)


def own_bins(loss: RobustLoss, term: int) -> np.ndarray:
    """(places,) where nobody can be elsewhere: the bin of each place; else its first one."""
    places = loss.terms[term]
    return np.asarray(places.ranges.member[places.ranges.start[places.number]])


def newton_gain(loss: RobustLoss, sides: list[np.ndarray], penalty: float, least: int) -> float:
    """What Newton steps for people (places,) on several sides promise; nothing where too few are on one."""
    signs, gain = loss.directions.matrix[loss.slots[:, 0], 0], 0.0
    for side in sides:
        if side[:60].sum() >= least:
            slope, curve = (signs * loss.now.evaluation.slope[:, 0])[side].sum(), loss.now.evaluation.curve[side].sum()
            leaf = -slope / (curve + penalty)
            gain -= slope * leaf + 0.5 * curve * leaf**2
    return float(gain / loss.size)


def test_no_other_cut_of_a_number_is_better_with_newton_steps_for_both_sides() -> None:
    """Where nobody can be on both sides, the search is the ordinary one of boosted stumps."""
    loss, values, (steps,) = prepared(FORMULAS["nobody else"], "binary", StepRules(1.0, 0.5, 3))
    for step in steps:
        bins = own_bins(loss, step.term)
        for cut in range(len(values[step.term]) - 1 if step.term < 2 else 0):
            sides = [bins <= cut, bins > cut]
            if min(side[:60].sum() for side in sides) >= 3:
                assert newton_gain(loss, sides, 0.5, 3) <= step.gain + 1e-12


def test_no_other_cuts_of_two_numbers_are_better_with_newton_steps_for_all_quarters() -> None:
    loss, values, (steps,) = prepared(FORMULAS["nobody else"], "binary", StepRules(1.0, 0.5, 3), pairs=True)
    step = next(step for step in steps if step.term == 0)
    size = round(len(values[0]) ** 0.5)
    first, second = np.divmod(own_bins(loss, 0), size)
    gains = [
        newton_gain(loss, [low & left, low & ~left, ~low & left, ~low & ~left], 0.5, 3)
        for low in (first <= cut for cut in range(size - 1))
        for left in (second <= cut for cut in range(size - 1))
    ]
    assert step.gain == pytest.approx(max(gains))


@pytest.mark.parametrize("monotone", [1, -1])
@pytest.mark.parametrize("pairs", [False, True])
def test_monotone_steps_go_one_way(monotone: int, pairs: bool) -> None:
    too_far = -30.0 * monotone  # shape functions that go the other way, so that steps this way are wanted
    _, values, (steps,) = prepared(
        FORMULAS["noise and a free category"], "binary", StepRules(0.3, 1.0, 1), monotone, too_far, pairs=pairs
    )
    assert {step.term for step in steps} >= ({0} if pairs else {0, 1})
    for step in steps:
        if not pairs and step.term < 2:
            assert (monotone * np.diff(step.addition) >= 0).all()
        elif pairs and step.term == 0:
            grid = step.addition.reshape(round(len(values[0]) ** 0.5), -1)
            assert (monotone * np.diff(grid, axis=0) >= 0).all()
            assert (monotone * np.diff(grid, axis=1) >= 0).all()


def test_enough_people_are_on_either_side() -> None:
    loss, _, (steps,) = prepared(FORMULAS["noise and a free category"], "binary", StepRules(0.3, 1.0, 20))
    for step in steps:
        added = step.addition[own_bins(loss, step.term)[:60]]
        assert 20 <= (added == added[0]).sum() <= 40
