"""A table of made-up people, and the bytes of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from lcifr.workflows.jobs import audit_file
from tests.certification.scenes import FORMULAS, Scene, people, scene
from tests.dates import undated

ROOT = Path(__file__).parents[2]


SEED, COUNT, CHUNK = 2, 60, 5


def one() -> Scene:
    return scene(SEED, FORMULAS[0])


def table() -> pd.DataFrame:
    frame = people(COUNT, 5)
    frame["who"] = [f"person {i}" for i in range(COUNT)]
    return frame


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: undated(file) for file in sorted(folder.iterdir())}


def audit_all(source: Any, folder: Path, **options: Any) -> None:
    audit_file(one().encoder, one().model, source, folder, chunk=CHUNK, workers=1, **options)
