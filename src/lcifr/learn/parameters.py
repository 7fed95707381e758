"""Hyper-parameters of learning with their defaults, the same for estimators, requests and commands.

Imports nothing heavy, because ``lcifr --help`` shows them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from lcifr.errors import LearningError

# Default hyper-parameters of learning, the same for estimators, requests and commands.
#
# Imports nothing heavy, because ``lcifr --help`` shows them.


class Learner(StrEnum):
    """The families of producers."""

    NETWORK = "network"
    """:class:`lcifr.FairEncoder`."""
    TREES = "trees"
    """:class:`lcifr.FairBooster`: boosted shape functions of attributes, z is a score for each."""
    BOTH = "both"
    """To be compared, by ``lcifr tune``."""


@dataclass(frozen=True)
class ScheduleDefaults:
    """How long and how fast; what the names mean is said by :class:`lcifr.learn.training_loop.Schedule`."""

    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float = 1e-4
    patience: int = 15
    warmup: float = 0.3
    validation_fraction: float = 0.2


@dataclass(frozen=True)
class EncoderDefaults(ScheduleDefaults):
    """Of :class:`lcifr.FairEncoder`, ``lcifr produce`` and ``lcifr tune``.

    Small batches: the tables people begin with have a thousand rows, of which larger ones make too few steps.
    """

    epochs: int = 50
    batch_size: int = 64
    learning_rate: float = 1e-3
    hidden: tuple[int, ...] = (20,)
    latent_dim: int = 20
    gamma: float = 1.0
    stretch: float = 1.0
    decoder_weight: float = 0.0


@dataclass(frozen=True)
class HeadDefaults(ScheduleDefaults):
    """Of :class:`lcifr.RobustClassifier`, :class:`lcifr.RobustRegressor` and ``lcifr consume``.

    A head is a small network on z, so larger batches are faster and cost nothing.
    """

    epochs: int = 100
    batch_size: int = 256
    learning_rate: float = 3e-3
    hidden: tuple[int, ...] = ()
    gamma: float = 1.0
    penalty: float = 1e-4


@dataclass(frozen=True)
class BoosterDefaults:
    """Of :class:`lcifr.FairBooster`, and of ``lcifr produce`` and ``lcifr tune`` with ``--learner trees``."""

    rounds: int = 300
    learning_rate: float = 0.1
    gamma: float = 1.0
    stretch: float = 1.0
    penalty: float = 1.0
    min_people: int = 10
    max_bins: int = 128
    patience: int = 30
    subsample: float = 1.0
    interactions: int | str = 0
    depth: int = 1
    validation_fraction: float = 0.2
    bags: int = 1


MOST_DEPTH = 6
"""Deepest trees of a booster: sets of leaves are 64 bits."""
AUTO = "auto"
"""In place of a number of pairs: held-out people find it."""
ENCODER, HEAD, BOOSTER = EncoderDefaults(), HeadDefaults(), BoosterDefaults()
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Weights of the promise that ``tune`` tries."""
HELD_OUT_SHARE = 0.2
"""Share of the people whom nobody trains on, unless a dataset has a split of its own."""


# Settings of boosting, checked.

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
