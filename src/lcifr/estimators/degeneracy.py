"""Warnings of estimators about models that are too trivial for a certified share to mean much."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.learn.score import DegenerateModelWarning, degeneracies, singleton_share
from lcifr.learn.target import Target
from lcifr.regions.region import Region


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

    With class weights the model is judged by balanced accuracy. Parameters as for ``lcifr.learn.score.degeneracies``.
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
