"""Settings of boosting, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lcifr.errors import LearningError
from lcifr.learn.defaults import AUTO, BOOSTER, MOST_DEPTH

STAGES = (5, 10, 20, 40)
"""Pairs at most after each stage, where their number is to be found: each stage is ranked by what the last one left."""


@dataclass(frozen=True)
class BoostingSettings:
    """How a model is boosted; see :class:`lcifr.FairBooster`."""

    rounds: int = BOOSTER.rounds
    learning_rate: float = BOOSTER.learning_rate
    gamma: float = BOOSTER.gamma
    stretch: float = BOOSTER.stretch
    penalty: float = BOOSTER.penalty
    min_people: int = BOOSTER.min_people
    max_bins: int = BOOSTER.max_bins
    patience: int = BOOSTER.patience
    subsample: float = BOOSTER.subsample
    interactions: int | str = BOOSTER.interactions
    depth: int = BOOSTER.depth
    bags: int = BOOSTER.bags
    monotone: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    tolerance: float = 0.0
    seed: int = 0
    verbose: bool = False

    def __post_init__(self) -> None:
        good = {
            "rounds": self.rounds >= 1,
            "learning_rate": 0 < self.learning_rate <= 1,
            "gamma": 0 <= self.gamma < math.inf,
            "stretch": 0 < self.stretch < math.inf,
            "penalty": 0 <= self.penalty < math.inf,
            "min_people": self.min_people >= 1,
            "max_bins": self.max_bins >= 2,
            "patience": self.patience >= 1,
            "subsample": 0 < self.subsample <= 1,
            "depth": 1 <= self.depth <= MOST_DEPTH,
            "bags": self.bags >= 1,
            "interactions": self.interactions == AUTO or _counts_pairs(self.interactions),
        }
        if wrong := [f"{name}={getattr(self, name)!r}" for name, fine in good.items() if not fine]:
            raise LearningError(
                f"{', '.join(wrong)} is not valid for a booster",
                fix="counts are at least 1, weights 0, learning_rate and subsample above 0 up to 1, "
                f'interactions 0, more or "auto", depth at most {MOST_DEPTH}',
            )

    @property
    def pair_stages(self) -> tuple[int, ...]:
        """How many pairs there may be after each stage of adding some."""
        if self.interactions == AUTO:
            return STAGES
        return (int(self.interactions),) if self.interactions else ()


def _counts_pairs(number: object) -> bool:
    return isinstance(number, int | np.integer) and bool(number >= 0)
