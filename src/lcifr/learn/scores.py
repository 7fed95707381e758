"""Scores of models, and what makes a model useless, such as constant decisions or accuracy below the majority."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.learn.target import Target
from lcifr.models.model import Degeneracy
from lcifr.models.rule import Kind
from lcifr.regions.region import Region

# Scores of decisions, and detection of degenerate models.

FloatArray = NDArray[np.float64]
FLAT = 1.1
"""An effective rank of z below this: people lie on a line (98 % of the variance), every consumer gets one score.
Proofs push z towards a line where there are two classes (German, Cat + Noise: 1.2, plain 1.7), and a person with
another label in mind should know."""

FLAT_ADVICE = "decoder_weight=1.0 (`lcifr produce --decoder-weight 1`) keeps more of x"
WEIGHT_ADVICE = (
    'Where one class is rare, class_weight="balanced" (--class-weight balanced) takes it seriously, and `lcifr tune '
    "--by balanced` goes by balanced accuracy"
)
GAMMA_ADVICE = "A smaller gamma asks for fewer certified people"
UNAWARE_ADVICE = "`lcifr produce --unaware` (in Python: lcifr.estimators.unaware) makes the unaware model"

POINT = 1e-9
"""Standard deviations: a box that is not wider than this is one person, rounded outward."""


def score_of(target: Target, decision: FloatArray, label: FloatArray) -> float:
    """Accuracy, or R² for a number."""
    if target.kind is not Kind.NUMBER:
        return float(np.mean(decision == label))
    spread = float(np.square(label - label.mean()).sum())
    return 1.0 - float(np.square(decision - label).sum()) / spread if spread > 0 else 0.0


def balanced_score_of(target: Target, decision: FloatArray, label: FloatArray) -> float:
    """The mean of every class's own accuracy, or R² for a number."""
    if target.kind is Kind.NUMBER:
        return score_of(target, decision, label)
    return float(np.mean([np.mean(decision[label == code] == code) for code in np.unique(label)]))


def score_error_of(target: Target, decision: FloatArray, label: FloatArray) -> float:
    """The standard error of :func:`score_of` over people drawn at random; of R² as of a ratio of two sums."""
    if target.kind is not Kind.NUMBER:
        return share_error(float(np.mean(decision == label)), len(label))
    missed, spread = np.square(decision - label), np.square(label - label.mean())
    if not spread.sum() > 0:
        return 0.0
    ratio = missed.sum() / spread.sum()
    return float(np.sqrt(np.square(missed - ratio * spread).sum()) / spread.sum())


def balanced_error_of(target: Target, decision: FloatArray, label: FloatArray) -> float:
    """The standard error of :func:`balanced_score_of`: every class is drawn by itself."""
    if target.kind is Kind.NUMBER:
        return score_error_of(target, decision, label)
    of_class = [decision[label == code] == code for code in np.unique(label)]
    return float(np.sqrt(sum(share_error(float(right.mean()), len(right)) ** 2 for right in of_class)) / len(of_class))


def share_error(share: float, people: int) -> float:
    """The standard error of a share."""
    return float(np.sqrt(share * (1.0 - share) / people))


def effective_rank(latent: FloatArray) -> float:
    """exp of the entropy of the shares of variance along the principal axes of z: 1 for a line, d for a ball in R^d."""
    centred = latent - latent.mean(0)
    variances = np.square(np.linalg.svd(centred, compute_uv=False))
    total = variances.sum()
    if not total > 0:
        return 0.0
    shares = variances[variances > 0] / total
    return float(np.exp(-(shares * np.log(shares)).sum()))


def singleton_share(region: Region) -> float:
    """The share of people whose region holds only themselves, or no one at all."""
    accompanied = np.zeros(region.people, np.bool_)
    for cell in region.cells:
        wide = (cell.upper - cell.lower > POINT).any(1)
        for choice in cell.choices:
            wide |= choice.allowed.sum(1) > 1
        accompanied |= cell.present & wide
    return float(1.0 - accompanied.mean())


