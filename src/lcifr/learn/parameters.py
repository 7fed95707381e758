"""Hyper-parameters of learning, each stated once: default, limits and help, for estimators, requests and commands.

Imports nothing heavy, because ``lcifr --help`` shows them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from numbers import Integral
from typing import Any

from lcifr.errors import LearningError


class Learner(StrEnum):
    """The families of producers."""

    NETWORK = "network"
    """:class:`lcifr.FairEncoder`."""
    TREES = "trees"
    """:class:`lcifr.FairBooster`: boosted shape functions of attributes, z is a score for each."""
    BOTH = "both"
    """To be compared, by ``lcifr tune``."""


MOST_DEPTH = 6
"""Deepest trees of a booster: sets of leaves are 64 bits."""
AUTO = "auto"
"""In place of a number of pairs: held-out people find it."""
STAGES = (5, 10, 20, 40)
"""Pairs at most after each stage, where their number is to be found: each stage is ranked by what the last one left."""
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Weights of the promise that ``tune`` tries."""
HELD_OUT_SHARE = 0.2
"""Share of the people held out from training, unless a dataset has a split of its own."""


# What is known of one hyper-parameter


@dataclass(frozen=True)
class Parameter:
    """One hyper-parameter.

    Parameters
    ----------
    default : its value where nothing else is given. help : what it does, in a sentence for the command line.
    least, most : the ends of what is allowed, None for no end. is_open : whether ``least`` itself is not allowed.
    offered : the least that a command offers, where ``least`` is open.
    """

    default: Any
    help: str
    least: float | None = None
    most: float | None = None
    is_open: bool = False
    offered: float | None = None

    def admits(self, value: Any) -> bool:
        """Whether a value is finite and within the limits; one that is no number is judged elsewhere."""
        if value is None or isinstance(value, str | tuple) or (self.least is None and self.most is None):
            return True
        low = self.least is None or value > self.least or (value == self.least and not self.is_open)
        return bool(low and (self.most is None or value <= self.most) and value < math.inf)


def parameter(default: Any, help: str, **limits: Any) -> Any:
    """A field of a dataclass with its :class:`Parameter`."""
    return field(default=default, metadata={"parameter": Parameter(default, help, **limits)})


def parameters(kind: Any) -> dict[str, Parameter]:
    """Every hyper-parameter of a class below, or of an instance, by name."""
    return {one.name: one.metadata["parameter"] for one in fields(kind) if "parameter" in one.metadata}


def find_invalid(settings: Any) -> list[str]:
    """``name=value`` of every hyper-parameter that is outside its limits."""
    given = {name: (known, getattr(settings, name)) for name, known in parameters(settings).items()}
    return [f"{name}={value!r}" for name, (known, value) in given.items() if not known.admits(value)]


# Hyper-parameters of each learner

_HIDDEN = 'Widths of hidden layers, such as "20" or "100,100".'
_EPOCHS = "Training epochs."
_BATCH = "People per training step."
_RATE = "Step size of the optimiser."
_STRETCH = "Train labels to survive this many times the proved radius; higher values certify more people."


@dataclass(frozen=True)
class ScheduleParameters:
    """How long and how fast a network learns: small batches, since tables of a thousand rows make few steps else."""

    epochs: int = parameter(50, _EPOCHS, least=1)
    batch_size: int = parameter(64, _BATCH, least=1)
    learning_rate: float = parameter(1e-3, _RATE, least=0, is_open=True)
    weight_decay: float = parameter(1e-4, "Weight of the squared weights of the network.", least=0)
    patience: int = parameter(15, "Epochs without progress before training stops.", least=1)
    warmup: float = parameter(0.3, "Share of the epochs over which gamma grows to its full value.", least=0, most=1)


@dataclass(frozen=True)
class ObjectiveParameters:
    """The architecture of an encoder, and what it is trained for."""

    hidden: tuple[int, ...] = parameter((20,), _HIDDEN)
    latent_dim: int = parameter(20, "Width of the representation z.", least=1)
    gamma: float = parameter(1.0, "Weight of certification against accuracy; `lcifr tune` finds one.", least=0)
    stretch: float = parameter(1.0, _STRETCH, least=0, is_open=True)
    decoder_weight: float = parameter(
        0.0, "Weight of reconstructing the attributes from z; above 0, z also serves other labels.", least=0
    )


@dataclass(frozen=True)
class EncoderParameters(ObjectiveParameters, ScheduleParameters):
    """Of :class:`lcifr.FairEncoder`, ``lcifr produce`` and ``lcifr tune``."""

    validation_fraction: float = parameter(0.2, "Share of the people held out for early stopping.")


@dataclass(frozen=True)
class HeadParameters(ScheduleParameters):
    """Of :class:`lcifr.RobustClassifier`, :class:`lcifr.RobustRegressor` and ``lcifr consume``.

    A head is a small network on z, so larger batches are faster and cost nothing.
    """

    epochs: int = parameter(100, _EPOCHS, least=1)
    batch_size: int = parameter(256, _BATCH, least=1)
    learning_rate: float = parameter(3e-3, _RATE, least=0, is_open=True)
    hidden: tuple[int, ...] = parameter((), _HIDDEN)
    gamma: float = parameter(1.0, "Weight of certification against accuracy.", least=0)
    penalty: float = parameter(1e-4, "Weight of the squared weights of a linear head.", least=0)
    validation_fraction: float = parameter(0.2, "Share of the people held out for early stopping.")


