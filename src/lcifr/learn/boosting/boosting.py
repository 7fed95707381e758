"""Boosting of additive models: rounds, choice of pairs, early stopping, and averages over bags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from lcifr.data import Encoding
from lcifr.learn.boosting.losses import Directions, LossState, Moved, RobustLoss
from lcifr.learn.boosting.places import Places, TermPlaces, places_among
from lcifr.learn.boosting.proposals import (
    AttributeSearch,
    BoostingStep,
    Derivatives,
    PairSearch,
    StepProposer,
    StepRules,
    TreeGrower,
)
from lcifr.learn.history import BETTER, Epoch, ValidationMetrics, show_progress
from lcifr.learn.parameters import BoostingSettings
from lcifr.learn.scores import score_of
from lcifr.learn.target import EncodedPeople, Target
from lcifr.models.additive import (
    AdditiveModel,
    AttributeBins,
    PairBins,
    PairFunction,
    ShapeFunction,
    TreeBins,
    TreeFunction,
    choose_bins,
    coarser,
)
from lcifr.models.rounding import gamma
from lcifr.models.rule import Kind, Rule
from lcifr.prove.networks.kernel.call import thread_count
from lcifr.regions.region import BoolArray, Cell, FloatArray, Region

# Regions stretched about the people they belong to: training against more, or less, than what is promised.


def stretch_region(region: Region, x: FloatArray, factor: float) -> Region:
    """Every interval ``factor`` times as long, seen from the person; categories and linear rows stay.

    Seen from the person means from the own value where the interval holds it, else from the end nearest to it.

    Parameters
    ----------
    x : (people, features) the people, encoded.
    """
    if factor == 1.0:
        return region
    return replace(region, cells=tuple(_stretch(cell, x, factor) for cell in region.cells), origin=None)


def _stretch(cell: Cell, x: FloatArray, factor: float) -> Cell:
    center = np.clip(x[:, cell.numeric], cell.lower, cell.upper)
    return replace(cell, lower=center - factor * (center - cell.lower), upper=center + factor * (cell.upper - center))


# Verdicts in closed form: whose decision an additive model keeps over the whole region.


def certified_by_bounds(
    model: AdditiveModel, rule: Rule, x: FloatArray, region: Region, tolerance: float = 0.0
) -> BoolArray:
    """(people,) whether all similar people get the same decision: exact for cells without linear rows, up to rounding.

    Parameters
    ----------
    x : (people, features) encoded. tolerance : for numbers, how far apart counts as another decision.
    """
    scores = model(x)
    directions = Directions(rule.kind, rule.outputs)
    largest = model.largest(region, directions.matrix)
    rounding = gamma(len(model.terms) + 2) * model.sizes
    if rule.kind is Kind.NUMBER:
        farthest = np.maximum(largest[:, 0] - scores[:, 0], largest[:, 1] + scores[:, 0])
        kept = farthest + 2 * rounding[0] < tolerance
    elif rule.kind is Kind.SIGN:
        kept = np.where(scores[:, 0] > 0, largest[:, 1], largest[:, 0]) < 0
        kept &= np.abs(scores[:, 0]) > rounding[0]
    else:
        decision = rule.decide(scores)
        slots = directions.slots(decision.astype(np.float64))
        leads = np.take_along_axis(largest, slots, axis=1)
        leads[np.arange(len(x)), decision] = -np.inf
        own = np.partition(scores, -2, axis=1)
        kept = (leads.max(1) < 0) & (own[:, -1] - own[:, -2] > 2 * rounding.max())
    return np.asarray(kept | ~region.nonempty)


# Averages of additive models, which are additive models again: step functions and grids average bin by bin.

Term = TypeVar("Term", ShapeFunction, PairFunction)


def average(models: Sequence[AdditiveModel]) -> AdditiveModel:
    """The model whose scores are the mean of theirs, for all people, up to rounding.

    A term is divided wherever one of them divides it, and a model that lacks it adds 0. Its worst value over a region
    is no worse than the mean of theirs, which each may be taken elsewhere. Trees stay as they are but for their values.
    """
    return AdditiveModel(
        np.mean([model.base for model in models], axis=0),
        _means((shape for model in models for shape in model.shapes), len(models)),
        models[0].features,
        _means((pair for model in models for pair in model.pairs), len(models)),
        tuple(replace(tree, values=tree.values / len(models)) for model in models for tree in model.trees),
    )


def _means(terms: Iterable[Term], models: int) -> tuple[Term, ...]:
    """One term for each attribute or pair, in the order of the schema."""
    known: dict[tuple[int, ...], list[Term]] = {}
    for term in terms:
        known.setdefault(tuple(axis.columns.start for axis in term.bins.axes), []).append(term)
    return tuple(_mean(known[columns], models) for columns in sorted(known))


def _mean(terms: list[Term], models: int) -> Term:
    bins = terms[0].bins
    for term in terms[1:]:
        bins = bins.joined(term.bins)
    values = np.sum([term.on(bins) for term in terms], axis=0) / models
    return replace(terms[0], bins=bins, values=values).without_idle_thresholds()


# A model while it grows: terms with their values, and the loss of training and validation people.


@dataclass(frozen=True)
class GrownState:
    """What changes with every step: all shape functions, and both losses with them."""

    values: tuple[FloatArray, ...]
    loss: LossState
    checked: LossState


@dataclass(frozen=True)
class LabelUnit:
    """Scores times ``sd`` plus ``mean`` are in the label's own unit."""

    sd: float
    mean: float


