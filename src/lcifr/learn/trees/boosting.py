"""Boosting of additive models: one step of an attribute or pair at a time, against the worst similar person.

The loss of a person is convex in the shape functions: the worst value of a direction is a maximum of linear functions
of them. So a step that lowers the second-order model lowers the loss if it is short enough, and each step is shortened
until it does: the training loss never rises. With pairs or deeper trees it is an upper bound of the loss at the worst
similar person: each term is taken at its own worst place.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import torch

from lcifr.data import Encoding
from lcifr.learn.encoder_training import EncodedPeople
from lcifr.learn.score import score_of
from lcifr.learn.target import Target
from lcifr.learn.training_loop import BETTER, Epoch, ValidationMetrics, show_progress
from lcifr.learn.trees.boosting_settings import BoostingSettings
from lcifr.learn.trees.steps.pair_choice import choose_pairs, drop_pairs
from lcifr.learn.trees.steps.proposals import BoostingStep
from lcifr.learn.trees.steps.term_search import Derivatives
from lcifr.learn.trees.stretching import stretch_region
from lcifr.learn.trees.terms import GrowingModel
from lcifr.learn.trees.verdicts import certified_by_bounds
from lcifr.learn.trees.warm_start import refined, resume
from lcifr.models.additive import AdditiveModel, choose_bins
from lcifr.models.rule import Kind

NEARLY_AS_GOOD = 0.5
"""Steps of other terms that promise this share of what the best one does are taken in the same round: they have been
found already, and each must lower the loss as it then is. On Adult 300 rounds do what 1,000 did without."""
STEPS = 8
"""Of those at most so many: each costs a pass over all people, and a hundred attributes may be nearly as good."""
TRIED = 5
"""If none of those lowers the loss, so many others are tried before a round counts as one without progress."""
HALVINGS = 6
LOOKED_AT = 10
"""Rounds between two looks at the score and the certified share of validation people: the loss is enough to stop by."""


@dataclass(frozen=True)
class Boosted:
    """A boosted model in the label's own unit, and a line of history for each round."""

    model: AdditiveModel
    history: tuple[Epoch, ...]


def boost(
    encoding: Encoding,
    training: EncodedPeople,
    validation: EncodedPeople,
    target: Target,
    settings: BoostingSettings,
    start: AdditiveModel | None = None,
    divided: EncodedPeople | None = None,
) -> Boosted:
    """Step by step until the validation loss stops falling; of all rounds the best one is kept.

    Pairs follow when attributes alone get no further, and stay if the validation loss falls with them. Where their
    number is to be found, they come in stages, each as many as there are, while that loss falls. Deeper trees follow in
    the end, one a round and output.

    Parameters
    ----------
    start : a model of the same encoding and kind of label to go on from, instead of a constant.
    divided : by whose values and regions attributes are divided into bins; training people if not given.
    """
    with ThreadPoolExecutor(torch.get_num_threads()) as pool:
        return _Boosting(encoding, training, validation, target, settings, pool, start, divided or training).run()


