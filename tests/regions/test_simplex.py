"""Projection onto the simplex is the nearest point."""

from __future__ import annotations

import torch

from lcifr.regions.simplex import project_onto_simplex


def test_projection_onto_the_simplex_is_the_nearest_point() -> None:
    draw = torch.Generator().manual_seed(0)
    values = torch.randn(50, 5, generator=draw, dtype=torch.float64)
    allowed = torch.rand(50, 5, generator=draw) > 0.4
    allowed[:, 0] = True
    landed = project_onto_simplex(values, allowed)
    assert torch.allclose(landed.sum(1), torch.ones(50, dtype=torch.float64))
    assert (landed >= 0).all()
    assert (landed[~allowed] == 0).all()
    distance = (landed - values).square().sum(1)
    for _ in range(200):
        other = torch.rand(50, 5, generator=draw, dtype=torch.float64) * allowed
        other = other / other.sum(1, keepdim=True)
        assert (distance <= ((other - values).square()).sum(1) + 1e-9).all()
