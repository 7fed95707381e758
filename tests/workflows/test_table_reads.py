"""Every command reads a CSV file at most twice; a local Parquet table is read where it is needed, and never copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from lcifr.workflows.people import STORED
from tests.story import QUICK, lcifr

PEOPLE = 30


class Reads:
    """How often rows of a file are parsed; headers and metadata do not count."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files: list[str] = []
        for module, name in ((csv, "read_csv"), (parquet, "read_table"), (pd, "read_csv"), (pd, "read_parquet")):
            monkeypatch.setattr(module, name, self._noting(getattr(module, name)))
        open_csv, ParquetFile = csv.open_csv, parquet.ParquetFile
        reads = self

        class File(ParquetFile):  # type: ignore[misc]
            def __init__(self, source: Any, *options: Any, **more: Any) -> None:
                super().__init__(source, *options, **more)
                self.named = source

            def iter_batches(self, *options: Any, **more: Any) -> Iterator[pa.RecordBatch]:
                reads.note(self.named)
                return super().iter_batches(*options, **more)

        monkeypatch.setattr(
            csv, "open_csv", lambda source, *rest, **more: _Reader(self, source, open_csv(source, *rest, **more))
        )
        monkeypatch.setattr(parquet, "ParquetFile", File)

    def note(self, source: Any) -> None:
        if isinstance(source, str | Path):
            self.files.append(Path(source).name)

    def _noting(self, read: Callable[..., Any]) -> Callable[..., Any]:
        def noted(source: Any, *rest: Any, **more: Any) -> Any:
            self.note(source)
            return read(source, *rest, **more)

        return noted


class _Reader:
    """Counts when somebody begins to read rows, not when it is opened for the header."""

    def __init__(self, reads: Reads, source: Any, reader: Any) -> None:
        self._reads, self._source, self._reader = reads, source, reader

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *error: Any) -> None:
        self._reader.close()

    @property
    def schema(self) -> pa.Schema:
        return self._reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        self._reads.note(self._source)
        return iter(self._reader)


@pytest.fixture(scope="module")
def tables(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labelled people with ids, as CSV and as Parquet; one of them has no name, which "NA" may be or not."""
    place = tmp_path_factory.mktemp("tables")
    people = pd.read_csv(story / "people.csv").tail(PEOPLE)
    named = people.assign(who=[f"p{i}" for i in range(PEOPLE)])
    named.to_csv(place / "table.csv", index=False)
    named.to_parquet(place / "table.parquet", index=False)
    (place / "table.phi").write_text((story / "people.phi").read_text(encoding="utf-8"), encoding="utf-8")
    return place


def words_of(name: str, story: Path, table: str) -> tuple[Any, ...]:
    """A command on the table, with ids and with all that reads people again."""
    both, schema = (story / "producer", story / "consumer"), story / "producer" / "schema.toml"
    learn = (table, "--phi", "table.phi", "--target", "repaid", "--id", "who", *QUICK, "--epochs", "1")
    return {
        "produce": ("produce", *learn, "--out", "out"),
        "produce --sample": ("produce", *learn, "--sample", "20", "--out", "out"),
        "tune": ("tune", *learn, "--gammas", "1", "--required", "0.1", "--out", "out"),
        "represent": ("represent", both[0], table, "--id", "who", "--bundle", "--out", "out"),
        "audit": ("audit", *both, table, "--id", "who", "--baselines", "--bundle", "--out", "out"),
        "audit --sample": ("audit", *both, table, "--id", "who", "--sample", "20", "--out", "out"),
        "certify": ("certify", both[1], table, "--producer", both[0], "--id", "who", "--out", "out"),
        "init": ("init", table, "--target", "repaid", "--id", "who", "--out", "proposed"),
        "data check": ("data", "check", table, "--schema", schema),
        "phi check": ("phi", "check", "table.phi", "--data", table, "--schema", schema),
    }[name]


NAMES = (
    "produce",
    "produce --sample",
    pytest.param("tune", marks=pytest.mark.long),
    "represent",
    "audit",
    "audit --sample",
    "certify",
    "init",
    "data check",
    "phi check",
)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_csv_is_read_at_most_twice_and_parquet_is_not_copied(
    name: str, kind: str, story: Path, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in tables.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    reads = Reads(monkeypatch)
    said = lcifr(*words_of(name, story, f"table.{kind}"), cwd=tmp_path, expect=None)
    assert said.code in (0, 1, 3), said.err
    count = reads.files.count(f"table.{kind}")
    assert 1 <= count <= 2 if kind == "csv" else count >= 1 and STORED not in reads.files


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_labels_are_read_once(kind: str, story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = pd.read_csv(story / "producer" / "labels.csv")
    labels.to_csv(tmp_path / "own.csv", index=False)
    labels.to_parquet(tmp_path / "own.parquet", index=False)
    reads = Reads(monkeypatch)
    lcifr("consume", story / "producer" / "handover", f"own.{kind}", "--epochs", "2", "--out", "out", cwd=tmp_path)
    assert reads.files.count(f"own.{kind}") == 1
