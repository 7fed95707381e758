"""Boosting of additive models: one step of one attribute at a time, against the worst similar person.

The loss of a person is convex in the shape functions: the worst value of a direction is a maximum of linear functions
of them. So a step that lowers the second-order model lowers the loss if it is short enough, and each step is shortened
until it does: the training loss never rises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from lcifr.data import Encoding
from lcifr.errors import LearningError
from lcifr.learn.defaults import BOOSTER
from lcifr.learn.encoder_training import EncodedPeople
from lcifr.learn.score import score_of
from lcifr.learn.target import Target
from lcifr.learn.training_loop import BETTER, Epoch, ValidationMetrics, show_progress
from lcifr.learn.trees.additive import AdditiveModel, ShapeFunction
from lcifr.learn.trees.attribute_bins import choose_bins
from lcifr.learn.trees.directions import Directions
from lcifr.learn.trees.robust_loss import RobustLoss
from lcifr.learn.trees.step_proposals import BoostingStep, StepProposer, StepRules
from lcifr.learn.trees.stretching import stretch_region
from lcifr.learn.trees.verdicts import certified_by_bounds
from lcifr.models.rule import Kind
from lcifr.regions.region import FloatArray

TRIED = 5
"""Of the proposals of a round at most this many are tried before it counts as one without progress."""
HALVINGS = 6
LOOKED_AT = 10
"""Rounds between two looks at the score and the certified share of validation people: the loss is enough to stop by."""


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
        }
        if wrong := [f"{name}={getattr(self, name)!r}" for name, fine in good.items() if not fine]:
            raise LearningError(
                f"{', '.join(wrong)} makes no booster",
                fix="counts are at least 1, learning_rate and subsample are above 0 up to 1, weights are not negative",
            )


@dataclass(frozen=True)
class Boosted:
    """A boosted model in the label's own unit, and a line of history for each round."""

    model: AdditiveModel
    history: tuple[Epoch, ...]


def boost(
    encoding: Encoding, training: EncodedPeople, validation: EncodedPeople, target: Target, settings: BoostingSettings
) -> Boosted:
    """Step by step until the validation loss stops falling; of all rounds the best one is kept."""
    return _Boosting(encoding, training, validation, target, settings).run()


class _Boosting:
    """The state between rounds: the loss of both populations, and the shape functions."""

    def __init__(
        self,
        encoding: Encoding,
        training: EncodedPeople,
        validation: EncodedPeople,
        target: Target,
        settings: BoostingSettings,
    ) -> None:
        assert training.label is not None
        self.settings, self.target, self.validation = settings, target, validation
        near, checked = (_stretched(people, settings.stretch) for people in (training, validation))
        self.bins = choose_bins(encoding, near.x, near.region, settings.max_bins, settings.unread)
        directions = Directions(target.kind, target.outputs)
        self.base = directions.start(training.label, training.weight)
        self.values = [np.zeros((one.count, target.outputs)) for one in self.bins]
        self.loss, self.checked = (
            RobustLoss(self.bins, people, directions, settings.gamma, self.base) for people in (near, checked)
        )
        rules = StepRules(settings.learning_rate, settings.penalty, settings.min_people)
        monotone = [settings.monotone.get(one.attribute, 0) for one in self.bins]
        self.proposer = StepProposer(self.bins, self.loss, rules, monotone)
        self.draw = np.random.default_rng(settings.seed)

    def run(self) -> Boosted:
        settings, history = self.settings, list[Epoch]()
        best, kept, waited = self.checked.loss, list(self.values), 0
        with (
            show_progress(settings.rounds, settings.verbose) as show,
            ThreadPoolExecutor(self.proposer.threads) as pool,
        ):
            for number in range(settings.rounds):
                moved = [self._round(output, pool) for output in range(self.target.outputs)]
                if not any(moved):
                    break
                if self.checked.loss < best - BETTER:
                    best, kept, waited = self.checked.loss, list(self.values), 0
                else:
                    waited += 1
                over = waited >= settings.patience or number + 1 == settings.rounds
                history.append(Epoch(number, self.loss.loss, settings.learning_rate, self._metrics(number, over)))
                show(history[-1])
                if over:
                    break
        return Boosted(self._model(kept), tuple(history))

    def _round(self, output: int, pool: ThreadPoolExecutor) -> bool:
        """Take the best step of one output that lowers the training loss; False if there is none."""
        slope, curve = self.loss.now.slope, self.loss.now.curve
        if self.settings.subsample < 1:
            drawn = self.loss.places_of(self.draw.random(self.loss.people) < self.settings.subsample)[:, None]
            slope, curve = slope * drawn, curve * drawn
        proposals = self.proposer.propose(self.values, output, slope, curve, pool)
        return any(self._take(step) for step in proposals[:TRIED])

    def _take(self, step: BoostingStep) -> bool:
        """Take a step, shortened until the training loss falls; False if it never does."""
        for halving in range(HALVINGS):
            values = self.values[step.attribute].copy()
            values[:, step.output] += step.times(0.5**halving)
            moved = self.loss.after(step.attribute, values)
            if moved.point.loss < self.loss.loss:
                self.loss.keep(moved)
                self.checked.keep(self.checked.after(step.attribute, values))
                self.values[step.attribute] = values  # replaced, never changed: whoever kept the old one still has it
                return True
        return False

    def _metrics(self, number: int, over: bool) -> ValidationMetrics:
        if number % LOOKED_AT and not over:
            return ValidationMetrics(self.checked.loss)
        model, people = self._model(self.values), self.validation
        assert people.label is not None
        label = people.label * self.target.sd + self.target.mean if self.target.kind is Kind.NUMBER else people.label
        score = score_of(self.target, self.target.rule.decide(model(people.x)).astype(np.float64), label)
        kept = certified_by_bounds(model, self.target.rule, people.x, people.region, self.settings.tolerance)
        return ValidationMetrics(self.checked.loss, score, certified=float(kept.mean()))

    def _model(self, values: Sequence[FloatArray]) -> AdditiveModel:
        """The model of these shape functions, a number in the label's own unit."""
        sd, mean = (self.target.sd, self.target.mean) if self.target.kind is Kind.NUMBER else (1.0, 0.0)
        shapes = (ShapeFunction(one, value * sd) for one, value in zip(self.bins, values, strict=True))
        read = tuple(shape.without_idle_thresholds() for shape in shapes if np.any(shape.values != 0.0))
        return AdditiveModel(self.base * sd + mean, read, self.validation.x.shape[1])


def _stretched(people: EncodedPeople, factor: float) -> EncodedPeople:
    return replace(people, region=stretch_region(people.region, people.x, factor))
