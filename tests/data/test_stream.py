"""People read in chunks: rows are counted from the beginning of the file, and a table in memory reads the same."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from lcifr.data import Categorical, Numeric, Schema
from lcifr.data.ingest import read_chunks
from lcifr.errors import TableError
from tests.certification.scenes import SCHEMA, people

CHUNK = 5


@pytest.fixture
def table(tmp_path: Path) -> Path:
    people(20, 5).to_parquet(tmp_path / "people.parquet", index=False)
    return tmp_path / "people.parquet"


def test_problems_count_rows_from_the_beginning_of_the_file(tmp_path: Path) -> None:
    frame = people(9, 5)
    frame.loc[7, "job"] = "pilot"
    frame.to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(TableError, match=r'people\.csv(.|\n)*column "job", row 7') as raised:
        list(read_chunks(tmp_path / "people.csv", SCHEMA, 3))
    assert [problem.row for problem in raised.value.problems] == [7]


def test_a_category_may_be_called_na(tmp_path: Path) -> None:
    """As in a table in memory; a blank one is missing."""
    schema = Schema((Numeric("age"), Categorical("job", ("NA", "null", "nurse"))))
    (tmp_path / "people.csv").write_text("age,job\n1,NA\n2,null\n3,nurse\n", encoding="utf-8")
    (chunk,) = read_chunks(tmp_path / "people.csv", schema, 3)
    assert chunk.people.to_pandas()["job"].tolist() == ["NA", "null", "nurse"]
    (tmp_path / "blank.csv").write_text("age,job\n1,NA\n2,\n", encoding="utf-8")
    with pytest.raises(TableError, match='column "job", row 1'):
        list(read_chunks(tmp_path / "blank.csv", schema, 3))


def test_a_table_in_memory_is_read_like_its_file(table: Path) -> None:
    for from_file, from_memory in zip(
        read_chunks(table, SCHEMA, 7), read_chunks(pa.table(pd.read_parquet(table)), SCHEMA, 7), strict=True
    ):
        assert from_file.ids == from_memory.ids
        assert from_file.people.to_pandas().equals(from_memory.people.to_pandas())
