"""A million points around certified people: not one above what is proved of them."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.prove import maximize, radius
from tests.prove.instances import Instance, largest_sampled
from tests.prove.people import people
from tests.prove.worlds import World

HIDDEN = {1: (30,), 2: (20, 20), 3: (15, 15, 15), 4: (12, 12, 12, 12)}
POINTS = 250_000
"""For each depth."""


@pytest.mark.long
@pytest.mark.parametrize("depth", HIDDEN)
def test_no_sample_passes_a_bound_of_somebody_certified(depth: int) -> None:
    """Levels halfway between typical values and the bound: some are certified at once, some by branching, some not."""
    tried = 0
    for seed in range(5):
        world = World(seed, HIDDEN[depth], numerics=4, groups=(3, 2), rows=seed % 2, cells=1 + seed % 2, people=10)
        one = world.build()
        loose = maximize(one.network, one.directions, one.region, method="bounds")
        level = np.where(np.isfinite(loose.best), 0.4 * loose.best + 0.6 * loose.upper, 0.0)
        found = maximize(one.network, one.directions, one.region, target=level, method="branch", budget=300)
        sure = (found.upper < level) & np.isfinite(found.upper)
        who = np.flatnonzero(sure.any(1))
        each = POINTS // 5 // max(1, len(who))
        part = Instance(one.network, one.region.take(who), one.directions)
        assert (largest_sampled(part, seed, each) <= found.upper[who]).all(), world
        tried += each * len(who)
    assert tried > 0.8 * POINTS


@pytest.mark.long
def test_no_sample_leaves_a_ball() -> None:
    for seed in range(5):
        network, x, region = people(seed, count=20)
        found = radius(network, x, region)
        away = np.abs(network(region.sample(10_000, seed=seed)) - found.latent[:, None]).max((1, 2))
        assert (away <= found.radius).all()
