"""A sweep of everybody of the tiny universe, from the shell."""

from __future__ import annotations

from pathlib import Path

import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from tests.certification.sweep.tiny import FORMULAS, SCHEMA, everybody, fitted
from tests.runs.sweeps.swept_place import ASKED
from tests.story import lcifr


@pytest.fixture(scope="package")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    everybody().to_pandas().to_csv(folder / "people.csv", index=False)
    skops.io.dump(fitted(LogisticRegression(), 1), folder / "model.skops")
    (folder / "people.phi").write_text(FORMULAS[0])
    SCHEMA.save(folder / "people.toml")
    return folder


@pytest.fixture(scope="package")
def swept(place: Path) -> Path:
    said = lcifr("sweep", "people.csv", *ASKED, "--bundle", "--out", "swept", cwd=place, expect=1)
    assert "violating:" in said.out
    assert "pair 1: sex" in said.out
    assert all("; decision: " in line for line in said.out.splitlines() if line.startswith("pair "))
    assert "Next: lcifr report swept" in said.err
    return place / "swept"
