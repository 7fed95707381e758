"""A GPU answers like the CPU. Skipped, with the reason, where there is none."""

import itertools

import numpy as np
import pytest
import torch

import lcifr

needs_gpu = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no CUDA device: torch.cuda.is_available() is False"
)


def problem(
    people: int, seed: int, hidden: tuple[int, ...] = (12, 8)
) -> tuple[lcifr.Network, np.ndarray, lcifr.Region]:
    """A random network, people, and a region with a box, a free choice, a settled one, and a second cell."""
    random = np.random.default_rng(seed)
    widths = [9, *hidden, 3]
    pairs = [
        (random.normal(size=(b, a)) / np.sqrt(a), random.normal(size=b) / 4) for a, b in itertools.pairwise(widths)
    ]
    x = np.zeros((people, 9))
    x[:, :4] = random.normal(size=(people, 4))
    x[np.arange(people), 4 + random.integers(0, 3, people)] = 1
    x[np.arange(people), 7 + random.integers(0, 2, people)] = 1
    reach = np.array([0.3, 0.3, 0.0, 0.1])
    lower, upper = x.copy(), x.copy()
    lower[:, 4:], upper[:, 4:] = 0, 1
    lower[:, :4] -= reach
    upper[:, :4] += reach
    free, own = np.ones((people, 3), bool), x[:, 7:] > 0
    cells = [
        lcifr.Region.from_arrays(lower, upper, [([4, 5, 6], free), ([7, 8], own)]),
        lcifr.Region.from_arrays(
            lower - 0.1, upper, [([4, 5, 6], x[:, 4:7] > 0), ([7, 8], np.ones((people, 2), bool))]
        ),
    ]
    return lcifr.Network.from_arrays(pairs), x, lcifr.Region.union(cells)


def close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    return bool((np.abs(a - b) <= tolerance * (1 + np.abs(a))).all())


@needs_gpu
@pytest.mark.parametrize("method", ["interval", "bounds", "branch", "cascade"])
def test_maximize_on_the_gpu(method):
    network, _, region = problem(64, seed=1)
    there = lcifr.maximize(network, np.eye(3), region, method=method, device="cuda")
    here = lcifr.maximize(network, np.eye(3), region, method=method)
    # Both are sound by themselves; where both are exact to 1e-6 they may differ by both tolerances.
    assert close(here.upper, there.upper, 1e-9 if method in ("interval", "bounds") else 3e-6)
    assert (there.upper >= here.best).all()
    assert (here.upper >= there.best).all()


@needs_gpu
def test_radius_on_the_gpu():
    network, x, region = problem(200, seed=2, hidden=(20,))
    there, here = lcifr.radius(network, x, region, device="cuda"), lcifr.radius(network, x, region)
    assert there.exact.all()
    assert close(here.radius, there.radius, 3e-6)
    assert (there.radius >= here.attained).all()


@needs_gpu
def test_proofs_made_on_the_gpu_are_confirmed():
    from tests.prove.confirming import refusals

    network, _, region = problem(8, seed=3, hidden=(10,))
    directions = np.broadcast_to(np.eye(3), (8, 3, 3))
    answer = lcifr.maximize(network, directions, region, device="cuda", proof=True)
    assert refusals(network, directions, region, answer) == []


def test_the_same_problem_on_the_cpu_is_exact_and_confirmed():
    """The problems above mean something: without a GPU they are at least solved here."""
    network, x, region = problem(30, seed=2, hidden=(20,))
    found = lcifr.radius(network, x, region)
    assert found.exact.all()
    points = region.sample(50, seed=0)
    away = np.abs(network(points) - found.latent[:, None]).max(axis=2)
    assert (away.max(axis=1) <= found.radius).all()
