"""scikit-learn estimators of robust heads on a representation."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from lcifr.errors import LearningError
from lcifr.estimators.saving import read_head, write_head
from lcifr.estimators.validation import schedule_of, seed_of, split_rows
from lcifr.learn.heads import LatentPeople, Perturbation, certified, train_head
from lcifr.learn.history import Epoch
from lcifr.learn.parameters import HEAD
from lcifr.learn.scores import warn_of_degeneracies
from lcifr.learn.target import Target, class_weights
from lcifr.models.model import Model
from lcifr.models.rule import Kind

# Base class of heads on z.

FloatArray = NDArray[np.float64]


class PlainHeadWarning(UserWarning):
    """A head that was left to choose (``against="auto"``), and had neither radius, box nor δ to be trained against."""


class Head(BaseEstimator, ABC):  # type: ignore[misc]
    """A network on z that keeps its decision on each person's whole ball, or box."""

    _task = ""
    hidden: tuple[int, ...]
    against: str
    delta: float | None
    gamma: float
    penalty: float
    validation_fraction: float
    random_state: Any

    def fit(self, Z: Any, y: Any, radius: Any = None, box: tuple[Any, Any] | None = None) -> Self:
        """Learn from z (people, d), labels, and each person's proved surroundings where they are known.

        Parameters
        ----------
        radius : (people,) ε. box : both ends, (people, d) each; then it is learned for decisions on the box.

        Warns
        -----
        PlainHeadWarning
            If ``against`` is ``"auto"`` and there is neither radius, box nor δ: the head is then a plain one.
        """
        Z, y = validate_data(self, Z, y, dtype=np.float64, ensure_min_samples=2, y_numeric=self._task == "regression")
        target = self._target_of(y)
        seed = seed_of(self.random_state)
        against, around = self._against(Z, radius, box)
        label = target.encode(y)
        weight = class_weights(target, label, getattr(self, "class_weight", None))
        rows, held = split_rows(len(Z), self.validation_fraction, y if len(target.classes) else None, seed)
        if not self.hidden:
            rows = held = np.arange(len(Z))  # a convex loss needs no early stopping, so no one is held out
        latent = LatentPeople(Z, *around, label, weight)
        training, checking = latent.take(rows), latent.take(held)
        made = train_head(
            training,
            checking,
            target,
            hidden=tuple(self.hidden),
            against=against,
            gamma=self.gamma,
            penalty=self.penalty,
            schedule=schedule_of(self, seed),
        )
        self._keep(target.finish(made.network), made.history)
        self._judge(Z, y)
        return self

    @abstractmethod
    def _target_of(self, y: NDArray[Any]) -> Target:
        """The prediction target of validated labels."""

    @property
    def weighted(self) -> bool:
        """Whether classes are weighted by ``class_weight``; never in regression."""
        return getattr(self, "class_weight", None) is not None

    def _against(
        self, Z: FloatArray, radius: Any, box: tuple[Any, Any] | None
    ) -> tuple[Perturbation, tuple[FloatArray, FloatArray]]:
        """What to train against; for each person the middle of it, and how far it reaches from there."""
        choice, people = self.against, len(Z)
        if choice == "auto":
            known = radius is not None or box is not None
            choice = "radius" if known else "delta" if self.delta is not None else "nothing"
            if choice == "nothing":
                warnings.warn(
                    f"{type(self).__name__} was given no radius, box or delta, so it learns a plain head, of which "
                    "less can be certified. Pass fit(z, y, radius=known.radius), as encoder.represent(X) proves it; or "
                    'set delta, or against="nothing" if a plain head is meant',
                    PlainHeadWarning,
                    stacklevel=3,
                )
        if choice not in list(Perturbation):
            raise LearningError(
                f"against={self.against!r} is unknown", fix='use "auto", "nothing", "delta" or "radius"'
            )
        if choice == Perturbation.NOTHING:
            return Perturbation.NOTHING, (Z, np.zeros((people, 1)))
        if choice == Perturbation.DELTA:
            if self.delta is None or not self.delta >= 0:
                raise LearningError(f'against="delta" with delta={self.delta!r}', fix="give a delta of 0 or more")
            return Perturbation.DELTA, (Z, np.full((people, 1), float(self.delta)))
        if box is not None:
            low, high = _box_of(box, Z)
            return Perturbation.RADIUS, ((low + high) / 2, (high - low) / 2)
        return Perturbation.RADIUS, (Z, _radius_of(radius, people)[:, None])

    def _keep(self, model: Model, history: tuple[Epoch, ...]) -> None:
        self.model_, self.network_, self.history_ = model, model.network, history
        if model.labels is not None:
            self.classes_ = model.labels

    def _judge(self, Z: FloatArray, y: NDArray[Any]) -> None:
        target = Target.of_model(self.model_)
        decision = self.model_.rule.decide(self.network_(Z))
        warn_of_degeneracies(self, target, decision=decision, label=target.encode(y))

    # -- use -------------------------------------------------------------------------------------------------------

    def predict(self, Z: Any) -> NDArray[Any]:
        """(people,) the decisions."""
        latent = self._latent(Z)
        return self.model_.predict(latent)

    def certified(self, Z: Any, radius: Any = None, *, box: tuple[Any, Any] | None = None) -> NDArray[np.bool_]:
        """(people,) whose decision is proved to be the same on the whole ball of their radius, or on their box.

        By bounds alone, which are exact for a linear head.
        """
        latent = self._latent(Z)
        if box is None:
            reach = _radius_of(radius, len(latent))[:, None]
            low, high = latent - reach, latent + reach
        else:
            low, high = _box_of(box, latent)
        target, tolerance = Target.of_model(self.model_), getattr(self, "tolerance", 0.0)
        return certified(self.network_, target, latent, low, high, tolerance=tolerance)

    def _latent(self, Z: Any) -> FloatArray:
        check_is_fitted(self)
        return np.asarray(validate_data(self, Z, reset=False, dtype=np.float64))

    def save(self, path: str | Path) -> None:
        """Write to one safetensors file."""
        check_is_fitted(self)
        write_head(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote."""
        head: Self = read_head(cls, path)
        return head


def _box_of(box: tuple[Any, Any], Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, high = (np.asarray(end, dtype=np.float64) for end in box)
    if (
        low.shape != Z.shape
        or high.shape != Z.shape
        or not (np.isfinite(low) & np.isfinite(high) & (low <= high)).all()
    ):
        raise LearningError(
            f"box has ends of the shapes {low.shape} and {high.shape} for z of {Z.shape}, or runs backwards",
            fix="give (lower, upper), finite, as Representation has them",
        )
    return low, high


def _radius_of(radius: Any, people: int) -> FloatArray:
    if radius is None:
        raise LearningError("no radius was given", fix="pass radius=…: ε of each person, as FairEncoder.radius proves")
    values = np.asarray(getattr(radius, "radius", radius), dtype=np.float64)
    if values.ndim == 0:
        values = np.full(people, float(values))
    if values.shape != (people,) or not (values >= 0).all() or not np.isfinite(values).all():
        raise LearningError(
            f"radius has the shape {values.shape} for {people} people, or is negative or not finite",
            fix="give one finite number of 0 or more for each person",
        )
    return values


# RobustClassifier and RobustRegressor: heads that keep their decision on the whole ball.


class RobustClassifier(ClassifierMixin, Head):  # type: ignore[misc]
    """Logistic regression, or a ReLU network with ``hidden`` layers, on z.

    Parameters
    ----------
    hidden
        Widths of the hidden layers; none is logistic regression, whose worst case on a ball is known exactly.
    against
        ``"nothing"``: plain. ``"delta"``: one δ for all people (projected gradient in a network, as in the paper).
        ``"radius"``: each person's own ε, given to ``fit``. ``"auto"``: the radius if given, else δ if given, else
        nothing, with a warning.
    delta, gamma
        The one δ; the weight of the worst loss against the plain one.
    penalty
        Of the squared weights of a linear head, learned in units of z's own spread.
    class_weight
        As in scikit-learn: None, ``"balanced"`` or ``{class: weight}``.
    epochs, batch_size, learning_rate, weight_decay, patience, warmup, validation_fraction, random_state, verbose
        For networks; see :class:`lcifr.learn.parameters.Schedule`.

    Attributes
    ----------
    classes_, network_ : one output for two classes (above 0 is the second), else one for each class.
    model_ : network, rule of decision and labels together. history_, degeneracies_ : as in :class:`FairEncoder`.
    """

    _task = "classification"

    def __init__(
        self,
        hidden: tuple[int, ...] = HEAD.hidden,
        *,
        against: str = "auto",
        delta: float | None = None,
        gamma: float = HEAD.gamma,
        penalty: float = HEAD.penalty,
        class_weight: Any = None,
        epochs: int = HEAD.epochs,
        batch_size: int = HEAD.batch_size,
        learning_rate: float = HEAD.learning_rate,
        weight_decay: float = HEAD.weight_decay,
        patience: int = HEAD.patience,
        warmup: float = HEAD.warmup,
        validation_fraction: float = HEAD.validation_fraction,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.class_weight = class_weight
        self.against = against
        self.delta = delta
        self.gamma = gamma
        self.penalty = penalty
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.patience = patience
        self.warmup = warmup
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    def _target_of(self, y: NDArray[Any]) -> Target:
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
        return Target.of(y, "classification")

    def decision_function(self, Z: Any) -> FloatArray:
        """(people,) logits of two classes, or (people, classes)."""
        latent = self._latent(Z)
        output = self.network_(latent)
        return output[:, 0] if self.model_.rule.kind is Kind.SIGN else output

    def predict_proba(self, Z: Any) -> FloatArray:
        """(people, classes)."""
        from scipy.special import expit, softmax

        output = self.decision_function(Z)
        if output.ndim == 2:
            return np.asarray(softmax(output, axis=1))
        return np.stack([expit(-output), expit(output)], axis=1)


class RobustRegressor(RegressorMixin, Head):  # type: ignore[misc]
    """Linear regression, or a ReLU network, on z; its decision is a number, the same up to ``tolerance``.

    Parameters
    ----------
    tolerance
        Predictions less than this apart count as the same decision, in units of y.
    hidden, against, delta, gamma, penalty, …
        As in :class:`RobustClassifier`.
    """

    _task = "regression"

    def __init__(
        self,
        hidden: tuple[int, ...] = HEAD.hidden,
        *,
        tolerance: float = 0.0,
        against: str = "auto",
        delta: float | None = None,
        gamma: float = HEAD.gamma,
        penalty: float = HEAD.penalty,
        epochs: int = HEAD.epochs,
        batch_size: int = HEAD.batch_size,
        learning_rate: float = HEAD.learning_rate,
        weight_decay: float = HEAD.weight_decay,
        patience: int = HEAD.patience,
        warmup: float = HEAD.warmup,
        validation_fraction: float = HEAD.validation_fraction,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.hidden = hidden
        self.tolerance = tolerance
        self.against = against
        self.delta = delta
        self.gamma = gamma
        self.penalty = penalty
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.patience = patience
        self.warmup = warmup
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    def _target_of(self, y: NDArray[Any]) -> Target:
        return Target.of(y, "regression")


def head_for(task: str) -> type[RobustClassifier | RobustRegressor]:
    """The kind of head that a task (``"classification"`` or ``"regression"``) needs."""
    return RobustRegressor if task == "regression" else RobustClassifier
