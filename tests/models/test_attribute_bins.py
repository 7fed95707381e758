"""Bins: thresholds between values and ends, and which bin an encoded value is in."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.learn.boosting.boosting import places_of, stretch_region
from lcifr.learn.boosting.places import Places
from lcifr.models.additive import APART, choose_bins, equal_shares
from tests.learn.boosting.models import pair_bins
from tests.learn.boosting.reference import FORMULAS, encoded


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_thresholds_separate_people_and_ends(formula: str) -> None:
    encoding, _, people = encoded(30, formula)
    for bins in choose_bins(encoding, people.x, people.region, 10_000)[:2]:
        assert bins.thresholds is not None
        own = people.x[:, bins.columns.start]
        assert (np.diff(bins.thresholds) > 0).all()
        assert own.min() < bins.thresholds.min()
        assert bins.thresholds.max() < own.max()
        ends = [end[cell.present] for cell in people.region.cells for end in bins.interval(cell)]
        values = np.unique(np.concatenate([own, *ends]).clip(own.min(), own.max()))
        apart = values[np.concatenate([[True], np.diff(values) > APART])]
        assert len(np.unique(bins.find(apart))) == len(apart)  # so each has a bin of its own


def test_at_most_so_many_bins() -> None:
    encoding, _, people = encoded(200, FORMULAS["noise and a free category"])
    for most in (2, 7, 50):
        assert all(bins.count <= max(most, 3) for bins in choose_bins(encoding, people.x, people.region, most))


def test_a_value_equal_to_a_threshold_is_below_it() -> None:
    encoding, _, people = encoded(20, FORMULAS["noise and a free category"])
    bins = choose_bins(encoding, people.x, people.region, 8)[0]
    assert bins.thresholds is not None
    assert (bins.find(bins.thresholds) == np.arange(len(bins.thresholds))).all()
    assert (bins.find(np.nextafter(bins.thresholds, np.inf)) == np.arange(len(bins.thresholds)) + 1).all()


def test_places_hold_own_points_first_and_then_every_present_cell() -> None:
    encoding, _, people = encoded(25, FORMULAS["several cells"])
    bins = choose_bins(encoding, people.x, people.region, 8)
    places = Places.of(people.x, people.region, people.weight, 1.0)
    cells = sum(cell.present.astype(int) for cell in people.region.cells)
    assert cells.max() == 2
    assert (np.diff(places.start)[:25] == 1).all()
    assert (np.diff(places.start)[25:] == cells[cells > 0]).all()
    assert places.weight[:25].sum() == pytest.approx(12.5)
    for one in (*bins, *pair_bins(bins, people.x)):
        term = places_of(places, one)
        ranges = term.ranges
        assert (ranges.member[ranges.start[term.number[:25]]] == one.of_points(people.x)).all()
        assert ranges.people.sum() == 25


def test_a_frequent_value_does_not_take_the_bins_of_the_others() -> None:
    """Nine of ten people have 0, and the others' values are far apart: all of those get bins."""
    counts = np.array([900, *[2] * 50])
    cuts = equal_shares(counts, 20)
    assert len(cuts) >= 18
    assert cuts[0] == 0
    assert np.diff(cuts).max() <= 4


@pytest.mark.parametrize("most", [2, 5, 30])
def test_equal_shares_are_equal_where_values_are_rare(most: int) -> None:
    counts = np.random.default_rng(0).integers(1, 3, 3000)
    parts = np.split(counts, equal_shares(counts, most) + 1)
    assert len(parts) == most
    assert max(part.sum() for part in parts) - min(part.sum() for part in parts) <= 4


@pytest.mark.parametrize("factor", [0.25, 3.0])
def test_stretched_intervals_are_so_many_times_as_long_and_hold_whom_they_held(factor: float) -> None:
    _, _, people = encoded(20, FORMULAS["several cells"])
    stretched = stretch_region(people.region, people.x, factor)
    for before, after in zip(people.region.cells, stretched.cells, strict=True):
        np.testing.assert_allclose(after.upper - after.lower, factor * (before.upper - before.lower), atol=1e-12)
        own = people.x[:, before.numeric]
        held = (before.lower <= own) & (own <= before.upper)
        still = (after.lower <= own) & (own <= after.upper)
        assert (still[held]).all()
