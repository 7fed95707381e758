"""Benchmarks are programs of their own: here is seen only that each of them still fits the library."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

NAMES = sorted(path.stem for path in (Path(__file__).parents[1] / "benchmarks").glob("*.py") if path.stem != "__main__")


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_imports(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")
    assert module.__doc__
