"""Projection onto cells, rows and simplices: the nearest point, or none."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lcifr.learn import encoder
from lcifr.regions.region import Region
from lcifr.regions.sampling import project_onto_simplex
from tests.regions.example import square


def test_projection_onto_a_polytope_is_the_nearest_point():
    random = np.random.default_rng(11)
    matrix = np.zeros((4, 5))
    matrix[:, :4] = random.normal(size=(4, 4))
    limits = np.array([[0.5, 0.5, 1, 0, 0]] * 2) @ matrix.T + 0.1  # the middle, first category, is inside
    found = square(rows=(matrix, limits))
    inside = found.sample(100, seed=2)
    assert found.contains(inside, tolerance=1e-9).all()
    for _ in range(10):
        target = random.normal(scale=3, size=(2, 5))
        landed = found.project(target, tolerance=1e-9)
        assert (landed @ matrix.T <= limits + 1e-8).all()
        assert np.allclose(landed[:, 2:].sum(axis=1), 1)
        assert (landed[:, 2:] >= 0).all()
        assert (landed[0, 3:] == 0).all()
        assert ((landed[:, :2] >= 0) & (landed[:, :2] <= [[1], [2]])).all()
        away = np.linalg.norm(landed - target, axis=1)
        others = np.linalg.norm(inside - target[:, None], axis=2).min(axis=1)
        assert (away <= others + 1e-6).all()
    assert np.allclose(found.project(inside[:, 0]), inside[:, 0], atol=1e-7)


def test_wide_rows_and_thin_cells_are_sampled():
    """A cell that random draws hardly ever hit: x₁ = x₂ within a millionth."""
    rows = (np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[1e-6, 1e-6]]))
    found = Region.from_arrays([[0.0, 0.0]], [[1.0, 1.0]], rows=rows)
    drawn = found.sample(30, seed=0)
    assert found.contains(drawn, tolerance=1e-9).all()
    assert np.ptp(drawn[0, :, 0]) > 0.5


@pytest.mark.parametrize("seed", range(25))
def test_projections_satisfy_the_variational_inequality(seed):
    """p is the nearest point to t exactly if no q of the cell lies beyond p towards t: (q − p)·(t − p) ≤ 0."""
    random = np.random.default_rng(seed)
    numerics, categories, count = int(random.integers(1, 4)), int(random.integers(0, 4)), int(random.integers(1, 5))
    features = numerics + categories
    matrix = random.normal(size=(count, features)) * random.choice([1.0, 1.0, 0.0], size=(count, features))
    if seed % 3 == 0:
        matrix[-1] = -matrix[0]  # an equation, or a slab
    upper = np.concatenate([np.full(numerics, 2.0), np.ones(categories)])[None]
    inner = np.concatenate([random.random(numerics) * 2, np.eye(categories)[0] if categories else []])
    limits = (matrix @ inner + random.choice([0.0, 0.01, 0.5], size=count))[None]
    choices = [(np.arange(numerics, features), np.ones((1, categories), bool))] if categories else []
    found = Region.from_arrays(np.zeros((1, features)), upper, choices, (matrix, limits))
    inside = np.concatenate([found.sample(10, seed=seed)[0], inner[None]])
    target = random.normal(scale=3, size=(1, features))
    landed = found.project(target, tolerance=1e-9)
    assert (landed @ matrix.T <= limits + 1e-8).all()
    assert ((inside - landed) @ (target - landed)[0] <= 1e-6).all()


def test_a_polytope_without_a_point_has_no_projection():
    rows = (np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([[0.5, -0.7]]))  # ≤ 0.5 and ≥ 0.7
    found = Region.from_arrays([[0.0, 0.0]], [[1.0, 1.0]], rows=rows)
    assert np.isnan(found.project([[0.2, 0.2]])).all()
    assert np.isnan(found.sample(2)).all()
    nothing = Region.from_arrays([[0.0]], [[1.0]], rows=([[0.0]], [[1.0]]))  # a row that asks for nothing
    assert nothing.project([[7.0]]).tolist() == [[1.0]]


def test_projection_onto_the_simplex_is_the_nearest_point() -> None:
    draw = torch.Generator().manual_seed(0)
    values = torch.randn(50, 5, generator=draw, dtype=torch.float64)
    allowed = torch.rand(50, 5, generator=draw) > 0.4
    allowed[:, 0] = True
    landed = torch.as_tensor(project_onto_simplex(values.numpy(), allowed.numpy()))
    assert torch.allclose(landed, encoder.project_onto_simplex(values, allowed), atol=1e-14)
    assert torch.allclose(landed.sum(1), torch.ones(50, dtype=torch.float64))
    assert (landed >= 0).all()
    assert (landed[~allowed] == 0).all()
    distance = (landed - values).square().sum(1)
    for _ in range(200):
        other = torch.rand(50, 5, generator=draw, dtype=torch.float64) * allowed
        other = other / other.sum(1, keepdim=True)
        assert (distance <= ((other - values).square()).sum(1) + 1e-9).all()