class GrowingModel:
    """Terms, attributes first, pairs and trees after them, whose values begin at 0.

    Parameters
    ----------
    near, checked : training and validation people, with the regions that are trained against.
    pool : threads that share the work. base : (outputs,) in the label's own unit; the best constant if not given.
    """

    def __init__(
        self,
        near: EncodedPeople,
        checked: EncodedPeople,
        target: Target,
        settings: BoostingSettings,
        pool: ThreadPoolExecutor,
        base: FloatArray | None = None,
    ) -> None:
        assert near.label is not None
        self.near, self.target, self.settings, self.pool = near, target, settings, pool
        self.directions = Directions(target.kind, target.outputs)
        self.unit = LabelUnit(target.sd, target.mean) if target.kind is Kind.NUMBER else LabelUnit(1.0, 0.0)
        constant = self.directions.start(near.label, near.weight)
        self.base = constant if base is None else (base - self.unit.mean) / self.unit.sd
        self.loss, self.checked = (
            RobustLoss(people, self.directions, settings.gamma, self.base, pool) for people in (near, checked)
        )
        self.bins: list[AttributeBins | PairBins | TreeBins] = []
        self.values: list[FloatArray] = []
        self.proposer = StepProposer(self.loss, pool)

    def add(self, bins: AttributeBins | PairBins | TreeBins) -> int:
        """A term more, and its number."""
        for loss in (self.loss, self.checked):
            loss.add(places_of(loss.places, bins))
        self.bins.append(bins)
        self.values.append(np.zeros((bins.count, self.target.outputs)))
        term = len(self.bins) - 1
        if not isinstance(bins, TreeBins):
            self.proposer.searches[term] = self.search_of(bins, self.loss.terms[-1])
        return term

    @property
    def grower(self) -> TreeGrower:
        """What grows trees: by attributes that need not rise or fall, for of a tree no cut alone says that it does."""
        searches = {
            term: search
            for term, search in self.proposer.searches.items()
            if isinstance(search, AttributeSearch) and not search.monotone
        }
        return TreeGrower(searches, self.pool)

    def search_of(self, bins: AttributeBins | PairBins, places: TermPlaces) -> AttributeSearch | PairSearch:
        """What finds the best step of a term."""
        settings, directions = self.settings, len(self.directions.matrix)
        rules = StepRules(settings.learning_rate, settings.penalty, settings.min_people)
        first, *second = (settings.monotone.get(axis.attribute, 0) for axis in bins.axes)
        if isinstance(bins, PairBins):
            return PairSearch(bins, places, rules, (first, second[0]), directions)
        return AttributeSearch(bins, places, rules, first, directions)

    def derivatives(self, output: int, chosen: BoolArray | None = None) -> Derivatives:
        """Those of the training loss now, for steps of one output; of all people, or of those chosen (people,)."""
        found = self.loss.now.evaluation
        slope, curve = found.slope, found.curve
        if chosen is not None:
            counted = self.loss.places_of(chosen)[:, None]
            slope, curve = slope * counted, curve * counted
        return Derivatives(self.loss.slots, slope, curve, np.ascontiguousarray(self.directions.matrix[:, output]))

    def keep(self, moved: Moved, values: FloatArray) -> None:
        """Let ``values`` be the shape function of the term that was moved."""
        self.loss.keep(moved)
        self.checked.keep(self.checked.after(moved.term, values))
        self.values[moved.term] = values  # replaced, never changed: other holders of the old one still have it

    @property
    def state(self) -> GrownState:
        """Where the model is now; set it to go back there."""
        return GrownState(tuple(self.values), self.loss.state, self.checked.state)

    @state.setter
    def state(self, state: GrownState) -> None:
        self.values, self.loss.state, self.checked.state = list(state.values), state.loss, state.checked
        del self.bins[len(self.values) :]  # trees that came later

    def model(self) -> AdditiveModel:
        """The model now, a number in the label's own unit; terms that add nothing are left out."""
        sd, mean = self.unit.sd, self.unit.mean
        shapes, pairs, trees = list[ShapeFunction](), list[PairFunction](), list[TreeFunction]()
        for bins, values in zip(self.bins, self.values, strict=True):
            if not values.any():
                continue
            if isinstance(bins, AttributeBins):
                shapes.append(ShapeFunction(bins, values * sd).without_idle_thresholds())
            elif isinstance(bins, TreeBins):
                trees.append(TreeFunction(bins, values * sd))
            else:
                grid = (values * sd).reshape(bins.first.count, bins.second.count, -1)
                pairs.append(PairFunction(bins, grid).without_idle_thresholds())
        return AdditiveModel(self.base * sd + mean, tuple(shapes), self.near.x.shape[1], tuple(pairs), tuple(trees))