class _Boosting:
    """The state between rounds: the growing model, and its best state so far."""

    def __init__(
        self,
        encoding: Encoding,
        training: EncodedPeople,
        validation: EncodedPeople,
        target: Target,
        settings: BoostingSettings,
        pool: ThreadPoolExecutor,
        start: AdditiveModel | None,
        divided: EncodedPeople,
    ) -> None:
        self.settings, self.target, self.validation, self.divided = settings, target, validation, divided
        near, checked = (_stretched(people, settings.stretch) for people in (training, validation))
        region = near.region if divided is training else _stretched(divided, settings.stretch).region
        ends = region if settings.gamma > 0 else replace(region, cells=())  # plainly nobody has an interval
        self.grown = GrowingModel(near, checked, target, settings, pool, None if start is None else start.base)
        bins = choose_bins(encoding, divided.x, ends, settings.max_bins, settings.unread)
        for one in bins if start is None else refined(bins, start):
            self.grown.add(one)
        if start is not None:
            resume(self.grown, start, settings.unread)
        self.best = self.grown.state
        self.draw = np.random.default_rng(settings.seed)
        self.history: list[Epoch] = []

    def run(self) -> Boosted:
        stages = self.settings.pair_stages
        deep = self.settings.depth > 1
        with show_progress(self.settings.rounds * (1 + len(stages) + deep), self.settings.verbose) as show:
            self._boost(self._round, show)
            for most in stages:
                before = self.best.checked.loss
                self._boost_with_pairs(most, show)
                if not self.best.checked.loss < before - BETTER:
                    break
            self.grown.state = self.best
            if len(stages) > 1:
                drop_pairs(self.grown)
                self.best = self.grown.state
            if deep:
                self._boost(self._tree_round, show)
                self.grown.state = self.best
        return Boosted(self.grown.model(), tuple(self.history))

    def _boost_with_pairs(self, most: int, show: Callable[[Epoch], None]) -> None:
        """Go on from the best state with new pairs, so that there are at most so many."""
        self.grown.state = self.best
        for pair in choose_pairs(self.grown, most, self.divided.x):
            self.grown.add(pair)
        self.best = self.grown.state
        self._boost(self._round, show)

    def _boost(self, take_round: Callable[[int], bool], show: Callable[[Epoch], None]) -> None:
        """Round by round, each for every output, until the validation loss stops falling."""
        settings, waited = self.settings, 0
        for number in range(settings.rounds):
            moved = [take_round(output) for output in range(self.target.outputs)]
            if not any(moved):
                return
            waited += 1
            if self.grown.checked.loss < self.best.checked.loss - BETTER:
                self.best, waited = self.grown.state, 0
            over = waited >= settings.patience or number + 1 == settings.rounds
            metrics = self._metrics(over)
            self.history.append(Epoch(len(self.history), self.grown.loss.loss, settings.learning_rate, metrics))
            show(self.history[-1])
            if over:
                return

    def _round(self, output: int) -> bool:
        """Take the best steps of one output that lower the training loss; False if there is none."""
        proposals = self.grown.proposer.propose(self.grown.values, output, self._derivatives(output))
        nearly = [step for step in proposals[:STEPS] if step.gain >= NEARLY_AS_GOOD * proposals[0].gain]
        taken = [self._take(step) for step in nearly]
        return any(taken) or any(self._take(step) for step in proposals[len(nearly) : len(nearly) + TRIED])

    def _tree_round(self, output: int) -> bool:
        """Add a tree for one output that lowers the training loss; False if there is none."""
        tree = self.grown.grower.grow(self._derivatives(output), self.settings.depth)
        if tree is None:
            return False
        before = self.grown.state
        if self._take(BoostingStep(self.grown.add(tree.bins), output, tree.addition, gain=0.0)):
            return True
        self.grown.state = before
        return False

    def _derivatives(self, output: int) -> Derivatives:
        """Those of everybody, or of a share that is drawn."""
        share, drawn = self.settings.subsample, None
        if share < 1:
            drawn = self.draw.random(self.grown.loss.people) < share
        return self.grown.derivatives(output, drawn)

    def _take(self, step: BoostingStep) -> bool:
        """Take a step, shortened until the training loss falls; False if it never does."""
        for halving in range(HALVINGS):
            values = self.grown.values[step.term].copy()
            values[:, step.output] += 0.5**halving * step.addition
            moved = self.grown.loss.after(step.term, values)
            if moved.point.loss < self.grown.loss.loss:
                self.grown.keep(moved, values)
                return True
        return False

    def _metrics(self, over: bool) -> ValidationMetrics:
        loss = self.grown.checked.loss
        if len(self.history) % LOOKED_AT and not over:
            return ValidationMetrics(loss)
        model, people = self.grown.model(), self.validation
        assert people.label is not None
        label = people.label * self.target.sd + self.target.mean if self.target.kind is Kind.NUMBER else people.label
        score = score_of(self.target, self.target.rule.decide(model(people.x)).astype(np.float64), label)
        kept = certified_by_bounds(model, self.target.rule, people.x, people.region, self.settings.tolerance)
        return ValidationMetrics(loss, score, certified=float(kept.mean()))


def _stretched(people: EncodedPeople, factor: float) -> EncodedPeople:
    return replace(people, region=stretch_region(people.region, people.x, factor))
