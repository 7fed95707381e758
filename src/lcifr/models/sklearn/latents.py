"""Fitted scikit-learn models on latents: estimators, in pipelines behind scalers and affine maps, as factors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.chain import chain_of
from lcifr.models.columns import FLOAT64
from lcifr.models.model import Model, own_model
from lcifr.models.sklearn.estimators import WORKS
from lcifr.models.sklearn.mixtures import MIXERS, AffineFactors, read_mixer, read_scaler_behind
from lcifr.models.sklearn.scalers import SCALERS
from lcifr.models.sklearn.thresholds import WRAPPERS, read_decision

FIX = (
    f"use {WORKS}, alone or in {', '.join(WRAPPERS)}; "
    f"in a Pipeline behind {', '.join((*SCALERS, *MIXERS))} or feature selection"
)


def read_sklearn(model: Any) -> Model:
    """A fitted model on stored numbers, which decides what the model predicts.

    Parameters
    ----------
    model : linear or a network, or a pipeline of affine steps with such a model at its end; it may be one of ours.

    Raises
    ------
    NetworkError
        For anything else, with the list of what works.
    """
    name = type(model).__name__
    if not type(model).__module__.startswith("sklearn."):
        raise NetworkError(f"{name} is not a model of scikit-learn or of this package", fix=FIX)
    if name != "Pipeline":
        return read_decision(model)
    before = AffineFactors(int(model.n_features_in_), FLOAT64)
    for step, transformer in model.steps[:-1]:
        before = _read_step(transformer, before, f'pipeline step "{step}"')
    last = own_model(model.steps[-1][1]) or read_decision(model.steps[-1][1], before.dtype)
    return replace(last, function=chain_of((*before.factors, *last.factors)))


def _read_step(transformer: Any, before: AffineFactors, where: str) -> AffineFactors:
    kind = type(transformer).__name__
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return before
    module = type(transformer).__module__
    if kind in MIXERS and module.startswith("sklearn."):
        return read_mixer(transformer, before, where)
    if kind in SCALERS and module.startswith("sklearn."):
        return read_scaler_behind(transformer, before, where)
    if module.startswith("sklearn.feature_selection."):
        return before.take(np.flatnonzero(transformer.get_support()).tolist())
    raise NetworkError(f"{where} is {kind}, which is not affine here", fix=FIX)
