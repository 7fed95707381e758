"""Searches that are interrupted by Ctrl-C, each in a process of its own: ``python -m tests.prove.interrupting NAME``.

A test runner may ignore the signal, or run tests outside the main thread, where Python never hears of it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from lcifr.prove import Budget, Interrupted, maximize, radius
from lcifr.prove.question import Status
from lcifr.regions.region import Region
from tests.prove.instances import random_network

PEOPLE = 6
ENOUGH = Budget(10**9, seconds=60)
"""More than a search can use before it is interrupted, and an end all the same if it never is."""


@contextmanager
def interrupted_soon() -> Iterator[None]:
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def hard(depth: int) -> tuple:
    """A question that takes far longer than anybody waits."""
    network = random_network(np.random.default_rng(0), [12, *[120] * depth, 2])
    x = np.zeros((PEOPLE, 12))
    small = np.full((PEOPLE, 12), 1.5)
    small[-1] = 1e-9  # the last is easy, and comes after all the others
    return network, x, Region.from_arrays(x - small, x + small)


def bounds_and_points_come_back(depth: int) -> None:
    network, _, region = hard(depth)
    directions = np.array([[1.0, 0.0], [0.0, -1.0]])
    maximize(network, directions, region, budget=1)  # compiles
    with interrupted_soon(), pytest.raises(Interrupted) as stopped:
        maximize(network, directions, region, budget=ENOUGH)
    known = stopped.value.known
    values = np.einsum("pso,ko->pks", network(region.sample(100)), directions).max(-1)
    assert (np.isfinite(known.upper) & np.isfinite(known.best)).all()
    assert (known.upper >= values).all()
    assert (known.best <= known.upper).all()
    assert (known.status[:-1] == Status.BUDGET).any()


def a_radius_comes_back_whole() -> None:
    network, x, region = hard(1)
    radius(network, x, region, budget=1)
    with interrupted_soon(), pytest.raises(Interrupted) as stopped:
        radius(network, x, region, budget=ENOUGH)
    known = stopped.value.known
    assert known.radius.shape == (PEOPLE,)
    assert (known.attained <= known.radius).all()
    away = np.abs(network(region.sample(100)) - network(x)[:, None]).max((1, 2))
    assert (known.radius >= away).all()
    assert not known.exact[:-1].all()


def it_is_ctrl_c_to_whoever_does_not_ask() -> None:
    """Runs stop as they always did."""
    network, x, region = hard(1)
    with interrupted_soon(), pytest.raises(KeyboardInterrupt):
        radius(network, x, region, budget=ENOUGH)


CASES: dict[str, Callable[[], None]] = {
    "bounds of one hidden layer": lambda: bounds_and_points_come_back(1),
    "bounds of two hidden layers": lambda: bounds_and_points_come_back(2),
    "a radius": a_radius_comes_back_whole,
    "Ctrl-C itself": it_is_ctrl_c_to_whoever_does_not_ask,
}

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    CASES[sys.argv[1]]()
