"""scikit-learn estimators of boosted additive models, and the representation that they hand over."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from lcifr.certification.explain import Explanation
from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Encoding, Individuals, Schema
from lcifr.data.ingest import as_ids
from lcifr.errors import LearningError
from lcifr.estimators.saving import read_booster, write_booster
from lcifr.estimators.validation import (
    boosting_settings,
    resolve_schema,
    resolve_similarity,
    seed_of,
    split_rows,
    validate_labels,
    validate_people,
)
from lcifr.learn.boosting.boosting import Bag, boost_bags, certified_by_bounds
from lcifr.learn.history import Epoch
from lcifr.learn.parameters import BOOSTER
from lcifr.learn.scores import warn_of_degeneracies
from lcifr.learn.target import EncodedPeople, LatentReach, Target, class_weights
from lcifr.models.additive import AdditiveModel
from lcifr.models.model import Model
from lcifr.models.network import identity
from lcifr.models.rule import Kind, Rule
from lcifr.models.source import TableModel
from lcifr.models.trees import Trees, as_trees, box_around, score_trees, summing_head
from lcifr.phi.similarity import Similarity
from lcifr.regions.region import Region

if TYPE_CHECKING:
    from lcifr.certification.handover import Representation
    from lcifr.estimators.heads import Head


# Base class of boosters: additive models that keep their decision for all similar people.

FloatArray = NDArray[np.float64]


class BaseBooster(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
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

    # -- z: one score per attribute, with its exact box, for hand-overs and heads on it --------------------------------

    @property
    def score_trees_(self) -> Trees:
        """From encoded people to z."""
        check_is_fitted(self)
        return score_trees(self.additive_)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """(people, scores) z: what each attribute and pair says, for each class where there are more than two."""
        people = self._checked(X)
        return self.score_trees_(self.encoding_.encode(people))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """(scores,) the attributes and pairs; with the class where there are more than two."""
        check_is_fitted(self)
        names = [shape.bins.attribute for shape in self.additive_.shapes]
        names += [" × ".join(axis.attribute for axis in pair.bins.axes) for pair in self.additive_.pairs]
        names += [
            f"tree {number} of {' × '.join(t.bins.attributes)}" for number, t in enumerate(self.additive_.trees, 1)
        ]
        names = names or ["nothing"]
        if self.target_.kind is Kind.CLASS:
            names = [f"{name} for {label}" for name in names for label in self.classes_]
        return np.array(names, dtype=object)

    def represent(self, X: Any, ids: Any = None, **options: Any) -> Representation:
        """The hand-over: z with the proved ball and box of every person; options as for ``certification.represent``."""
        from lcifr.certification.handover import represent

        check_is_fitted(self)
        return represent(self, X, ids, **options)

    def reach(self, X: Any) -> LatentReach:
        """z of every person with ball and box: exact where φ has no linear rows."""
        people = self._checked(X)
        x, trees = self.encoding_.encode(people), self.score_trees_
        box = box_around(trees, x, self.region(people))
        return LatentReach.of_box(trees(x), box.lower, box.upper)

    @property
    def head_(self) -> Head:
        """The head on z that decides as the booster itself: it adds the scores up."""
        from lcifr.estimators.heads import RobustClassifier, RobustRegressor

        check_is_fitted(self)
        head: Head = (
            RobustRegressor(tolerance=self.tolerance)
            if self.target_.kind is Kind.NUMBER
            else RobustClassifier(class_weight=self.class_weight)
        )
        network = summing_head(self.additive_)
        head._keep(self.target_.model(network), ())
        head.degeneracies_, head.n_features_in_ = self.degeneracies_, network.inputs
        return head

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
        """S_φ(x) of every person."""
        people = validate_people(self, X, self.schema_, fitting=False)
        return self.similarity_.region(people, whole_numbers=self.whole_numbers)

    def certified(self, X: Any) -> NDArray[np.bool_]:
        """(people,) whose decision is proved to be the same for all similar people, end to end and in closed form.

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


# FairBooster and FairBoosterRegressor: boosted additive models, trained at the worst similar person.


