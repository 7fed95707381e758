"""FairBooster and FairBoosterRegressor: boosted additive models, trained at the worst similar person."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from lcifr.estimators.base_booster import BaseBooster, FloatArray
from lcifr.learn.target import Target
from lcifr.models.rule import Kind


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
        as the validation loss falls. Each is taken at its worst leaf that somebody similar reaches: a bound, as with
        pairs. Attributes in ``monotone`` are not cut by them.
    subsample
        Share of the people, drawn anew, by whom each round chooses its step.
    monotone
        ``{attribute: 1 or -1}``: numbers in which the score must not fall, or not rise. For two classes or a number.
    tie_free
        Attributes of which φ never speaks are not read. If False they are read as far as gamma allows.
    whole_numbers
        As in :class:`FairEncoder`.
    tolerance, class_weight
        For numbers: less than this apart is the same decision. For classes: weights as in scikit-learn.
    patience, validation_fraction
        Rounds without a better validation loss before stopping; share held out where ``fit`` is given nobody for that.
    bags
        How many models are learned, each with another ``validation_fraction`` of the people held out, and averaged:
        again one additive model. Steadier where people are few. People whom ``fit`` is given stop every one of them.
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
