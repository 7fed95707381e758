"""``lcifr doctor``: what is installed, and whether every solver found answers correctly."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import typer

from lcifr.cli._output import JsonOption, console, print_json
from lcifr.errors import LcifrError

EXAMPLE = "Example: lcifr doctor --json"
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
    "gurobipy": "another exact solver, with a licence of your own",
    "fairlearn": "group metrics",
    "polars": "polars frames as tables",
}


@dataclass(frozen=True)
class Found:
    """One solver or method: right (it answers, and rightly), wrong, absent, or broken (there, but it does not run)."""

    name: str
    version: str
    state: str
    detail: str = ""


def register(app: typer.Typer) -> None:
    app.command(epilog=EXAMPLE)(doctor)


def doctor(as_json: JsonOption = False) -> None:
    """Show versions, solvers, optional packages and the GPU; ask every solver questions whose answers are known.

    Exit codes: 0 all that is found answers rightly, 1 something gives a wrong answer or what is needed does not run.
    """
    packages = {name: _version(name) for name in NEEDED}
    optional = {name: _version(name) for name in OPTIONAL}
    solvers = [*examine_solvers(), *examine_engine()]
    ill = [found for found in solvers if found.state == "wrong" or (found.state == "broken" and found.name != "gurobi")]
    result = {
        "format": "lcifr-doctor-1",
        "command": "doctor",
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": packages,
        "optional": optional,
        "solvers": [asdict(found) for found in solvers],
        "gpu": _gpu(),
        "well": not ill and None not in packages.values(),
    }
    if as_json:
        print_json(result)
    else:
        _show(result)
    raise typer.Exit(0 if result["well"] else 1)


def examine_solvers() -> list[Found]:
    """Every solver of :mod:`lcifr.prove.oracles.solvers`, asked every canary."""
    from lcifr.prove.oracles import solvers

    found = []
    for name in sorted(solvers.solver_names()):
        solver = solvers.find_solver(name)
        try:
            known = solver.version()
        except LcifrError as missing:
            found.append(Found(name, "", "absent", missing.fix or str(missing)))
            continue
        except Exception as problem:
            found.append(Found(name, "", "broken", f"{type(problem).__name__}: {problem}"))
            continue
        found.append(_examine(name, known, solver))
    return found


def _examine(name: str, known: str, solver: Any) -> Found:
    from lcifr.prove.canaries import canaries

    wrong = []
    asked = canaries()
    for canary in asked:
        try:
            said = canary.ask(solver)
        except Exception as problem:
            return Found(name, known, "broken", f"{canary.name}: {type(problem).__name__}: {problem}")
        if said:
            wrong.append(f"{canary.name}: {said}")
    return Found(name, known, "wrong" if wrong else "right", "; ".join(wrong) or f"{len(asked)} known answers")


def examine_engine() -> list[Found]:
    """The methods that prove, on networks whose answers are known by hand."""
    from lcifr.prove.canaries import engine_answers

    found = []
    for method in ("branch", "milp"):
        try:
            said = engine_answers(method)
        except Exception as problem:
            found.append(Found(f"engine: {method}", "", "broken", f"{type(problem).__name__}: {problem}"))
            continue
        found.append(Found(f"engine: {method}", "", "wrong" if said else "right", said or "known answers"))
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _gpu() -> str | None:
    import torch

    if torch.cuda.is_available():
        return f"{torch.cuda.get_device_name(0)} (CUDA {torch.version.cuda})"
    return "Apple (mps)" if torch.backends.mps.is_available() else None


def _show(result: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("python", result["python"], result["platform"])
    for name, found in result["packages"].items():
        table.add_row(name, found or "MISSING", "")
    for name, found in result["optional"].items():
        table.add_row(name, found or "not installed", f"optional: {OPTIONAL[name]}")
    table.add_row("GPU", "", result["gpu"] or "none; everything runs on the CPU")
    for found in result["solvers"]:
        words = {
            "right": "answers rightly",
            "wrong": "WRONG ANSWERS",
            "absent": "not installed",
            "broken": "DOES NOT RUN",
        }
        table.add_row(found["name"], found["version"], f"{words[found['state']]}: {found['detail']}")
    console().print(table)
    typer.echo("\nAll is well." if result["well"] else "\nDo not trust what is marked above.")
