"""Baselines: the plain encoder and the unaware encoder."""

from __future__ import annotations

from sklearn.base import clone

from lcifr.estimators.encoder import FairEncoder


def plain(encoder: FairEncoder) -> FairEncoder:
    """The same encoder, unfitted, trained with the plain loss alone: gamma is 0 and no attribute is tied."""
    baseline: FairEncoder = clone(encoder)
    baseline.set_params(gamma=0.0, tie_free=False)
    return baseline


def unaware(encoder: FairEncoder) -> FairEncoder:
    """The same encoder, unfitted, trained for its label without the attributes that φ leaves free.

    Their columns are tied to one weight, which adds the same to everybody: the network is a function of the other
    attributes alone, exactly as if the columns had been dropped. Under a similarity that frees some attributes and
    keeps all others equal it is certified for everybody by construction. Fitted, its ``unread_`` names them.
    """
    baseline: FairEncoder = clone(encoder)
    baseline.set_params(gamma=0.0, tie_free=True)
    return baseline
