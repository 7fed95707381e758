"""People found in cells: the same cell that trying one after the other finds."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.regions.universe import CellIndex, UniverseCells

SCHEMA = Schema(
    (
        Numeric("age", lower=0, upper=9, integer=True),
        Numeric("income", lower=0, upper=1),
        Categorical("sex", ("female", "male")),
        Categorical("race", ("a", "b", "c")),
    )
)
ENCODING = Encoding(SCHEMA, np.zeros(2), np.ones(2))


def cut_often(times: int, seed: int) -> UniverseCells:
    """The universe, cut at random."""
    rng, cells = np.random.default_rng(seed), [UniverseCells.everybody(ENCODING, whole=True)]
    for _ in range(times):
        one = cells.pop(int(rng.integers(len(cells))))
        place = int(rng.integers(4))
        first = rng.random(2 if place == 2 else 3) < 0.5
        two = one.cut_number(0, place) if place < 2 else one.cut_category(0, place - 2, first)
        cells += [one] if two is None else [two.take([0]), two.take([1])]
    return UniverseCells.joined(cells)


def people_at(cells: UniverseCells, seed: int) -> Individuals:
    """At the ends of cells, and anywhere else."""
    rng, count = np.random.default_rng(seed), 300
    ends = np.concatenate([cells.lower, cells.upper])[rng.integers(2 * len(cells), size=count)]
    numbers = np.stack([ends[:, 0], np.where(rng.random(count) < 0.5, ends[:, 1], rng.random(count))], axis=1)
    return Individuals(SCHEMA, numbers, np.stack([rng.integers(0, k, count) for k in (2, 3)], 1).astype(np.int32))


def one_after_the_other(cells: UniverseCells, people: Individuals) -> np.ndarray:
    inside = [cells.contains(people.take(np.full(len(cells), row))) for row in range(len(people))]
    return np.array([int(mask.argmax()) if mask.any() else -1 for mask in inside])


@pytest.mark.parametrize("times", [0, 1, 6, 7, 8, 60])
def test_everybody_is_found_where_trying_all_cells_finds_them(times: int):
    cells = cut_often(times, times)
    people = people_at(cells, 1)
    assert (one_after_the_other(cells, people) >= 0).all()
    for some in (cells, cells.take(np.arange(0, len(cells), 2))):
        expected = one_after_the_other(some, people)
        assert np.array_equal(CellIndex(some).find(people), expected)
        assert np.array_equal(copy(CellIndex(some)).find(people), expected)


def test_nobody_is_in_no_cells_and_blocks_of_people_change_nothing(monkeypatch: pytest.MonkeyPatch):
    cells = cut_often(30, 3)
    people = people_at(cells, 2)
    whole = CellIndex(cells).find(people)
    monkeypatch.setattr("lcifr.regions.universe.AT_ONCE", 64)
    assert np.array_equal(CellIndex(cells).find(people), whole)
    assert (CellIndex(cells.take([])).find(people) == -1).all()
    assert len(CellIndex(cells).find(people.take([]))) == 0
