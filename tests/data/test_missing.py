"""Rows with missing values: found in CSV texts and in typed columns alike, and left out of a scan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcifr.data import Categorical, Individuals, Numeric, Schema, ingest
from lcifr.data.ingest import FileColumns, column_names, read_tables, scan_file
from lcifr.data.table import RowSkip, complete_rows
from lcifr.errors import LcifrError

SCHEMA = Schema((Numeric("age"), Categorical("job", ("NA", "clerk"))), target="paid")
TABLE = "who,age,job,paid\na,20,clerk,1\nb,,clerk,0\nc,NA,clerk,1\nd,50, ,0\ne,60,NA,1\nf,70,clerk,0\n"
COMPLETE = [0, 4, 5]


@pytest.fixture(params=["csv", "parquet"])
def people(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / f"people.{request.param}"
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    if request.param == "parquet":
        frame = pd.read_csv(tmp_path / "people.csv", keep_default_na=False, dtype=str)
        frame["age"] = pd.to_numeric(frame["age"], errors="coerce")
        frame["paid"] = frame["paid"].astype(int)
        frame.to_parquet(path)
    return path


@pytest.mark.parametrize("rows", [2, 100])
def test_rows_with_missing_values_are_left_out_of_what_a_scan_stores(
    people: Path, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "ROWS", rows)
    source = FileColumns(people, tuple(column_names(people)))
    found = scan_file(source, SCHEMA, "who", "paid", tmp_path, tmp_path / "kept.parquet", skipping=RowSkip("row"))
    assert found.people == len(COMPLETE)
    [table] = read_tables(found, SCHEMA, 100)
    assert table["row"].to_pylist() == COMPLETE
    assert found.left_out == 3
    assert table["who"].to_pylist() == ["a", "e", "f"]
    read = Individuals.read(table.select(["age", "job"]), SCHEMA)
    assert read.number("age").tolist() == [20, 60, 70]
    assert table["paid"].to_pylist() == [1, 1, 0]


def test_a_parquet_table_is_stored_only_where_rows_are_left_out(people: Path, tmp_path: Path) -> None:
    source, store = FileColumns(people, tuple(column_names(people))), tmp_path / "kept.parquet"
    whole = tmp_path / "whole.parquet"
    pd.DataFrame({"who": ["a", "b"], "age": [1, 2], "job": ["NA", "clerk"], "paid": [0, 1]}).to_parquet(whole)
    found = scan_file(replace(source, path=whole), SCHEMA, "who", "paid", tmp_path, store, skipping=RowSkip("row"))
    assert (found.path, found.people, found.left_out) == (whole, 2, 0)
    assert not store.exists()
    assert scan_file(source, SCHEMA, "who", "paid", tmp_path, store, skipping=RowSkip("row")).path == store
    assert store.exists()


def test_texts_and_types_say_the_same_is_missing(people: Path) -> None:
    found = [complete_rows(table, SCHEMA) for table in read_tables(people, SCHEMA)]
    assert np.flatnonzero(np.concatenate(found)).tolist() == COMPLETE


def test_a_missing_label_is_named_with_its_row_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,job,paid\n,clerk,yes\n30,clerk,\n", encoding="utf-8")
    source = FileColumns(path, tuple(column_names(path)))
    with pytest.raises(LcifrError, match='column "paid", row 1: the target is missing'):
        scan_file(source, SCHEMA, None, "paid", tmp_path, tmp_path / "kept.parquet", skipping=RowSkip("row"))


def test_a_table_in_which_nobody_is_complete_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,job,paid\n,clerk,yes\n", encoding="utf-8")
    source = FileColumns(path, tuple(column_names(path)))
    with pytest.raises(LcifrError, match="every row has a missing value"):
        scan_file(source, SCHEMA, None, "paid", tmp_path, tmp_path / "kept.parquet", skipping=RowSkip("row"))
