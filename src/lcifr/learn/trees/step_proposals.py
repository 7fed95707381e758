"""Proposals of steps: the best one of every attribute, found in threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch

from lcifr.learn.trees.attribute_bins import AttributeBins
from lcifr.learn.trees.places import BinRanges
from lcifr.learn.trees.range_sums import order_categories, sum_slopes
from lcifr.learn.trees.robust_loss import RobustLoss
from lcifr.learn.trees.step_search import CUT, FIRST, GAIN, SECOND, find_step
from lcifr.regions.region import BoolArray, FloatArray


@dataclass(frozen=True)
class StepRules:
    """What a step must be like.

    Parameters
    ----------
    rate : the learning rate. penalty : of the squared step, in people. least : people on either side of a cut.
    """

    rate: float
    penalty: float
    least: int


@dataclass(frozen=True)
class BoostingStep:
    """Add to one output's shape function of an attribute.

    Parameters
    ----------
    second : (bins,) which bins get ``second_value``; the others get ``first_value``.
    gain : by how much the mean loss should fall.
    """

    attribute: int
    output: int
    second: BoolArray
    first_value: float
    second_value: float
    gain: float

    def times(self, factor: float) -> FloatArray:
        """(bins,) what is added, shortened."""
        return np.where(self.second, factor * self.second_value, factor * self.first_value)


class _SearchRoom:
    """Arrays that the search in one attribute needs; made once."""

    def __init__(self, bins: AttributeBins, ranges: BinRanges, directions: int) -> None:
        count = bins.count
        spans = np.diff(ranges.start) - 1 if bins.thresholds is not None else count - 1
        cuts = np.where(np.diff(ranges.start) > 1, spans, 0)
        self.sums = np.empty((len(ranges.people), directions, 2))
        self.order = np.arange(count, dtype=np.int32)
        self.sides, self.begin = np.empty((2, count, 3)), np.empty((2, count + 1), np.int64)
        self.entries = np.empty((max(1, int(cuts.sum()) * directions), 4))
        self.scratch, self.best = np.empty((count, 3)), np.empty(4)


class StepProposer:
    """The best step of each attribute for the loss of some people, by its second-order model.

    Parameters
    ----------
    monotone : (attributes,) 1 or −1 where the shape function must rise or fall, else 0.
    """

    def __init__(
        self, bins: Sequence[AttributeBins], loss: RobustLoss, rules: StepRules, monotone: Sequence[int]
    ) -> None:
        self.bins, self.loss, self.rules, self.monotone = bins, loss, rules, monotone
        self.matrix = loss.directions.matrix
        ranges = loss.places.ranges
        self.rooms = [_SearchRoom(one, own, len(self.matrix)) for one, own in zip(bins, ranges, strict=True)]
        self.threads = max(1, min(torch.get_num_threads(), len(bins)))

    def propose(
        self, values: Sequence[FloatArray], output: int, slope: FloatArray, curve: FloatArray, pool: ThreadPoolExecutor
    ) -> list[BoostingStep]:
        """The steps that promise something, best first.

        Parameters
        ----------
        values : of each attribute, (bins, outputs). slope, curve : (places, slots) of the loss.
        """

        def search(first: int) -> list[BoostingStep | None]:
            mine = range(first, len(self.bins), self.threads)
            return [self._best(attribute, values[attribute], output, slope, curve) for attribute in mine]

        found = [step for part in pool.map(search, range(self.threads)) for step in part if step is not None]
        return sorted(found, key=lambda step: (-step.gain, step.attribute))

    def _best(
        self, attribute: int, values: FloatArray, output: int, slope: FloatArray, curve: FloatArray
    ) -> BoostingStep | None:
        room, ranges, places = self.rooms[attribute], self.loss.places.ranges[attribute], self.loss.places
        signs = np.ascontiguousarray(self.matrix[:, output])
        sum_slopes(places.number[attribute], self.loss.slots, slope, curve, room.sums)
        if self.bins[attribute].thresholds is None:
            order_categories(ranges.start, ranges.member, signs, room.sums, room.scratch, room.order)
        find_step(
            ranges.start,
            ranges.member,
            ranges.people,
            room.order,
            np.ascontiguousarray(values @ self.matrix.T),
            signs,
            room.sums,
            self.rules.rate,
            self.rules.penalty,
            self.rules.least,
            self.monotone[attribute],
            room.sides,
            room.begin,
            room.entries,
            room.scratch,
            room.best,
        )
        if not room.best[GAIN] > 0.0:
            return None
        second = np.ones(len(room.order), np.bool_)
        second[room.order[: int(room.best[CUT]) + 1]] = False
        gain = float(room.best[GAIN]) / self.loss.size
        return BoostingStep(attribute, output, second, float(room.best[FIRST]), float(room.best[SECOND]), gain)
