"""What the paper printed, as data: read from ``paper.json`` beside this file."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def figures() -> dict[str, Any]:
    """Everything, in per cent and seconds as printed."""
    found: dict[str, Any] = json.loads((Path(__file__).parent / "paper.json").read_text(encoding="utf-8"))
    return found


def printed(row: str) -> dict[str, dict[str, float]] | None:
    """``base`` (the paper's unfair baseline) and ``lcifr`` of a row such as ``adult/noise``; None where it has none."""
    found: dict[str, dict[str, float]] | None = figures()["constraints"].get(row.removesuffix("_only"))
    return found


def weight(dataset: str) -> float:
    """γ that the paper fixed for this dataset."""
    return float(figures()["gamma"][dataset])
