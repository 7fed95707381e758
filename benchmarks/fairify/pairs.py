"""SAT pairs, computed again by the published network: in rational numbers, and in float32 as a machine would."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from benchmarks.fairify.networks import Row
from numpy.typing import NDArray

from lcifr.certification.counterexample import Pairs
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.network import DeployedNetworks, Stage


@dataclass(frozen=True)
class ConfirmedPairs:
    """How many pairs cross strictly in exact arithmetic, and how many of them on every machine with float32."""

    exactly: int = 0
    in_float32: int = 0

    def __add__(self, other: ConfirmedPairs) -> ConfirmedPairs:
        return ConfirmedPairs(self.exactly + other.exactly, self.in_float32 + other.in_float32)


def confirm_pairs(row: Row, pairs: Pairs) -> ConfirmedPairs:
    """Computes both outputs of every pair that was found.

    A pair counts in float32 if both outputs are further from 0 than float32 is proved to round there. Then a plain
    forward pass must agree; of the others a machine may see a tie, or the opposite.

    Raises
    ------
    AssertionError
        If a pair is no strict crossing, or a forward pass in float32 contradicts the proved rounding.
    """
    found = pairs.take(pairs.found)
    machine, count = DeployedNetworks.on_latents(Stage(row.stored, Arithmetic.FLOAT32)), ConfirmedPairs()
    points = [row.raw(people) for people in (found.x, found.other)]
    rounding = [machine.error_at(one)[:, 0].tolist() for one in points]
    computed = [in_float32(row, one).tolist() for one in points]
    for place in range(len(found.found)):
        here, there = (row.stored.exactly(one[place].tolist())[0] for one in points)
        assert here * there < 0, "a pair that is no strict crossing"
        sure = abs(here) > rounding[0][place] and abs(there) > rounding[1][place]
        assert not sure or computed[0][place] * computed[1][place] < 0, "float32 rounds more than was proved"
        count += ConfirmedPairs(1, int(sure))
    return count


def in_float32(row: Row, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(people,) outputs of a plain forward pass in float32."""
    *hidden, last = row.stored.layers
    values = points.astype(np.float32)
    for layer in hidden:
        values = np.maximum(values @ layer.weight.T.astype(np.float32) + layer.bias.astype(np.float32), 0)
    return np.asarray(values @ last.weight.T.astype(np.float32) + last.bias.astype(np.float32), np.float64)[:, 0]
