"""Additive models: their largest values over regions, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.learn.boosting.boosting import certified_by_bounds
from lcifr.learn.boosting.losses import Directions
from lcifr.models.additive import AdditiveModel, PairFunction, ShapeFunction, range_maximum
from lcifr.models.rule import Kind, Rule
from tests.learn.boosting.models import random_model
from tests.learn.boosting.reference import FORMULAS, all_scores, encoded


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize(("kind", "outputs", "pairs"), [(Kind.SIGN, 1, 0), (Kind.CLASS, 3, 0), (Kind.SIGN, 1, 1)])
def test_largest_is_the_maximum_over_all_combinations_of_bins(
    formula: str, kind: Kind, outputs: int, pairs: int
) -> None:
    model, x, region = random_model(formula, outputs=outputs, pairs=pairs)
    directions = Directions(kind, outputs).matrix
    found = model.largest(region, directions)
    for person in range(len(x)):
        scores = all_scores(model, region, person)
        if not len(scores):
            assert (found[person] == -np.inf).all()
            continue
        exact = (scores @ directions.T).max(0)
        assert (found[person] >= exact).all()
        np.testing.assert_allclose(found[person], exact, atol=1e-12)


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("pairs", [0, 3])
def test_nobody_drawn_from_a_region_scores_more(formula: str, pairs: int) -> None:
    model, _, region = random_model(formula, seed=3, pairs=pairs)
    largest = model.largest(region, np.array([[1.0], [-1.0]]))
    for person, points in enumerate(region.sample(60)):
        if region.nonempty[person]:
            scores = model(points)[:, 0]
            assert scores.max() <= largest[person, 0]
            assert -scores.min() <= largest[person, 1]


def test_rows_are_bounded_by_the_box_around_them() -> None:
    formula = "same(categorical) and numeric within 1 sd and age' + 12*income' <= age + 12*income"
    model, _, region = random_model(formula)
    assert any(cell.rows is not None for cell in region.cells)
    largest = model.largest(region, np.array([[1.0], [-1.0]]))
    for person, points in enumerate(region.sample(40)):
        assert model(points)[:, 0].max() <= largest[person, 0]


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("outputs", [1, 3])
def test_certified_are_those_whose_decision_no_combination_changes(formula: str, outputs: int) -> None:
    model, x, region = random_model(formula, outputs=outputs, seed=1)
    rule = Rule.of(outputs)
    certified = certified_by_bounds(model, rule, x, region)
    own = rule.decide(model(x))
    alike = [all(rule.decide(s) == own[i]) if len(s := all_scores(model, region, i)) else True for i in range(len(x))]
    assert certified.tolist() == alike


def test_certified_numbers_stay_within_the_tolerance() -> None:
    model, x, region = random_model(FORMULAS["several cells"], seed=2)
    for tolerance in (0.5, 1.5, 4.0):
        certified = certified_by_bounds(model, Rule.of(1, tolerance=tolerance), x, region, tolerance)
        for i in range(len(x)):
            scores = all_scores(model, region, i)
            apart = np.abs(scores - model(x)[i]).max() if len(scores) else 0.0
            assert certified[i] == (apart < tolerance)


def test_ties_are_not_certified() -> None:
    _, _, people = encoded(10, FORMULAS["nobody else"])
    nothing = AdditiveModel(np.zeros(1), (), people.x.shape[1])
    assert not certified_by_bounds(nothing, Rule.of(1), people.x, people.region).any()


def test_thresholds_without_a_step_are_left_out_and_nothing_else_changes() -> None:
    model, x, region = random_model(FORMULAS["several cells"], pairs=3)
    coarse = [ShapeFunction(shape.bins, np.round(shape.values / 2)) for shape in model.shapes]
    grids = [PairFunction(pair.bins, np.round(pair.values / 5)) for pair in model.pairs]
    before, after = (
        AdditiveModel(model.base, tuple(shapes), model.features, tuple(pairs))
        for shapes, pairs in (
            (coarse, grids),
            ((one.without_idle_thresholds() for one in coarse), (one.without_idle_thresholds() for one in grids)),
        )
    )
    for which in (slice(0, 4), slice(4, None)):
        assert sum(t.bins.count for t in after.terms[which]) < sum(t.bins.count for t in before.terms[which])
    assert (before(x) == after(x)).all()
    directions = np.array([[1.0], [-1.0]])
    np.testing.assert_array_equal(before.largest(region, directions), after.largest(region, directions))


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.integers(0, 19), st.integers(0, 19))
def test_range_maximum(values: list[float], one: int, other: int) -> None:
    first, last = sorted((min(one, len(values) - 1), min(other, len(values) - 1)))
    column = np.array(values)[:, None]
    found = range_maximum(column, np.array([first], np.int32), np.array([last], np.int32))
    assert found[0, 0] == max(values[first : last + 1])