def places_of(places: Places, bins: AttributeBins | PairBins | TreeBins) -> TermPlaces:
    """Where places are along an attribute, in the grid of a pair, or among the leaves of a tree."""
    if isinstance(bins, AttributeBins):
        return places.along(bins)
    if isinstance(bins, TreeBins):
        return places_among(places, bins)
    first, second = (places.along(axis) for axis in bins.axes)
    return places.across(first, second, bins.second.count)


# Warm start: boosting goes on from a model that was learned before, perhaps under another promise.


def refined(bins: Sequence[AttributeBins], model: AdditiveModel) -> tuple[AttributeBins, ...]:
    """The bins, divided at the model's thresholds too, so that its shape functions can be written down in them."""
    known = {shape.bins.attribute: shape.bins for shape in model.shapes}
    return tuple(one.joined(known.get(one.attribute, one)) for one in bins)


def resume(grown: GrowingModel, model: AdditiveModel, unread: Sequence[str] = ()) -> None:
    """Let a growing model, whose terms are attributes with refined bins, be a model; other terms are added.

    What is not to be read any more, or no longer varies, is left out.
    """
    sd = grown.unit.sd
    places = {bins.axes[0].attribute: term for term, bins in enumerate(grown.bins)}
    for shape in model.shapes:
        if (term := places.get(shape.bins.attribute)) is not None:
            (new,) = grown.bins[term].axes
            grown.keep(grown.loss.after(term, values := shape.on(new) / sd), values)
    others: tuple[PairFunction | TreeFunction, ...] = (*model.pairs, *model.trees)
    for several in others:
        if not set(several.bins.attributes) & set(unread):
            term = grown.add(several.bins)
            values = several.values.reshape(several.bins.count, -1) / sd
            grown.keep(grown.loss.after(term, values), values)


# Choice of the pairs of attributes that a model reads together: those whose first step promises most.

GRID = 16
"""Bins of a number in a pair at most: shape functions of single attributes are finer."""
CONSIDERED = 16
"""Attributes whose pairs are considered: those whose own shape functions move scores most."""


def choose_pairs(grown: GrowingModel, most: int, x: FloatArray) -> list[PairBins]:
    """New pairs, so that there are at most ``most``: those whose best step lowers the loss most as the model now is.

    Steps are those of boosting, so under a promise they are taken at the worst similar person here, too: a pair that
    tells people apart only where similar people differ promises nothing.

    Parameters
    ----------
    x : (people, features) whose shares the bins of a grid hold.
    """
    axes = {term: _axis(grown, term, x) for term in _considered(grown)}
    known = {frozenset(bins.attributes) for bins in grown.bins if isinstance(bins, PairBins)}
    pairs = [
        (first, second)
        for first, second in combinations(axes.values(), 2)
        if {first[0].attribute, second[0].attribute} not in known
    ]
    by = [grown.derivatives(output) for output in range(grown.target.outputs)]
    gains = list(grown.pool.map(lambda pair: _gain(grown, by, *pair), pairs))
    ranked = sorted(range(len(pairs)), key=lambda number: -gains[number])
    return [
        PairBins(*(bins for bins, _ in pairs[number]))
        for number in ranked[: max(0, most - len(known))]
        if gains[number] > 0.0
    ]


