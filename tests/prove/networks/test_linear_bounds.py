"""The linear bound: true gradients, no point beats it, smaller regions only lower it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lcifr.prove import maximize
from lcifr.prove.networks.linear_bounds import (
    Box,
    CellBatch,
    backward,
    forward_intervals,
    hidden_lines,
    tensors,
    view_cell,
)
from lcifr.regions.region import Cell, Region
from tests.prove.instances import Instance, largest_sampled, random_instance

HIDDEN: list[list[int]] = [[], [6], [5, 4], [4, 3, 3]]
SEEDS = range(12)
PEOPLE = 4


def instance(seed: int) -> Instance:
    """Depth 0 to 3 in turn; boxes, choices, rows and several cells as the seed has it."""
    return random_instance(seed, people=PEOPLE, hidden=HIDDEN[seed % len(HIDDEN)], k=3)


def batch_of(one: Instance, cell: Cell) -> CellBatch:
    return view_cell(tensors(one.network), cell).batch


def plain(batch: CellBatch, directions: np.ndarray) -> torch.Tensor:
    return backward(batch, torch.as_tensor(directions), hidden_lines(batch)).upper


def smaller(rng: np.random.Generator, cell: Cell) -> Cell:
    """A cell inside ``cell``: each box cut from both sides, one more category forbidden where two are left."""
    low, high = rng.uniform(0, 0.4, cell.lower.shape), rng.uniform(0.6, 1, cell.lower.shape)
    width = cell.upper - cell.lower
    lower = np.clip(cell.lower + low * width, cell.lower, cell.upper)
    upper = np.clip(cell.lower + high * width, lower, cell.upper)
    choices = []
    for choice in cell.choices:
        allowed = choice.allowed.copy()
        for row in allowed:
            if row.sum() > 1:
                row[rng.choice(np.flatnonzero(row))] = False
        choices.append(replace(choice, allowed=allowed))
    return replace(cell, lower=lower, upper=upper, choices=tuple(choices))


@pytest.mark.parametrize("seed", range(8))
def test_gradients_in_the_weights_are_finite_differences(seed: int) -> None:
    one = instance(seed)
    cell, rng = one.region.cells[0], np.random.default_rng(seed)
    # coarse weights tie, and at a tie there is no gradient: so they are shaken a little
    whole = [
        part + torch.as_tensor(rng.normal(size=part.shape)) * 0.01 for pair in tensors(one.network) for part in pair
    ]
    flat = [part.requires_grad_() for part in whole]
    layers = list(zip(flat[::2], flat[1::2], strict=True))
    directions = torch.as_tensor(rng.normal(size=one.directions.shape))
    share = torch.as_tensor(rng.normal(size=(PEOPLE, len(directions))))

    def loss(parts: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
        batch = view_cell(parts, cell).batch
        return (share * backward(batch, directions, hidden_lines(batch)).upper).sum()

    slopes = torch.autograd.grad(loss(layers), flat, allow_unused=True)
    step, compared, tried = 1e-6, 0, 0
    with torch.no_grad():
        for part, slope in zip(flat, slopes, strict=True):
            known = torch.zeros_like(part) if slope is None else slope
            for place in rng.choice(part.numel(), min(8, part.numel()), replace=False):
                entry, here = part.view(-1), float(part.view(-1)[place])
                middle, sides, tried = float(loss(layers)), [], tried + 1
                for sign in (1.0, -1.0):
                    entry[place] = here + sign * step
                    sides.append(sign * (float(loss(layers)) - middle) / step)
                    entry[place] = here
                if abs(sides[0] - sides[1]) < 1e-4 * (1 + abs(sides[0])):  # else a kink is between
                    assert float(known.reshape(-1)[place]) == pytest.approx(sum(sides) / 2, rel=1e-4, abs=1e-4)
                    compared += 1
    assert compared >= 0.8 * tried


@pytest.mark.parametrize("seed", SEEDS)
def test_no_point_beats_any_bound(seed: int) -> None:
    one = instance(seed)
    for cell in one.region.cells:
        alone = Region(PEOPLE, one.region.features, (cell,))
        reached = largest_sampled(replace(one, region=alone), seed, 2000)
        batch = batch_of(one, cell)
        wide = torch.as_tensor(one.directions).expand(PEOPLE, -1, -1)
        for found in (plain(batch, one.directions), forward_intervals(batch, wide)):
            assert (found.numpy() >= reached)[cell.present].all()


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_are_intersected_with_intervals(seed: int) -> None:
    one = instance(seed)
    loose = maximize(one.network, one.directions, one.region, method="interval").upper
    assert (maximize(one.network, one.directions, one.region, method="bounds").upper <= loose).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_any_slopes_and_multipliers_are_sound(seed: int) -> None:
    """Whatever α in [0, 1] and λ ≥ 0 somebody comes up with: the bound may be loose, never false."""
    one, rng = instance(seed), np.random.default_rng(seed)
    for cell in one.region.cells:
        reached = largest_sampled(replace(one, region=Region(PEOPLE, one.region.features, (cell,))), seed, 500)
        batch = batch_of(one, cell)
        lines = [replace(line, lower=torch.as_tensor(rng.random(line.lower.shape))) for line in hidden_lines(batch)]
        rows = None
        if cell.rows is not None:
            rows = torch.as_tensor(rng.exponential(2.0, size=(PEOPLE, len(one.directions), len(cell.rows.G))))
        wide = torch.as_tensor(one.directions).expand(PEOPLE, -1, -1)
        found = backward(batch, wide, lines, rows=rows).upper.numpy()
        assert (found >= reached)[cell.present].all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_smaller_region_never_loosens_a_bound(seed: int) -> None:
    """Intervals and the same lines: both nest as the regions do."""
    one, rng = instance(seed), np.random.default_rng(seed)
    wide = torch.as_tensor(one.directions).expand(PEOPLE, -1, -1)
    for cell in one.region.cells:
        part = smaller(rng, cell)
        # a batch leaves out what does not move, so the smaller box is put on the larger cell's own batch
        outer = view_cell(tensors(one.network), cell)
        columns = [int(np.flatnonzero(cell.numeric == column)[0]) for column in outer.moving]
        lower, upper = torch.as_tensor(part.lower[:, columns]), torch.as_tensor(part.upper[:, columns])
        allowed = tuple(torch.as_tensor(part.choices[index].allowed) for index in outer.free)
        box = Box.of(lower, upper)
        inner = replace(outer.batch, box=box, allowed=allowed)
        lines, here = hidden_lines(outer.batch), torch.as_tensor(cell.present)
        pairs = [
            (forward_intervals(inner, wide), forward_intervals(outer.batch, wide)),
            (backward(inner, wide, lines).upper, backward(outer.batch, wide, lines).upper),
        ]
        for small, large in pairs:
            assert bool((small <= large + 1e-7 * (1 + large.abs()))[here].all())


@pytest.mark.parametrize("seed", [1, 5, 9, 13])
def test_the_exact_answer_shrinks_with_the_region(seed: int) -> None:
    one, rng = instance(seed), np.random.default_rng(seed)
    part = Region(PEOPLE, one.region.features, tuple(smaller(rng, cell) for cell in one.region.cells))
    large = maximize(one.network, one.directions, one.region).upper
    small = maximize(one.network, one.directions, part).upper
    assert (small <= large + 1e-5 * (1 + np.where(np.isfinite(large), np.abs(large), 0.0))).all()
