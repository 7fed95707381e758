"""scikit-learn estimators: FairEncoder, robust heads, FairBooster, baselines, and tuning of gamma."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcifr.estimators.boosters import FairBooster, FairBoosterRegressor
    from lcifr.estimators.encoder import FairEncoder
    from lcifr.estimators.heads import RobustClassifier, RobustRegressor
    from lcifr.estimators.tuning import Frontier, plain, tune, unaware

__all__ = [
    "FairBooster",
    "FairBoosterRegressor",
    "FairEncoder",
    "Frontier",
    "RobustClassifier",
    "RobustRegressor",
    "plain",
    "tune",
    "unaware",
]

_HOMES = {
    "FairBooster": "lcifr.estimators.boosters",
    "FairBoosterRegressor": "lcifr.estimators.boosters",
    "FairEncoder": "lcifr.estimators.encoder",
    "Frontier": "lcifr.estimators.tuning",
    "RobustClassifier": "lcifr.estimators.heads",
    "RobustRegressor": "lcifr.estimators.heads",
    "plain": "lcifr.estimators.tuning",
    "tune": "lcifr.estimators.tuning",
    "unaware": "lcifr.estimators.tuning",
}


def __getattr__(name: str) -> Any:
    """Load torch and scikit-learn only when they are asked for."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        from lcifr.errors import missing_extra

        raise missing_extra(error, name) from None