def drop_pairs(grown: GrowingModel) -> None:
    """Leave out the pairs without which validation people are no worse off, the least useful first."""
    pairs = {term for term, bins in enumerate(grown.bins) if isinstance(bins, PairBins) and grown.values[term].any()}
    while pairs:
        without = {term: grown.checked.after(term, np.zeros_like(grown.values[term])).point.loss for term in pairs}
        idle = min(without, key=lambda term: (without[term], term))
        if without[idle] > grown.checked.loss:
            return
        values = np.zeros_like(grown.values[idle])
        grown.keep(grown.loss.after(idle, values), values)
        pairs.remove(idle)


def _considered(grown: GrowingModel) -> list[int]:
    """The numbers of the terms whose shape functions vary most among the people, in the order of the terms."""
    spreads = []
    for term, bins in enumerate(grown.bins):
        if not isinstance(bins, AttributeBins):
            break  # pairs and trees come after all attributes
        own = grown.values[term][bins.of_points(grown.near.x)]
        spreads.append(float(np.average(own.std(0))))
    return sorted(np.argsort(-np.array(spreads), kind="stable")[:CONSIDERED].tolist())


def _axis(grown: GrowingModel, term: int, x: FloatArray) -> tuple[AttributeBins, TermPlaces]:
    bins = grown.bins[term]
    assert isinstance(bins, AttributeBins)
    coarse = coarser(bins, x, GRID)
    return coarse, grown.loss.places.along(coarse)


def _gain(
    grown: GrowingModel,
    by: Sequence[Derivatives],
    first: tuple[AttributeBins, TermPlaces],
    second: tuple[AttributeBins, TermPlaces],
) -> float:
    """By how much the best step of a pair should lower the loss, summed over the outputs."""
    bins = PairBins(first[0], second[0])
    search = grown.search_of(bins, grown.loss.places.across(first[1], second[1], bins.second.count))
    values = np.zeros((bins.count, len(grown.directions.matrix)))
    found = (search.search(values, output) for output in by)
    return sum(step.gain for step in found if step is not None)


# Boosting of additive models: one step of an attribute or pair at a time, against the worst similar person.
#
# The loss of a person is convex in the shape functions: the worst value of a direction is a maximum of linear functions
# of them. So a step that lowers the second-order model lowers the loss if it is short enough, and each step is
# shortened until it does: the training loss never rises. With pairs or deeper trees it is an upper bound of the loss at
# the worst similar person: each term is taken at its own worst place.

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
    with ThreadPoolExecutor(thread_count()) as pool:
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
        ends = region if settings.gamma > 0 else replace(region, cells=())  # without gamma there are no intervals
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
        """Those of all people, or of a share that is drawn."""
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


# Bagging: several models, each learned and stopped by other people, averaged to one additive model.


@dataclass(frozen=True)
class Bag:
    """The people a model is learned from, and those who stop it early."""

    training: EncodedPeople
    validation: EncodedPeople


@dataclass(frozen=True)
class BaggedModel:
    """The average of all bags' models, their histories one after the other, and who stopped the first one."""

    model: AdditiveModel
    history: tuple[Epoch, ...]
    checked: EncodedPeople


def boost_bags(
    encoding: Encoding,
    given: EncodedPeople,
    bags: Iterable[Bag],
    target: Target,
    settings: BoostingSettings,
    start: AdditiveModel | None = None,
) -> BaggedModel:
    """Boost a model for each bag, and average them.

    Several divide attributes as all people ``given`` do, all of them alike, so that their average has no more steps
    than one of them may have; and where steps are chosen by a share of the people, each draws its own.
    """
    models, history, checked = list[AdditiveModel](), list[Epoch](), list[EncodedPeople]()
    divided = given if settings.bags > 1 else None
    for number, bag in enumerate(bags):
        own = replace(settings, seed=settings.seed + number)
        found = boost(encoding, bag.training, bag.validation, target, own, start, divided)
        models.append(found.model)
        before = len(history)
        history += (replace(epoch, number=before + epoch.number) for epoch in found.history)
        checked = checked or [bag.validation]
    model = models[0] if len(models) == 1 else average(models)
    return BaggedModel(model, tuple(history), checked[0])
