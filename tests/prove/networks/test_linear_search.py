"""The search: what it returns lies in the region, is worth what it says, and is never worse than where it began."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lcifr.prove.networks.linear_bounds import backward, hidden_lines, tensors, view_cell
from lcifr.prove.networks.linear_search import CellPoints, assemble, climb, repair, value_of, vertex_of
from lcifr.regions.region import Region
from tests.prove.instances import random_instance

HIDDEN: list[list[int]] = [[], [6], [5, 4], [4, 3, 3]]
PEOPLE = 5


@pytest.mark.parametrize("seed", range(24))
def test_points_are_inside_and_worth_what_they_say(seed: int) -> None:
    one = random_instance(seed, people=PEOPLE, hidden=HIDDEN[seed % 4], k=2)
    for cell in one.region.cells:
        view = view_cell(tensors(one.network), cell)
        batch, item = view.batch, torch.arange(PEOPLE)
        alone = Region(PEOPLE, one.region.features, (cell,))
        for k, row in enumerate(one.directions):
            direction = torch.as_tensor(row).expand(PEOPLE, -1)
            reach = backward(batch, torch.as_tensor(one.directions), hidden_lines(batch))
            start = vertex_of(batch, reach, torch.full((PEOPLE,), k))
            points, value = climb(batch, direction, start)
            assert bool((value >= value_of(batch, direction, repair(batch, start))).all())
            found = (torch.isfinite(value).numpy()) & cell.present
            full = assemble(view, cell, item, points)
            # rows hold up to the rounding of a dot product; boxes and categories exactly
            assert (alone.contains(full, tolerance=1e-12 if cell.rows is not None else 0.0) | ~found).all()
            np.testing.assert_allclose(value.numpy()[found], (one.network(full) @ row)[found], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_with_rows_repair_finds_the_inside_from_anywhere_in_the_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    G, center = rng.normal(size=(2, 5)), rng.normal(size=(PEOPLE, 5))
    region = Region.from_arrays(center - 1, center + 1, rows=(G, center @ G.T + 0.1))
    network = random_instance(seed, hidden=[3]).network
    view = view_cell([(torch.zeros((3, 5), dtype=torch.float64), tensors(network)[0][1])], region.cells[0])
    anywhere = torch.as_tensor(center + rng.uniform(-1, 1, center.shape))
    landed = repair(view.batch, CellPoints(anywhere, ()))
    full = assemble(view, region.cells[0], torch.arange(PEOPLE), landed)
    assert region.contains(full, tolerance=1e-12).all()
    inside = region.contains(anywhere.numpy())
    assert (full[inside] == anywhere.numpy()[inside]).all()
