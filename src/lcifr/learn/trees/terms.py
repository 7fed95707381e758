"""A model while it grows: terms with their values, and the loss of training and validation people."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from lcifr.learn.encoder_training import EncodedPeople
from lcifr.learn.target import Target
from lcifr.learn.trees.bins.places import Places, TermPlaces
from lcifr.learn.trees.bins.tree_places import places_among
from lcifr.learn.trees.boosting_settings import BoostingSettings
from lcifr.learn.trees.directions import Directions
from lcifr.learn.trees.robust_loss import LossState, Moved, RobustLoss
from lcifr.learn.trees.steps.proposals import StepProposer
from lcifr.learn.trees.steps.term_search import AttributeSearch, Derivatives, PairSearch, StepRules
from lcifr.learn.trees.steps.tree_growth import TreeGrower
from lcifr.models.additive import (
    AdditiveModel,
    AttributeBins,
    PairBins,
    PairFunction,
    ShapeFunction,
    TreeBins,
    TreeFunction,
)
from lcifr.models.rule import Kind
from lcifr.regions.region import BoolArray, FloatArray


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
        """Those of the training loss now, for steps of one output; of everybody, or of the people chosen (people,)."""
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
        self.values[moved.term] = values  # replaced, never changed: whoever kept the old one still has it

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
