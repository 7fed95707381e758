"""Fixtures of large tables: the same people in a file of every kind, read few at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcifr.data import Individuals, ingest
from tests.story import lcifr

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