class FairBooster(ClassifierMixin, BaseBooster):  # type: ignore[misc]
    """An additive classifier, base + Σ f(attribute), that decides alike for people who are similar under φ.

    Each round adds a step to the shape function of one attribute. Loss and steps are taken at each person's worst
    similar person, which is closed form for additive models: what is trained is what is proved.

    Parameters
    ----------
    similarity, schema
        φ, and what the columns mean; as in :class:`FairEncoder`.
    gamma
        Weight of the loss at the worst similar person against the plain loss; 0 is plain boosting.
    stretch
        How many times the region's intervals are trained against, as seen from the person. Below 1 more accurate,
        above 1 more certified.
    rounds, learning_rate
        Steps (per class, where there are more than two) at most, and how much of each is taken.
    penalty, min_people, max_bins
        Of squared steps, counted in people; people on either side of a cut at least; intervals of a number at most.
    interactions
        Pairs of attributes at most that are read together, beyond what each adds alone. They are tried when attributes
        alone get no further (``rounds`` begin anew), and stay if the validation loss falls. Its robust part is then an
        upper bound, each term being taken at its own worst, and so is what :meth:`certified` goes by. ``"auto"`` lets
        the held-out people find their number: 5, 10, 20, 40 as long as their loss falls, and of those every one without
        which they would be worse off.
    depth
        Above 1, trees with so many cuts on the way to a leaf follow when all else gets no further, one a round, as long
        as the validation loss falls. Each is taken at the worst leaf that a similar person reaches: a bound, as with
        pairs. Attributes in ``monotone`` are not cut by them.
    subsample
        Share of the people, drawn anew, that each round chooses its step by.
    monotone
        ``{attribute: 1 or -1}``: numbers in which the score must not fall, or not rise. For two classes or a number.
    tie_free
        Attributes of which φ never speaks are not read. If False they are read as far as gamma allows.
    whole_numbers
        As in :class:`FairEncoder`.
    tolerance, class_weight
        For numbers: less than this apart is the same decision. For classes: weights as in scikit-learn.
    patience, validation_fraction
        Rounds without a better validation loss before stopping; share held out where ``fit`` gets no validation people.
    bags
        How many models are learned, each with another ``validation_fraction`` of the people held out, and averaged:
        again one additive model. Steadier where people are few. Validation people given to ``fit`` stop every one of
        them.
    warm_start
        Whether ``fit`` goes on from the model that was fitted before, in its scales, instead of beginning anew: quicker
        along a row of promises (``gamma``, ``stretch``) on the same people.
    random_state, verbose
        Seed of the held-out shares and of ``subsample``; a progress bar on stderr.

    Attributes
    ----------
    additive_ : base and shape functions, in encoded units. classes_, target_ : the labels.
    schema_, encoding_, similarity_, unread_, history_, degeneracies_ : as in :class:`FairEncoder`.
    n_iter_ : rounds that were made.
    """

    def _target_of(self, y: NDArray[Any]) -> Target:
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
        return Target.of(y, "classification")

    def decision_function(self, X: Any) -> FloatArray:
        """(people,) logits of two classes, or (people, classes)."""
        scores = self.scores(X)
        return scores[:, 0] if self.target_.kind is Kind.SIGN else scores

    def predict_proba(self, X: Any) -> FloatArray:
        """(people, classes)."""
        from scipy.special import expit, softmax

        scores = self.decision_function(X)
        if scores.ndim == 2:
            return np.asarray(softmax(scores, axis=1))
        return np.stack([expit(-scores), expit(scores)], axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """(people,) the decisions."""
        scores = self.scores(X)
        return np.asarray(self.classes_[self.target_.rule.decide(scores)])


class FairBoosterRegressor(RegressorMixin, BaseBooster):  # type: ignore[misc]
    """An additive model of a number, the same up to ``tolerance`` for similar people; parameters as in FairBooster."""

    def _target_of(self, y: NDArray[Any]) -> Target:
        return Target.of(y, "regression")

    def predict(self, X: Any) -> FloatArray:
        """(people,) the numbers."""
        return self.scores(X)[:, 0]