@dataclass(frozen=True)
class BoosterParameters:
    """Of :class:`lcifr.FairBooster`, and of ``lcifr produce`` and ``lcifr tune`` with ``--learner trees``."""

    rounds: int = parameter(300, "Boosting rounds, at most; training stops early.", least=1)
    learning_rate: float = parameter(0.1, "Shrinks each boosting step.", least=0, is_open=True, most=1, offered=1e-6)
    gamma: float = parameter(1.0, "Weight of certification against accuracy; `lcifr tune` finds one.", least=0)
    stretch: float = parameter(1.0, _STRETCH, least=0, is_open=True)
    penalty: float = parameter(1.0, "Weight of the squared steps.", least=0)
    min_people: int = parameter(10, "People on either side of a split, at least.", least=1)
    max_bins: int = parameter(128, "Bins per numeric attribute, at most.", least=2)
    patience: int = parameter(30, "Rounds without progress before training stops.", least=1)
    subsample: float = parameter(
        1.0, "Share of people used in each round.", least=0, is_open=True, most=1, offered=0.01
    )
    interactions: int | str = parameter(
        0, "Pairs of attributes with a score of their own, at most; auto: as many as help validation people.", least=0
    )
    depth: int = parameter(
        1,
        "Above 1: add trees with up to this many cuts on the way to a leaf, each with its own score.",
        least=1,
        most=MOST_DEPTH,
    )
    validation_fraction: float = parameter(0.2, "Share of the people held out for early stopping.")
    bags: int = parameter(
        1, "Models to average, each trained without a different share of the people; for small tables.", least=1
    )


ENCODER, HEAD, BOOSTER = EncoderParameters(), HeadParameters(), BoosterParameters()


@dataclass(frozen=True)
class BoostingSettings(BoosterParameters):
    """How a model is boosted, checked; see :class:`lcifr.FairBooster`."""

    monotone: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    tolerance: float = 0.0
    seed: int = 0
    verbose: bool = False

    def __post_init__(self) -> None:
        pairs: Any = self.interactions
        wrong = find_invalid(self)
        if pairs != AUTO and not isinstance(pairs, Integral):  # numpy's are too
            wrong.append(f"interactions={pairs!r}")
        if wrong:
            raise LearningError(
                f"{', '.join(dict.fromkeys(wrong))} is not valid for a booster",
                fix="counts are at least 1, weights 0, learning_rate and subsample above 0 up to 1, "
                f'interactions 0, more or "auto", depth at most {MOST_DEPTH}',
            )

    @property
    def pair_stages(self) -> tuple[int, ...]:
        """How many pairs there may be after each stage of adding some."""
        if self.interactions == AUTO:
            return STAGES
        return (int(self.interactions),) if self.interactions else ()


ATTACK_STEPS = 25
"""Of the search for counterexamples (DL2): the paper's."""
ATTACK_STEP = 0.05
"""In standard deviations: the paper's."""


class TrainingMethod(StrEnum):
    """How robustness is trained: on proved bounds, or on counterexamples (DL2)."""

    BOUNDS = "bounds"
    DL2 = "dl2"


@dataclass(frozen=True)
class EncoderSettings(ObjectiveParameters):
    """Architecture and objective of an encoder.

    Parameters
    ----------
    hidden, latent_dim : widths of the encoder's hidden layers and of z.
    gamma : weight of the robust loss against the plain loss. delta : for dl2, the distance that costs nothing.
    stretch : for bounds with a label, how many times its proved radius a decision is trained to withstand.
    decoder_weight : of the squared error of reconstructing x from z.
    tied : feature columns of each attribute that must not matter, a slice each.
    tolerance : predicted numbers less than this apart are the same decision.
    dtype : of the weights while they are trained, as torch names it.
    """

    method: TrainingMethod = TrainingMethod.BOUNDS
    delta: float = 0.0
    tied: tuple[slice, ...] = ()
    tolerance: float = 0.0
    attack_steps: int = ATTACK_STEPS
    attack_step: float = ATTACK_STEP
    dtype: str = "float32"
    device: str | None = None


@dataclass(frozen=True)
class Schedule(ScheduleParameters):
    """Hyper-parameters of the training loop, checked.

    Parameters
    ----------
    warmup : share of the epochs over which the weight of the robust loss (gamma) grows from 0 to its full value.
    patience : epochs without progress before stopping; the learning rate is halved at a third of that.
    """

    seed: int = 0
    verbose: bool = False

    def __post_init__(self) -> None:
        if wrong := find_invalid(self):
            raise LearningError(
                f"{', '.join(wrong)} is not a valid schedule", fix="counts and rates are positive, warmup is in [0, 1]"
            )

    def strength(self, epoch: int) -> float:
        """The share of that weight in ``epoch`` (from 0)."""
        return min(1.0, (epoch + 1) / max(1.0, self.warmup * self.epochs))
