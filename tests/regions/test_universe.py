"""Cells of the universe: cut as one likes, everybody is in one of them, and nobody is counted twice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.data.encoding import Feature
from lcifr.errors import RegionError
from lcifr.regions.universe import UniverseCells

SCHEMA = Schema(
    (
        Numeric("age", lower=0.5, upper=6.5, integer=True),
        Numeric("income", lower=-1, upper=0.7),
        Numeric("year", lower=4, upper=4),
        Categorical("sex", ("f", "m")),
        Categorical("race", ("a", "b", "c")),
    )
)
ENCODING = Encoding(SCHEMA, np.zeros(3), np.ones(3))


def cut_at_random(cells: UniverseCells, times: int, seed: int) -> UniverseCells:
    rng = np.random.default_rng(seed)
    for _ in range(times):
        row, place = int(rng.integers(len(cells))), int(rng.integers(5))
        first = rng.random(len(SCHEMA.categorical[max(place - 3, 0)].values)) < 0.5
        two = cells.cut_number(row, place) if place < 3 else cells.cut_category(row, place - 3, first)
        if two is not None:
            cells = UniverseCells.joined([cells.take(np.arange(len(cells)) != row), two])
    return cells


def everybody() -> Individuals:
    """All whole ages with all categories, at incomes that no cut is likely to meet."""
    grid = np.stack(np.meshgrid(np.arange(1, 7), [-0.71, 0.123, 0.55], [0, 1], [0, 1, 2]), -1).reshape(-1, 4)
    numbers = np.column_stack([grid[:, :2], np.full(len(grid), 4.0)])
    return Individuals(SCHEMA, numbers, grid[:, 2:].astype(np.int32))


@pytest.mark.parametrize("whole", [False, True])
def test_measures_of_cut_cells_add_up_without_rounding(whole: bool):
    start = UniverseCells.everybody(ENCODING, whole=whole)
    lengths = Fraction(0.7) + 1
    assert start.measures() == [6 * lengths * 6]  # from 0.5 to 6.5, or six whole numbers
    cells = cut_at_random(start, 60, seed=1)
    assert len(cells) > 20
    assert sum(cells.measures()) == start.measures()[0]


def test_of_whole_numbers_everybody_is_in_exactly_one_cell():
    cells, people = cut_at_random(UniverseCells.everybody(ENCODING, whole=True), 60, seed=2), everybody()
    homes = sum(cells.take(np.full(len(people), row)).contains(people).astype(int) for row in range(len(cells)))
    assert (homes == 1).all()


def test_cells_cut_to_the_end_are_single_people():
    start = UniverseCells.everybody(Encoding(Schema(SCHEMA.attributes[::2]), np.zeros(2), np.ones(2)), whole=True)
    todo, single = [start], []
    while todo:
        cell = todo.pop()
        places = range(2)
        two = next((t for t in (cell.cut_number(0, place) for place in places) if t is not None), None)
        if two is None:
            first = np.zeros(3, np.bool_)
            first[int(cell.allowed[0][0].argmax())] = True
            two = cell.cut_category(0, 0, first)
        if two is None:
            single.append(cell)
        else:
            todo += [two.take([0]), two.take([1])]
    assert len(single) == 6 * 3
    assert all(cell.is_single()[0] and cell.measures() == [1] for cell in single)


def test_a_number_without_a_range_is_named():
    schema = Schema((Numeric("age", lower=0), Categorical("sex", ("f", "m"))))
    with pytest.raises(RegionError, match=r"\"age\"(.|\n)*add lower"):
        UniverseCells.everybody(Encoding(schema, np.zeros(1), np.ones(1)), whole=False)


@pytest.mark.parametrize(("lower", "upper"), [(0.2, 0.8), (0.5, 0.5)])
def test_a_range_without_a_whole_number_holds_nobody_and_is_refused(lower: float, upper: float):
    schema = Schema((Numeric("age", lower=lower, upper=upper, integer=True), Categorical("sex", ("f", "m"))))
    encoding = Encoding(schema, np.zeros(1), np.ones(1))
    with pytest.raises(RegionError, match='nobody can exist: the schema leaves "age"'):
        UniverseCells.everybody(encoding, whole=True)
    assert len(UniverseCells.everybody(encoding, whole=False)) == 1


def test_a_category_of_which_the_model_takes_no_value_is_refused():
    schema = Schema((Numeric("age", lower=0, upper=1), Categorical("sex", ("f", "m"))))
    outside = frozenset(Feature("sex", value) for value in ("f", "m"))
    with pytest.raises(RegionError, match='nobody can exist: the schema leaves "sex"'):
        UniverseCells.everybody(Encoding(schema, np.zeros(1), np.ones(1), outside=outside), whole=True)


def test_whole_numbers_are_cut_without_a_gap_up_to_the_last_that_floats_tell_apart():
    schema = Schema((Numeric("n", lower=2.0**53 - 5, upper=2.0**53, integer=True),))
    todo, single = [UniverseCells.everybody(Encoding(schema, np.zeros(1), np.ones(1)), whole=True)], []
    while todo:
        cell = todo.pop()
        two = cell.cut_number(0, 0)
        if two is None:
            single.append(cell)
        else:
            todo += [two.take([0]), two.take([1])]
    assert sorted(float(cell.lower[0, 0]) for cell in single) == [2.0**53 - k for k in (5, 4, 3, 2, 1, 0)]
    assert all(cell.is_single()[0] for cell in single)


def test_whole_numbers_that_floats_do_not_tell_apart_are_refused():
    schema = Schema((Numeric("n", lower=0, upper=2.0**53 + 40, integer=True),))
    with pytest.raises(RegionError, match=r'"n"(.|\n)*smaller range'):
        UniverseCells.everybody(Encoding(schema, np.zeros(1), np.ones(1)), whole=True)


def test_people_are_drawn_from_all_of_their_cells():
    schema = Schema(
        (
            Numeric("n", lower=0, upper=3, integer=True),
            Numeric("r", lower=0, upper=1),
            Categorical("c", ("a", "b", "c")),
        )
    )
    whole = UniverseCells.everybody(Encoding(schema, np.zeros(2), np.ones(2)), whole=True)
    cut = whole.cut_number(0, 0)
    assert cut is not None
    cells = UniverseCells.joined([cut, whole])
    drawn = cells.draw(200, np.random.default_rng(0))
    assert cells.take(np.repeat(np.arange(3), 200)).contains(drawn).all()
    assert set(drawn.numbers[:200, 0]) == {0.0, 1.0}
    assert set(drawn.numbers[400:, 0]) == {0.0, 1.0, 2.0, 3.0}
    assert set(drawn.codes[:200, 0]) == {0, 1, 2}
    assert 0 < drawn.numbers[:, 1].min() < 0.1 < 0.9 < drawn.numbers[:, 1].max() < 1
