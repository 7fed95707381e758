"""Robust losses of populations, against a slow reference by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.models.additive import AdditiveModel, PairFunction, ShapeFunction, choose_bins
from tests.learn.boosting.models import pair_bins
from tests.learn.boosting.reference import FORMULAS, encoded, loss_of, slow_loss

KINDS = ("binary", "classes", "number")


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", [0.0, 2.5])
def test_loss_is_that_of_the_reference_after_every_change(formula: str, kind: str, gamma: float) -> None:
    encoding, target, people = encoded(20, formula, kind=kind, weighted=True)
    bins = choose_bins(encoding, people.x, people.region, 8)
    draw = np.random.default_rng(1)
    base = draw.normal(size=target.outputs)
    loss = loss_of(bins, people, target, gamma, base)
    values = [np.zeros((one.count, target.outputs)) for one in bins]
    for attribute in (0, 2, 1, 3, 0):
        values[attribute] = values[attribute] + draw.normal(size=values[attribute].shape)
        moved = loss.after(attribute, values[attribute])
        loss.keep(moved)
        shapes = tuple(ShapeFunction(one, value) for one, value in zip(bins, values, strict=True))
        expected = slow_loss(target, AdditiveModel(base, shapes, people.x.shape[1]), people, gamma)
        assert loss.loss == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("kind", KINDS)
def test_with_pairs_each_term_is_taken_at_its_own_worst_place(formula: str, kind: str) -> None:
    encoding, target, people = encoded(12, formula, kind=kind, weighted=True)
    bins = choose_bins(encoding, people.x, people.region, 5)
    chosen = [bins[0], *pair_bins(bins, people.x)[:2]]
    draw = np.random.default_rng(1)
    base = draw.normal(size=target.outputs)
    loss = loss_of(chosen, people, target, 1.5, base)
    values = [draw.normal(size=(one.count, target.outputs)) for one in chosen]
    for term, value in enumerate(values):
        loss.keep(loss.after(term, value))
    pairs = tuple(
        PairFunction(grid, value.reshape(grid.first.count, grid.second.count, -1))
        for grid, value in zip(chosen[1:], values[1:], strict=True)
    )
    model = AdditiveModel(base, (ShapeFunction(bins[0], values[0]),), people.x.shape[1], pairs)
    assert loss.loss == pytest.approx(slow_loss(target, model, people, 1.5), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_slopes_are_the_derivatives_of_the_loss(kind: str) -> None:
    encoding, target, people = encoded(15, FORMULAS["noise and a free category"], kind=kind, weighted=True)
    bins = choose_bins(encoding, people.x, people.region, 6)
    draw = np.random.default_rng(0)
    loss = loss_of(bins, people, target, 1.5, draw.normal(size=target.outputs))
    value = loss.now.value + draw.normal(size=loss.now.value.shape)
    before, slope = (point := loss.at(value)).loss, point.evaluation.slope
    own = [(p, s) for p in range(len(value)) for s in range(value.shape[1]) if slope[p, s] != 0.0]
    for p, s in own[::7]:
        nudged = value.copy()
        nudged[p, s] += 1e-6
        assert (loss.at(nudged).loss - before) * loss.size / 1e-6 == pytest.approx(slope[p, s], abs=1e-4)


def test_a_robust_loss_is_never_below_the_plain_one() -> None:
    encoding, target, people = encoded(40, FORMULAS["noise and a free category"])
    bins = choose_bins(encoding, people.x, people.region, 8)
    values = np.random.default_rng(0).normal(size=(bins[0].count, 1))
    found = []
    for gamma in (0.0, 1.0, 10.0):
        loss = loss_of(bins, people, target, gamma, np.zeros(1))
        found.append(loss.after(0, values).point.loss)
    assert found == sorted(found)


def test_who_has_nobody_similar_counts_by_the_plain_loss() -> None:
    encoding, target, people = encoded(30, "same(categorical) and numeric within 0.1 sd and age > 45")
    assert 0 < people.region.nonempty.sum() < 30
    bins = choose_bins(encoding, people.x, people.region, 8)
    loss = loss_of(bins, people, target, 1.0, np.array([0.3]))
    model = AdditiveModel(np.array([0.3]), (), people.x.shape[1])
    assert loss.loss == pytest.approx(slow_loss(target, model, people, 1.0))
