"""Default hyper-parameters of learning, the same for estimators, requests and commands.

Imports nothing heavy, because ``lcifr --help`` shows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
