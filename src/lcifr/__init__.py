"""Say who counts as similar, and prove, person by person, that similar people get the same decision.

Public names are loaded when they are first used: the exact checker runs where neither numpy nor torch is installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from lcifr import datasets
    from lcifr.certify.audit import audit
    from lcifr.certify.consumer import certify
    from lcifr.certify.handover import Representation
    from lcifr.certify.sweep.sweeper import sweep
    from lcifr.certify.verdicts import Audit, Certificates, Verdict
    from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
    from lcifr.errors import LcifrError
    from lcifr.estimators import FairBooster, FairBoosterRegressor, FairEncoder, RobustClassifier, RobustRegressor, tune
    from lcifr.models.network import Network
    from lcifr.prove.maximize import maximize
    from lcifr.prove.radius import radius
    from lcifr.regions.region import Region
    from lcifr.similarity import Similarity

_HOMES = {
    "Audit": "lcifr.certify",
    "Categorical": "lcifr.data",
    "Certificates": "lcifr.certify",
    "Encoding": "lcifr.data",
    "FairBooster": "lcifr.estimators",
    "FairBoosterRegressor": "lcifr.estimators",
    "FairEncoder": "lcifr.estimators",
    "Individuals": "lcifr.data",
    "LcifrError": "lcifr.errors",
    "Network": "lcifr.models.network",
    "Numeric": "lcifr.data",
    "Region": "lcifr.regions.region",
    "Representation": "lcifr.certify.handover",
    "RobustClassifier": "lcifr.estimators",
    "RobustRegressor": "lcifr.estimators",
    "Schema": "lcifr.data",
    "Similarity": "lcifr.similarity",
    "Verdict": "lcifr.certify",
    "audit": "lcifr.certify",
    "certify": "lcifr.certify",
    "maximize": "lcifr.prove",
    "radius": "lcifr.prove",
    "sweep": "lcifr.certify.sweep.sweeper",
    "tune": "lcifr.estimators",
}

_MODULES = ("datasets",)

__all__ = [
    "Audit",
    "Categorical",
    "Certificates",
    "Encoding",
    "FairBooster",
    "FairBoosterRegressor",
    "FairEncoder",
    "Individuals",
    "LcifrError",
    "Network",
    "Numeric",
    "Region",
    "Representation",
    "RobustClassifier",
    "RobustRegressor",
    "Schema",
    "Similarity",
    "Verdict",
    "audit",
    "certify",
    "datasets",
    "maximize",
    "radius",
    "sweep",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'lcifr' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
