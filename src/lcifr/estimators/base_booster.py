"""Base class of boosters: additive models that keep their decision for everybody similar."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from lcifr.certification.explain import Explanation
from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Encoding, Individuals, Schema
from lcifr.data.ingest import as_ids
from lcifr.errors import LearningError
from lcifr.estimators.degeneracy import warn_of_degeneracies
from lcifr.estimators.input_validation import (
    resolve_schema,
    resolve_similarity,
    split_rows,
    validate_labels,
    validate_people,
)
from lcifr.estimators.saving import read_booster, write_booster
from lcifr.estimators.score_representation import ScoreRepresentation
from lcifr.estimators.settings import boosting_settings, seed_of
from lcifr.learn.defaults import BOOSTER
from lcifr.learn.encoder_training import EncodedPeople
from lcifr.learn.target import Target, class_weights
from lcifr.learn.training_loop import Epoch
from lcifr.learn.trees.bagging import Bag, boost_bags
from lcifr.learn.trees.verdicts import certified_by_bounds
from lcifr.models.additive import AdditiveModel, as_trees
from lcifr.models.loaders.tree_ensembles import identity
from lcifr.models.model import Model
from lcifr.models.rule import Kind, Rule
from lcifr.models.source import TableModel
from lcifr.phi.similarity import Similarity
from lcifr.regions.region import Region

FloatArray = NDArray[np.float64]


class BaseBooster(ScoreRepresentation, BaseEstimator, ABC):  # type: ignore[misc]
    """Everything that classification and regression share; parameters as in :class:`FairBooster`."""

    schema_: Schema
    encoding_: Encoding

    def __init__(
        self,
        similarity: Any,
        *,
        schema: Schema | str | Path | None = None,
        gamma: float = BOOSTER.gamma,
        stretch: float = BOOSTER.stretch,
        rounds: int = BOOSTER.rounds,
        learning_rate: float = BOOSTER.learning_rate,
        penalty: float = BOOSTER.penalty,
        min_people: int = BOOSTER.min_people,
        max_bins: int = BOOSTER.max_bins,
        subsample: float = BOOSTER.subsample,
        interactions: int | str = BOOSTER.interactions,
        depth: int = BOOSTER.depth,
        monotone: Mapping[str, int] | None = None,
        tie_free: bool = True,
        whole_numbers: bool = False,
        tolerance: float = 0.0,
        class_weight: Any = None,
        patience: int = BOOSTER.patience,
        validation_fraction: float = BOOSTER.validation_fraction,
        bags: int = BOOSTER.bags,
        warm_start: bool = False,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.similarity = similarity
        self.schema = schema
        self.gamma = gamma
        self.stretch = stretch
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.penalty = penalty
        self.min_people = min_people
        self.max_bins = max_bins
        self.subsample = subsample
        self.interactions = interactions
        self.depth = depth
        self.monotone = monotone
        self.tie_free = tie_free
        self.whole_numbers = whole_numbers
        self.tolerance = tolerance
        self.class_weight = class_weight
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.bags = bags
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    # -- learning --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn from a table of people and their labels.

        Parameters
        ----------
        sample_weight
            How much each person counts.
        validation
            A table and its labels for early stopping; otherwise ``validation_fraction`` of the people are held out.
        """
        start = self.additive_ if self.warm_start and hasattr(self, "additive_") else None
        known = self.similarity.schema if isinstance(self.similarity, Similarity) else resolve_schema(self.schema)
        people = validate_people(self, X, known if start is None else self.schema_, fitting=True)
        labels = validate_labels(y, len(people))
        target = self._target_of(labels)
        if start is None:
            self.schema_ = people.schema
            self.encoding_ = getattr(self.similarity, "encoding", None) or Encoding.fit(people, people.schema)
        elif target.kind is not self.target_.kind or not np.array_equal(target.classes, self.target_.classes):
            raise LearningError(
                "warm_start=True, but the labels are not those of the first fit", fix="use warm_start=False"
            )
        self.similarity_ = resolve_similarity(self.similarity, people.schema, self.encoding_)
        given = self._encoded(people, labels, target, sample_weight)
        held = None if validation is None else self._held(validation, target)
        bags = self._bags(given, labels if len(target.classes) else None, held)
        found = boost_bags(self.encoding_, given, bags, target, boosting_settings(self, target), start)
        self._keep(Target(target.kind, target.classes), found.model, found.history)
        self._judge(found.checked, target)
        return self

    @abstractmethod
    def _target_of(self, y: NDArray[Any]) -> Target:
        """The prediction target of validated labels."""

    @abstractmethod
    def predict(self, X: Any) -> NDArray[Any]:
        """(people,) the decisions."""

    def _encoded(
        self, people: Individuals, labels: NDArray[Any], target: Target, sample_weight: Any = None
    ) -> EncodedPeople:
        x, codes = self.encoding_.encode(people), target.encode(labels)
        weight = np.asarray(_check_sample_weight(sample_weight, x, dtype=np.float64))
        if (weight < 0).any() or not weight.sum() > 0:
            raise LearningError("a sample_weight is negative, or all are 0", fix="give weights of 0 or more")
        weight = class_weights(target, codes, self.class_weight) * weight / weight.mean()
        return EncodedPeople(x, self.region(people), codes, weight)

    def _held(self, validation: tuple[Any, Any], target: Target) -> EncodedPeople:
        people = validate_people(self, validation[0], self.schema_, fitting=False)
        return self._encoded(people, validate_labels(validation[1], len(people)), target)

    def _bags(self, given: EncodedPeople, classes: NDArray[Any] | None, held: EncodedPeople | None) -> Iterator[Bag]:
        """For each model, people to learn from and people to stop by; of several, each leaves out other people."""
        if held is not None and self.bags == 1:
            yield Bag(given, held)
            return
        seed = seed_of(self.random_state)
        for number in range(self.bags):
            rows, others = split_rows(len(given.x), self.validation_fraction, classes, seed + number)
            yield Bag(_taken(given, rows), _taken(given, others) if held is None else held)

    def _keep(self, target: Target, additive: AdditiveModel, history: tuple[Epoch, ...]) -> None:
        self.target_, self.additive_, self.history_ = target, additive, history
        self.n_iter_ = len(history)
        if len(target.classes):
            self.classes_ = target.classes

    def _judge(self, people: EncodedPeople, target: Target) -> None:
        assert people.label is not None
        label = people.label * target.sd + target.mean if target.kind is Kind.NUMBER else people.label
        decision = self.target_.rule.decide(self.additive_(people.x))
        warn_of_degeneracies(self, self.target_, decision=decision, label=label, region=people.region)

    # -- use -------------------------------------------------------------------------------------------------------

    @property
    def unread_(self) -> tuple[str, ...]:
        """The attributes that no score depends on: those that φ leaves free, and those that did not help."""
        check_is_fitted(self)
        return tuple(name for name in self.schema_.names if name not in self.additive_.attributes)

    def scores(self, X: Any) -> FloatArray:
        """(people, outputs): one logit for two classes, a score for each of several, or the number."""
        people = self._checked(X)
        return self.additive_(self.encoding_.encode(people))

    def region(self, X: Any) -> Region:
        """S_φ(x) of everybody."""
        people = validate_people(self, X, self.schema_, fitting=False)
        return self.similarity_.region(people, whole_numbers=self.whole_numbers)

    def certified(self, X: Any) -> NDArray[np.bool_]:
        """(people,) whose decision is proved to be the same for everybody similar, end to end and in closed form.

        Exact where φ has no linear rows and the model no pairs or deeper trees, up to the last digits. Otherwise these
        are proved too, and an audit of the trees may certify more.
        """
        people = self._checked(X)
        x, region = self.encoding_.encode(people), self.region(people)
        return certified_by_bounds(self.additive_, self.target_.rule, x, region, self.tolerance)

    def _checked(self, X: Any) -> Individuals:
        check_is_fitted(self)
        return validate_people(self, X, self.schema_, fitting=False)

    @property
    def model_(self) -> Model:
        """The model as proofs take it: a sum of trees, with the rule of decision."""
        check_is_fitted(self)
        rule = self.target_.rule
        if rule.kind is Kind.NUMBER:
            rule = Rule.of(rule.outputs, tolerance=self.tolerance)
        return Model(as_trees(self.additive_), rule, self.target_.classes if len(self.target_.classes) else None)

    def read_table(self, table: Any, encoding: Encoding) -> TableModel:
        """For ``lcifr.audit(booster, X, similarity=booster.similarity_)``: the own encoding, trees and decisions."""
        if encoding.schema.attributes != self.schema_.attributes:
            raise LearningError("the similarity belongs to another schema", fix="pass similarity=booster.similarity_")
        return TableModel(self.encoding_, identity(len(self.encoding_.features)), self.model_, self.predict, table)

    def explain(self, X: Any, ids: Any = None) -> Explanation:
        """What each attribute adds to the score, drawn for a notebook; ``.person(id)`` : for and against, within φ."""
        people = self._checked(X)
        encoder = FrozenEncoder(identity(len(self.encoding_.features)), self.similarity_, self.whole_numbers)
        return Explanation(encoder, self.model_, people, as_ids(ids, len(people)))

    def save(self, path: str | Path) -> None:
        """Write everything but the people to one safetensors file."""
        check_is_fitted(self)
        write_booster(self, path)

    @classmethod
    def load(cls, path: str | Path, *, training: Any = None) -> Self:
        """Read what :meth:`save` wrote; ``training``, the training table, is needed only where φ takes ranks."""
        booster: Self = read_booster(cls, path, training)
        return booster


def _taken(people: EncodedPeople, rows: NDArray[Any]) -> EncodedPeople:
    assert people.label is not None
    return EncodedPeople(people.x[rows], people.region.take(rows), people.label[rows], people.weight[rows])
