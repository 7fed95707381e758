"""RobustClassifier and RobustRegressor: heads that keep their decision on the whole ball."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from lcifr.estimators.base_head import FloatArray, Head
from lcifr.learn.defaults import HEAD
from lcifr.learn.target import Target
from lcifr.models.rule import Kind


class RobustClassifier(ClassifierMixin, Head):  # type: ignore[misc]
    """Logistic regression, or a ReLU network with ``hidden`` layers, on z.

    Parameters
    ----------
    hidden
        Widths of the hidden layers; none is logistic regression, whose worst case on a ball is known exactly.
    against
        ``"nothing"``: plain. ``"delta"``: one δ for everybody (projected gradient in a network, as in the paper).
        ``"radius"``: each person's own ε, given to ``fit``. ``"auto"``: the radius if given, else δ if given, else
        nothing, with a warning.
    delta, gamma
        The one δ; the weight of the worst loss against the plain one.
    penalty
        Of the squared weights of a linear head, learned in units of z's own spread.
    class_weight
        As in scikit-learn: None, ``"balanced"`` or ``{class: weight}``.
    epochs, batch_size, learning_rate, weight_decay, patience, warmup, validation_fraction, random_state, verbose
        For networks; see :class:`lcifr.learn.training_loop.Schedule`.

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
