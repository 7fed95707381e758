"""Runs every benchmark of this folder, or those that are named: ``python -m benchmarks engine``.

What follows the first option is for the benchmark that is named: ``python -m benchmarks engine --part radii``.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

WITH_ARGUMENTS = ("compare", "house", "move")
"""Tools that are told what to look at: `python -m benchmarks.house OLD NEW`."""
WITH_OPTIONS = ("engine", "fairify", "file_to_verdict", "on_device")


def names() -> list[str]:
    """Every module here that defines ``main``; what they share does not."""
    folder = Path(__file__).parent
    found = sorted(module.name for module in pkgutil.iter_modules([str(folder)]) if not module.name.startswith("_"))
    return [name for name in found if name not in WITH_ARGUMENTS and "\ndef main(" in _source(folder, name)]


def _source(folder: Path, name: str) -> str:
    file = folder / f"{name}.py"
    return (file if file.exists() else folder / name / "__init__.py").read_text(encoding="utf-8")


def run(words: list[str]) -> int:
    """Run the benchmarks in turn; 2 for a name that is not there, or for options that nobody takes."""
    first = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    wanted, options = words[:first], words[first:]
    unknown = sorted(set(wanted) - set(names()))
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    if options and wanted not in [[name] for name in WITH_OPTIONS]:
        known = ", ".join(WITH_OPTIONS)
        print(f"only {known} take options: python -m benchmarks engine --help", file=sys.stderr)
        return 2
    for name in wanted or names():
        print(f"## {name}", flush=True)
        importlib.import_module(f"benchmarks.{name}").main(*([options] if options else []))
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
