"""Sampling and projection stay inside the region."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from tests.phi.worlds import World, laws, worlds


@laws
@given(worlds(pairs=2, max_leaves=5))
def test_samples_lie_in_the_region_and_projections_land_there(world: World):
    region = world.region()
    points = region.sample(4, seed=1)
    there = region.nonempty & ~np.isnan(points).any(axis=(1, 2))
    assert region.contains(points, tolerance=1e-9)[there].all()
    landed = region.project(world.encoding.encode(world.tables[1]), tolerance=1e-6)
    assert not np.isnan(landed[there]).any()
    for group in region.cells[0].choices if region.cells else ():
        assert np.allclose(landed[there][:, group.columns].sum(axis=1), 1)
    assert np.allclose(region.project(points[:, 0])[there], points[there, 0], atol=1e-6)
