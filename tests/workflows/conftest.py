"""Fixtures of large tables, the same people in a file of every kind; and a sweep of a tiny universe from the shell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from lcifr.data import Individuals, ingest
from tests.certification.sweep.tiny import FORMULAS, SCHEMA, everybody, fitted
from tests.story import lcifr
from tests.workflows.swept_place import ASKED

PEOPLE = 20


@pytest.fixture(scope="session")
def place(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same labelled people, each with an id, in a file of every kind."""
    place = tmp_path_factory.mktemp("tables")
    table = pd.read_csv(story / "people.csv").tail(PEOPLE).assign(who=[f"p{i}" for i in range(PEOPLE)], spare=1.5)
    table.to_parquet(place / "people.parquet", index=False, row_group_size=7)
    table.to_csv(place / "people.csv", index=False)
    table.to_csv(place / "people.csv.gz", index=False)
    table.to_csv(place / "people.tsv", index=False, sep="\t")
    lcifr("represent", story / "producer", "people.parquet", "--id", "who", "--out", "handed", cwd=place)
    return place


@pytest.fixture
def some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Few rows at a time; how many people went through the gate at once is noted."""
    seen: list[int] = []
    honest = Individuals.read.__func__

    def read(cls: Any, source: Any, schema: Any, **options: Any) -> Individuals:
        found = honest(cls, source, schema, **options)
        seen.append(len(found))
        return found

    monkeypatch.setattr(ingest, "ROWS", 3)
    monkeypatch.setattr(Individuals, "read", classmethod(read))
    return seen


@pytest.fixture(scope="session")
def tiny_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    everybody().to_pandas().to_csv(folder / "people.csv", index=False)
    skops.io.dump(fitted(LogisticRegression(), 1), folder / "model.skops")
    (folder / "people.phi").write_text(FORMULAS[0])
    SCHEMA.save(folder / "people.toml")
    return folder


@pytest.fixture(scope="session")
def swept(tiny_place: Path) -> Path:
    said = lcifr("sweep", "people.csv", *ASKED, "--bundle", "--out", "swept", cwd=tiny_place, expect=1)
    assert "violating:" in said.out
    assert "pair 1: sex" in said.out
    assert all("; decision: " in line for line in said.out.splitlines() if line.startswith("pair "))
    assert "Next: lcifr report swept" in said.err
    return tiny_place / "swept"