def degeneracies(
    target: Target | None,
    *,
    latent: FloatArray | None = None,
    decision: FloatArray | None = None,
    label: FloatArray | None = None,
    unaware: float | None = None,
    singletons: float | None = None,
    balanced: bool = False,
    weighted: bool = False,
) -> tuple[Degeneracy, ...]:
    """Everything trivial about a model: what a certified share must never be shown without.

    Parameters
    ----------
    latent : (people, d) z. decision, label : (people,) codes, or numbers.
    unaware : score of the unaware baseline on the same people.
    singletons : share of people whose region holds only themselves.
    balanced : whether the model is to be judged by balanced accuracy. weighted : whether it has class weights already.
    """
    found = [*_of_people(latent, singletons)]
    if target is not None and decision is not None and label is not None:
        found += [
            *_of_decisions(target, decision, label, balanced, weighted),
            *_against_unaware(target, decision, label, unaware),
        ]
    return tuple(found)


def _of_people(latent: FloatArray | None, singletons: float | None) -> Iterator[Degeneracy]:
    if latent is not None and len(latent) > 1 and latent.shape[1] > 1 and (rank := effective_rank(latent)) < FLAT:
        yield Degeneracy(
            "flat latent",
            f"the representation z tells people apart by one number only (effective rank {rank:.2f}): enough for the "
            "label it was trained for, and for little else",
            FLAT_ADVICE,
        )
    if singletons is not None and singletons > 0.5:
        text = f"{singletons:.0%} of the people have nobody similar but themselves: proving that is no feat"
        yield Degeneracy("alone", text)


def _of_decisions(
    target: Target, decision: FloatArray, label: FloatArray, balanced: bool, weighted: bool
) -> Iterator[Degeneracy]:
    score = (balanced_score_of if balanced else score_of)(target, decision, label)
    if target.kind is Kind.NUMBER:
        if np.ptp(decision) == 0:
            yield Degeneracy("constant", "the model predicts the same number for everybody")
        elif score < 0:
            yield Degeneracy("below mean", f"R² is {score:.3f}: always predicting the mean is closer")
        return
    counts = np.unique(label, return_counts=True)[1]
    least = 1 / len(counts) if balanced else counts.max() / len(label)
    if len(np.unique(decision)) == 1:
        advice = GAMMA_ADVICE if weighted else f"{WEIGHT_ADVICE}. {GAMMA_ADVICE}"
        yield Degeneracy("constant", "the model decides the same for everybody", advice)
    elif score < least:
        name = "balanced accuracy" if balanced else "accuracy"
        text = f"{name} {score:.3f} is below what always deciding for the majority gives ({least:.3f})"
        yield Degeneracy("below majority", text, "" if weighted else WEIGHT_ADVICE)


def _against_unaware(
    target: Target, decision: FloatArray, label: FloatArray, unaware: float | None
) -> Iterator[Degeneracy]:
    if unaware is not None and (score := score_of(target, decision, label)) < unaware:
        yield worse_than_unaware(score, unaware)


def worse_than_unaware(score: float, unaware: float) -> Degeneracy:
    """A model that the unaware baseline beats."""
    text = f"a model that never sees what φ leaves free scores {unaware:.3f}, this one {score:.3f}"
    return Degeneracy("worse than unaware", text, UNAWARE_ADVICE)


class DegenerateModelWarning(UserWarning):
    """A model that is too trivial for its certified share to mean much."""


# Warnings of estimators about models that are too trivial for a certified share to mean much.


def warn_of_degeneracies(
    estimator: Any,
    target: Target | None,
    *,
    latent: NDArray[np.float64] | None = None,
    decision: NDArray[Any] | None = None,
    label: NDArray[np.float64] | None = None,
    region: Region | None = None,
) -> None:
    """Set ``degeneracies_`` of a fitted estimator and warn of each, at the line that called ``fit``.

    With class weights the model is judged by balanced accuracy. Parameters as for ``lcifr.learn.scores.degeneracies``.
    """
    weighted = getattr(estimator, "class_weight", None) is not None
    estimator.degeneracies_ = degeneracies(
        target,
        latent=latent,
        decision=None if decision is None else decision.astype(np.float64),
        label=label,
        singletons=None if region is None else singleton_share(region),
        balanced=weighted,
        weighted=weighted,
    )
    for one in estimator.degeneracies_:
        warnings.warn(f"{type(estimator).__name__}: {one}", DegenerateModelWarning, stacklevel=4)
