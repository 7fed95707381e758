"""The installation examined: versions, GPU, and every solver and method asked questions whose answers are known."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.runs.events import Listener, listening, step

if TYPE_CHECKING:
    from lcifr.prove.oracles.solvers import Solver

NEEDED = (
    "lcifr",
    "numpy",
    "torch",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "highspy",
    "numba",
    "safetensors",
    "lark",
    "typer",
    "rich",
)
OPTIONAL = {
    "onnxruntime": "models as ONNX files: lcifr[onnx]",
    "skops": "models as skops files: lcifr[skops]",
    "xgboost": "XGBoost models: lcifr[trees]",
    "lightgbm": "LightGBM models: lcifr[trees]",
    "interpret-core": "explainable boosting machines: lcifr[trees]",
    "ray": "clusters: lcifr[ray]",
    "matplotlib": "plots: lcifr[plot]",
    "fairlearn": "group metrics: lcifr[fairlearn]",
    "starlette": "the workbench: lcifr[workbench]",
    "cryptography": "signatures: lcifr[sign]",
    "polars": "polars frames as tables",
    "gurobipy": "a second exact solver, with your own licence: lcifr[gurobi]",
}
MAY_BE_BROKEN = ("gurobi",)  # without a licence it is there and does not run, which is no fault of the installation


class Health(StrEnum):
    """How a solver or method does: it answers, and rightly; wrongly; is absent; or is there and does not run."""

    RIGHT = "right"
    WRONG = "wrong"
    ABSENT = "absent"
    BROKEN = "broken"


@dataclass(frozen=True)
class Examined:
    """One solver or method."""

    name: str
    version: str
    state: Health
    detail: str = ""


@dataclass(frozen=True)
class DoctorResult:
    """What is installed here, and how it does.

    Parameters
    ----------
    packages : versions of what is needed; None where it is missing. optional : the same of what may be missing.
    gpu : its name, or None.
    """

    python: str
    platform: str
    packages: Mapping[str, str | None]
    optional: Mapping[str, str | None]
    solvers: tuple[Examined, ...]
    gpu: str | None

    @property
    def well(self) -> bool:
        """Whether all that is needed is there, and all that is there answers rightly."""
        ill = [
            one
            for one in self.solvers
            if one.state is Health.WRONG or (one.state is Health.BROKEN and one.name not in MAY_BE_BROKEN)
        ]
        return not ill and None not in self.packages.values()

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        said = {**asdict(self), "solvers": [asdict(one) for one in self.solvers]}
        return {"format": "lcifr-doctor-1", "command": "doctor", **said, "well": self.well}


def doctor(listener: Listener | None = None) -> DoctorResult:
    """Examine the installation; ``listener`` hears the events of :mod:`lcifr.runs.events`."""
    with listening(listener), step("Testing the solvers"):
        return DoctorResult(
            python=platform.python_version(),
            platform=platform.platform(),
            packages={name: _version(name) for name in NEEDED},
            optional={name: _version(name) for name in OPTIONAL},
            solvers=(*examine_solvers(), *examine_engine()),
            gpu=_gpu(),
        )


def examine_solvers() -> list[Examined]:
    """Every solver of :mod:`lcifr.prove.oracles.solvers`, asked every canary."""
    from lcifr.prove.oracles import solvers

    found = []
    for name in sorted(solvers.solver_names()):
        solver = solvers.find_solver(name)
        try:
            known = solver.version()
        except LcifrError as missing:
            found.append(Examined(name, "", Health.ABSENT, missing.fix or str(missing)))
            continue
        except Exception as problem:
            found.append(Examined(name, "", Health.BROKEN, f"{type(problem).__name__}: {problem}"))
            continue
        found.append(_examine(name, known, solver))
    return found


def _examine(name: str, known: str, solver: Solver) -> Examined:
    from lcifr.prove.oracles.solvers import canaries

    wrong = []
    asked = canaries()
    for canary in asked:
        try:
            said = canary.ask(solver)
        except Exception as problem:
            return Examined(name, known, Health.BROKEN, f"{canary.name}: {type(problem).__name__}: {problem}")
        if said:
            wrong.append(f"{canary.name}: {said}")
    state = Health.WRONG if wrong else Health.RIGHT
    return Examined(name, known, state, "; ".join(wrong) or f"{len(asked)} known answers")


def examine_engine() -> list[Examined]:
    """The methods that prove, on networks whose answers are known by hand."""
    from lcifr.prove.oracles.solvers import engine_answers

    found = []
    for method in ("branch", "milp"):
        try:
            said = engine_answers(method)
        except Exception as problem:
            found.append(Examined(f"engine: {method}", "", Health.BROKEN, f"{type(problem).__name__}: {problem}"))
            continue
        found.append(Examined(f"engine: {method}", "", Health.WRONG if said else Health.RIGHT, said or "known answers"))
    return found


def _version(name: str) -> str | None:
    for known in (name, f"{name}-cpu"):  # xgboost-cpu is xgboost without its GPU libraries
        with suppress(PackageNotFoundError):
            return version(known)
    return None


def _gpu() -> str | None:
    import torch

    if torch.cuda.is_available():
        return f"{torch.cuda.get_device_name(0)} (CUDA {torch.version.cuda})"
    return "Apple (mps)" if torch.backends.mps.is_available() else None
