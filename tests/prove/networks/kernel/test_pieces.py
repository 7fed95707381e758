"""Pieces of the people: those who take no time in the calling thread, and what Ctrl-C leaves of them."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest

from lcifr.prove import maximize
from lcifr.prove.networks.kernel import call
from lcifr.prove.networks.kernel.arrays import Record, Room
from lcifr.prove.networks.kernel.call import Pieces, RecordShape
from lcifr.prove.networks.kernel.record import TURN
from lcifr.regions.region import Region
from tests.prove.instances import random_network

SHAPE = RecordShape(wanted=False, directions=1, neurons=4, early=0, rows=0, columns=3)


def pieces_with(kernel: Callable[[Record, int, int], int]) -> Pieces:
    def ask(_: Room, record: Record) -> Callable[[int, int], int]:
        return lambda begin, end: kernel(record, begin, end)

    return Pieces(ask, SHAPE, None, [])  # type: ignore[arg-type]


@pytest.mark.parametrize("done", [0, 3, 5])
def test_who_is_done_before_ctrl_c_counts(done: int) -> None:
    def interrupted(record: Record, begin: int, end: int) -> int:
        record.size[TURN] = done
        raise KeyboardInterrupt

    stopped: list[bool] = []
    assert pieces_with(interrupted).answer_easy(5, lambda: stopped.append(True)) == done
    assert stopped == [True]


def test_large_networks_are_left_to_threads_that_can_be_stopped() -> None:
    assert RecordShape(False, 1, 240, 120, 0, 12).few_nodes == 0
    assert SHAPE.few_nodes > 0


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("allowed", [1_000, 100_000])
def test_who_takes_long_is_answered_all_the_same(depth: int, allowed: int) -> None:
    """Whoever is handed over starts again, from the best point so far: answers are those of one call without end."""
    network = random_network(np.random.default_rng(depth), [3, *[12] * depth, 2])
    x = np.random.default_rng(0).normal(size=(6, 3))
    region = Region.from_arrays(x - 1.0, x + 1.0)
    directions = np.array([[1.0, 0.0], [0.5, -1.0]])
    with patch.object(call, "SMALL", 0):
        whole = maximize(network, directions, region, proof=True)
    with patch.object(call, "MILLISECONDS", allowed):
        parts = maximize(network, directions, region, proof=True)
    assert whole.nodes.sum() > 20  # somebody is handed over
    assert np.allclose(parts.upper, whole.upper, rtol=2e-6, atol=2e-6)
    assert (parts.status == whole.status).all()
    assert (parts.nodes > 0).sum() == (whole.nodes > 0).sum()
    assert parts.proof is not None
    assert [len(one) for one in parts.proof] == [len(one) for one in whole.proof or ()]
