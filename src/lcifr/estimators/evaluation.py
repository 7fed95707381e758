"""Evaluation of a fitted encoder and head: score, certified share and radius, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lcifr.learn.score import (
    USELESS,
    balanced_error_of,
    balanced_score_of,
    degeneracies,
    score_error_of,
    score_of,
    share_error,
)
from lcifr.learn.target import Target
from lcifr.models.model import Degeneracy

if TYPE_CHECKING:
    from lcifr.estimators.base_head import Head
    from lcifr.estimators.baselines import Producer


@dataclass(frozen=True)
class FrontierPoint:
    """The metrics of one model on validation people.

    Parameters
    ----------
    name : ``"plain"``, ``"unaware"`` or the weight, behind its family where there are two. gamma : the weight.
    score, balanced : accuracy and balanced accuracy, or R² for a number.
    certified : share proved on the ball or box by bounds alone: a lower bound of what exact proofs give.
    radius : mean ε. degeneracies : what is trivial about it.
    score_error, balanced_error, certified_error : standard errors of these figures.
    learner : ``network`` or ``trees``. on : ``ball`` or ``box``, where ``certified`` is proved.
    """

    name: str
    gamma: float
    score: float
    balanced: float
    certified: float
    radius: float
    degeneracies: tuple[Degeneracy, ...] = ()
    score_error: float = 0.0
    balanced_error: float = 0.0
    certified_error: float = 0.0
    learner: str = "network"
    on: str = "ball"

    @property
    def title(self) -> str:
        """The name in words: ``gamma 1``, or ``trees, gamma 1``."""
        return self.name.replace(f"{self.learner}-", f"{self.learner}, ").replace("gamma-", "gamma ")

    @property
    def useful(self) -> bool:
        """Whether the model distinguishes people, and does better than a constant decision."""
        return not any(one.name in USELESS for one in self.degeneracies)


def evaluate_models(
    encoder: Producer, head: Head, X: Any, y: Any, *, name: str = "", by: str = "accuracy", on: str = "ball"
) -> FrontierPoint:
    """How fitted models do on these people; certified on the ball or box, by bounds alone."""
    found = encoder.reach(X)
    target = Target.of_model(head.model_)
    label = target.encode(np.asarray(y))
    decision = head.model_.rule.decide(head.network_(found.latent))
    box, trees = (found.lower, found.upper) if on == "box" else None, hasattr(encoder, "score_trees_")
    certified = float(head.certified(found.latent, found.radius, box=box).mean())
    trivial = degeneracies(
        target,
        latent=None if trees else found.latent,
        decision=decision,
        label=label,
        balanced=by == "balanced",
        weighted=head.weighted,
    )
    return FrontierPoint(
        name,
        float(encoder.gamma),
        score_of(target, decision, label),
        balanced_score_of(target, decision, label),
        certified,
        float(found.radius.mean()),
        trivial,
        score_error_of(target, decision, label),
        balanced_error_of(target, decision, label),
        share_error(certified, len(label)),
        "trees" if trees else "network",
        on,
    )
