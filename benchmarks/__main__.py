"""Runs every benchmark of this folder, or those that are named: ``python -m benchmarks engine``."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path


def names() -> list[str]:
    """Every file here that defines ``main``; recipes and the like do not."""
    folder = Path(__file__).parent
    found = sorted(module.name for module in pkgutil.iter_modules([str(folder)]) if not module.name.startswith("_"))
    return [name for name in found if "\ndef main(" in (folder / f"{name}.py").read_text(encoding="utf-8")]


def run(wanted: list[str]) -> int:
    """Run the benchmarks in turn; 2 for a name that is not there."""
    unknown = sorted(set(wanted) - set(names()))
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    for name in wanted or names():
        print(f"## {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
