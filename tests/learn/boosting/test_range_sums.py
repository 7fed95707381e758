"""Sums per range: one slot, for which there is a short way, counts as several of which the others hold nothing."""

from __future__ import annotations

import numpy as np

from lcifr.learn.boosting.attribute_steps import move, sum_slopes

PLACES, RANGES, DIRECTIONS = 200, 7, 3


def test_one_slot_and_several_are_summed_and_moved_alike() -> None:
    rng = np.random.default_rng(0)
    number = rng.integers(RANGES, size=PLACES).astype(np.int32)
    slots = rng.integers(DIRECTIONS, size=(PLACES, 2)).astype(np.int32)
    slope, curve = rng.normal(size=(2, PLACES, 2))
    slope[:, 1] = curve[:, 1] = 0.0
    one, several = np.empty((2, RANGES, DIRECTIONS, 2))
    first = slice(None), slice(0, 1)
    narrow = [np.ascontiguousarray(each[first]) for each in (slots, slope, curve)]
    sum_slopes(number, *narrow, one)
    sum_slopes(number, slots, slope, curve, several)
    np.testing.assert_array_equal(one, several)
    expected = np.zeros((RANGES, DIRECTIONS))
    np.add.at(expected, (number, slots[:, 0]), slope[:, 0])
    np.testing.assert_allclose(one[..., 0], expected)
    change, value = rng.normal(size=(RANGES, DIRECTIONS)), rng.normal(size=(PLACES, 2))
    moved = np.ascontiguousarray(value[first])
    move(number, narrow[0], change, moved)
    move(number, slots, change, value)
    np.testing.assert_array_equal(moved[:, 0], value[:, 0])
