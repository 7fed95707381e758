"""lcifr: say who counts as similar, and prove, person by person, that similar people get the same decision.

Public names are loaded when they are first used: the exact checker runs where neither numpy nor torch is installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from lcifr import datasets
    from lcifr.certificates import Audit, Certificates, Representation, Verdict, audit, certify
    from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
    from lcifr.errors import LcifrError
    from lcifr.estimators import FairEncoder, RobustClassifier, RobustRegressor, tune
    from lcifr.network import Network
    from lcifr.prove.maximize import maximize
    from lcifr.prove.radius import radius
    from lcifr.similarity import Region, Similarity

_HOMES = {
    "Audit": "lcifr.certificates",
    "Categorical": "lcifr.data",
    "Certificates": "lcifr.certificates",
    "Encoding": "lcifr.data",
    "FairEncoder": "lcifr.estimators",
    "Individuals": "lcifr.data",
    "LcifrError": "lcifr.errors",
    "Network": "lcifr.network",
    "Numeric": "lcifr.data",
    "Region": "lcifr.similarity",
    "Representation": "lcifr.certificates",
    "RobustClassifier": "lcifr.estimators",
    "RobustRegressor": "lcifr.estimators",
    "Schema": "lcifr.data",
    "Similarity": "lcifr.similarity",
    "Verdict": "lcifr.certificates",
    "audit": "lcifr.certificates",
    "certify": "lcifr.certificates",
    "maximize": "lcifr.prove",
    "radius": "lcifr.prove",
    "tune": "lcifr.estimators",
}

_MODULES = ("datasets",)

__all__ = [
    "Audit",
    "Categorical",
    "Certificates",
    "Encoding",
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
