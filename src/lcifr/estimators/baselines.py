"""Baselines: the plain and the unaware producer, of either family."""

from __future__ import annotations

from typing import TypeVar

from sklearn.base import clone

from lcifr.estimators.boosters import BaseBooster
from lcifr.estimators.encoder import FairEncoder

Producer = FairEncoder | BaseBooster
"""What gives z, with proofs: a network, or a booster, whose z are scores of attributes."""
Kind = TypeVar("Kind", FairEncoder, BaseBooster, FairEncoder | BaseBooster)


def plain(encoder: Kind) -> Kind:
    """The same encoder or booster, unfitted, for the plain loss alone: gamma is 0 and no attribute is tied."""
    baseline: Kind = clone(encoder)
    baseline.set_params(gamma=0.0, tie_free=False)
    return baseline


def unaware(encoder: Kind) -> Kind:
    """The same encoder or booster, unfitted, for its label without the attributes that φ leaves free.

    A booster never splits on them. In an encoder their columns are tied to one weight, which adds the same to
    all scores: the network is a function of the other attributes alone, exactly as if the columns had been dropped.
    Under a similarity that frees some attributes and keeps all others equal it is certified for everyone by
    construction. Fitted, its ``unread_`` names them.
    """
    baseline: Kind = clone(encoder)
    baseline.set_params(gamma=0.0, tie_free=True)
    return baseline
