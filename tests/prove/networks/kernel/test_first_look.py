"""The first look at a person: what it settles is true, and the same as what the whole search says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lcifr.models.network import Network
from lcifr.prove import maximize
from lcifr.regions.region import Region
from tests.effort import quartered
from tests.prove.cancelling import largest_exactly, stable_network
from tests.prove.instances import random_network, random_region

WIDTHS = {2: [6, 5], 3: [5, 5, 4], 4: [4, 4, 4, 4]}
PEOPLE = 12


def question(hidden: int, seed: int, rows: int = 0) -> tuple[Network, Region, np.ndarray]:
    """A network of two outputs, regions of a few people, and a direction for each of them."""
    rng = np.random.default_rng([hidden, seed])
    network = random_network(rng, [3 + 5, *WIDTHS[hidden], 2])
    region = random_region(rng, PEOPLE, 3, [3, 2], rows, 1 + seed % 2, False)
    return network, region, rng.normal(size=(PEOPLE, 2, 2))


@pytest.mark.sampled
@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("hidden", WIDTHS)
def test_no_point_of_a_region_beats_a_bound_that_settled_a_person(hidden: int, rows: int) -> None:
    settled = 0
    for seed in range(quartered(8)):
        network, region, directions = question(hidden, seed, rows)
        points = region.sample(quartered(300) if rows else 300, seed=seed)  # with rows each takes a linear program
        reached = np.einsum("psf,pkf->pks", network(np.nan_to_num(points)), directions)
        reached = np.where(np.isnan(points).any(-1)[:, None], -np.inf, reached).max(-1)
        for above in (-0.2, 0.05, 0.5, 3.0):
            target = np.where(np.isfinite(reached), reached, 0.0) + above
            found = maximize(network, directions, region, target=target, method="branch")
            room = 1e-9 * (1.0 + np.abs(np.where(np.isfinite(found.upper), found.upper, 0.0)))
            assert (reached <= found.upper + room).all(), (seed, above)
            assert (found.best <= found.upper).all()
            settled += int(((found.upper < target) & (found.nodes == 0) & np.isfinite(found.upper)).sum())
    assert settled > quartered(100), "or nothing was tested"


@pytest.mark.sampled
@pytest.mark.parametrize("hidden", WIDTHS)
def test_it_says_what_the_whole_search_says(hidden: int) -> None:
    """With proofs, and without a target, nobody is done at the first look."""
    wider = 0
    for seed in range(quartered(6)):
        network, region, directions = question(hidden, seed)
        exact = maximize(network, directions, region, method="branch")
        for away in (-1.0, -0.1, 0.1, 1.0):
            target = np.where(np.isfinite(exact.upper), exact.upper, 0.0) + away
            hasty = maximize(network, directions, region, target=target, method="branch")
            proved = maximize(network, directions, region, target=target, method="branch", proof=True)
            assert ((hasty.upper < target) == (exact.upper < target)).all(), (seed, away)
            assert ((hasty.best > target) == (exact.best > target)).all(), (seed, away)
            assert ((hasty.upper < target) == (proved.upper < target)).all(), (seed, away)
            assert (hasty.upper >= exact.best).all()
            wider += int((hasty.upper > proved.upper + 1e-6).sum())
    assert wider > 0, "nobody was done at the first look"


@pytest.mark.sampled
@pytest.mark.parametrize("hidden", [2, 3, 4, 6])
def test_rounding_never_certifies_what_is_not_true(hidden: int) -> None:
    """Numbers up to 1e15 that later layers cancel, and targets that are nearer to the maximum than rounding."""
    certified = 0
    for seed in range(quartered(25)):
        rng = np.random.default_rng(1000 * hidden + seed)
        network = stable_network(rng, hidden)
        low = rng.uniform(-1.0, 1.0, size=(1, 3))
        high = low + rng.uniform(0.0, 1.0, size=(1, 3))
        truth = largest_exactly(network, low[0], high[0])
        proved = float(maximize(network, np.ones((1, 1)), Region.from_arrays(low, high), method="branch").upper[0, 0])
        room = abs(proved - float(truth)) + 1e-300
        for share in (-1.0, -1e-3, 0.0, 1e-3, 0.5, 1.0, 2.0):
            target = float(truth) + share * room
            region = Region.from_arrays(low, high)
            found = maximize(network, np.ones((1, 1)), region, target=target, method="branch")
            assert truth <= Fraction(float(found.upper[0, 0])), (seed, share)
            if found.upper[0, 0] < target:
                certified += 1
                assert truth < Fraction(target), (seed, share)
    assert certified > quartered(10)
