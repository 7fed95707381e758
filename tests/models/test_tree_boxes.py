"""Boxes of trees over regions: they hold every point, and where one tree makes an output their ends are attained."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.models.trees import Trees, box_around, box_over_cell, is_exact_over, output_region
from tests.prove.trees.ensembles import Case, random_case, random_tree
from tests.prove.trees.oracles import largest_by_cells

KINDS = [{}, {"cells": 2}, {"rows": True}, {"whole": True}]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_point_of_a_region_is_in_the_box(seed: int, kind: dict[str, object]) -> None:
    case: Case = random_case(seed, **kind)  # type: ignore[arg-type]
    points = case.region.sample(200, seed=seed)
    x = np.where(np.isnan(points[:, 0]), 0.0, points[:, 0])
    box = box_around(case.trees, x, case.region)
    for person in range(case.region.people):
        values = case.trees(points[person][~np.isnan(points[person]).any(1)])
        assert (values >= box.lower[person]).all()
        assert (values <= box.upper[person]).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cells", [1, 2])
def test_ends_are_attained_where_one_tree_makes_an_output(seed: int, cells: int) -> None:
    """By enumeration of all parts between thresholds; bits and all, because a leaf is the output itself."""
    case = random_case(seed, cells=cells)
    rng = np.random.default_rng(seed)
    trees = Trees.of(case.trees.inputs, [0.0], [random_tree(rng, 3, 1)])
    for person in range(case.region.people):
        part = case.region.take([person])
        boxes = [box_over_cell(trees, cell) for cell in part.cells if cell.present[0]]
        if boxes:
            assert max(box.upper[0, 0] for box in boxes) == largest_by_cells(trees, part, 0, np.ones(1))
            assert max(-box.lower[0, 0] for box in boxes) == largest_by_cells(trees, part, 0, -np.ones(1))
    assert is_exact_over(trees, case.region).all()


def test_a_sum_of_trees_or_a_linear_row_is_not_called_exact() -> None:
    case = random_case(0, rows=True)
    rng = np.random.default_rng(0)
    one, tree = Trees.of(case.trees.inputs, [0.0], [random_tree(rng, 3, 1)]), random_tree(rng, 2, 1)
    assert not is_exact_over(one, case.region)[case.region.nonempty].any()
    assert not is_exact_over(Trees.of(case.trees.inputs, [0.0], [tree, tree]), random_case(0).region).any()


def test_the_region_of_outputs_has_a_cell_for_each_with_room_around_it() -> None:
    case = random_case(3, cells=2)
    room = np.full((case.region.people, case.trees.outputs), 0.25)
    made = output_region(case.trees, case.region, room)
    assert len(made.cells) == len(case.region.cells)
    for cell, before in zip(made.cells, case.region.cells, strict=True):
        box = box_over_cell(case.trees, before)
        np.testing.assert_array_equal(cell.present, before.present)
        assert (cell.lower <= box.lower - 0.25).all()
        assert (cell.upper >= box.upper + 0.25).all()
