"""Say who counts as similar, and prove, person by person, that similar people get the same decision.

Public names are loaded when they are first used: the exact checker runs where neither numpy nor torch is installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from lcifr import datasets
    from lcifr.certification.audit import audit
    from lcifr.certification.consumer import certify
    from lcifr.certification.handover import Representation
    from lcifr.certification.sweep.sweeper import sweep
    from lcifr.certification.verdicts import Audit, Certificates, Verdict
    from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
    from lcifr.errors import LcifrError
    from lcifr.estimators import FairBooster, FairBoosterRegressor, FairEncoder, RobustClassifier, RobustRegressor, tune
    from lcifr.models.network import Network
    from lcifr.phi import Similarity
    from lcifr.prove.maximize import maximize
    from lcifr.prove.radius import radius
    from lcifr.regions.region import Region

_HOMES = {
    "Audit": "lcifr.certification",
    "Categorical": "lcifr.data",
    "Certificates": "lcifr.certification",
    "Encoding": "lcifr.data",
    "FairBooster": "lcifr.estimators",
    "FairBoosterRegressor": "lcifr.estimators",
    "FairEncoder": "lcifr.estimators",
    "Individuals": "lcifr.data",
    "LcifrError": "lcifr.errors",
    "Network": "lcifr.models.network",
    "Numeric": "lcifr.data",
    "Region": "lcifr.regions.region",
    "Representation": "lcifr.certification.handover",
    "RobustClassifier": "lcifr.estimators",
    "RobustRegressor": "lcifr.estimators",
    "Schema": "lcifr.data",
    "Similarity": "lcifr.phi",
    "Verdict": "lcifr.certification",
    "audit": "lcifr.certification",
    "certify": "lcifr.certification",
    "maximize": "lcifr.prove",
    "radius": "lcifr.prove",
    "sweep": "lcifr.certification.sweep.sweeper",
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
    try:
        return getattr(importlib.import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        from lcifr.errors import missing_extra

        raise missing_extra(error, f"lcifr.{name}") from None


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
