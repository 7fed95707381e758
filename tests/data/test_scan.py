"""A look through a whole CSV file: what its columns are is what a reader of all of it in memory would say."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv, parquet

from lcifr.data import Categorical, Individuals, Numeric, Schema, ingest
from lcifr.data.ingest import FileColumns, column_names, count_people, read_chunks, read_tables, scan_file
from lcifr.errors import LcifrError, TableError
from tests.certification.scenes import SCHEMA, people

VALUES = st.sampled_from(
    ["0", "1", "7", "007", "-3", "1.5", "2.0", "1e3", "true", "True", "False", "x", "NA", "2026-01-01", "é"]
)


def surveyed(path: Path, schema: Schema, **columns: Any) -> FileColumns:
    source = FileColumns(path, tuple(column_names(path)))
    return scan_file(source, schema, columns.get("ids"), columns.get("label"), path.parent)


@given(labels=st.lists(VALUES, min_size=1, max_size=9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_type_of_labels_is_that_of_the_whole_column(
    labels: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the first rows alone would have another one."""
    monkeypatch.setattr(ingest, "ROWS", 2)
    path = tmp_path / "people.csv"
    path.write_text("age,y\n" + "".join(f"{row},{label}\n" for row, label in enumerate(labels)), encoding="utf-8")
    schema = Schema((Numeric("age"),), target="y")
    whole = csv.read_csv(path)
    if whole["y"].null_count:  # "NA" among numbers
        with pytest.raises(TableError, match=f'column "y", row {whole["y"].to_pylist().index(None)}: the target is'):
            surveyed(path, schema, label="y")
        return
    found = surveyed(path, schema, label="y")
    assert dict(found.kinds) == {name: whole[name].type for name in ("age", "y")}
    assert found.people == count_people(found) == len(whole)
    assert pa.concat_tables(read_tables(found, schema, 3))["y"].to_pylist() == whole["y"].to_pylist()


@given(rows=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=9))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_who_passes_in_memory_passes_in_chunks_as_the_same_and_nobody_else(
    rows: list[tuple[str, str]], tmp_path: Path
) -> None:
    """Numbers, truths and texts as categories: ``True`` is true and ``2.0`` is 2 where memory says so."""
    path = tmp_path / "people.csv"
    path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows), encoding="utf-8")
    values = ("0", "1", "7", "2", "true", "false", "x", "é", "-3", "1000", "NA", "2026-01-01")
    schema = Schema((Categorical("a", values), Numeric("b")))
    try:
        whole = Individuals.read(path, schema)
    except TableError:
        with pytest.raises(TableError):
            list(read_chunks(surveyed(path, schema), schema, 2))
        return
    found = [chunk.people for chunk in read_chunks(surveyed(path, schema), schema, 2)]
    assert [one for some in found for one in some.to_pandas().to_dict("records")] == whole.to_pandas().to_dict(
        "records"
    )


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    for text in ("age,income,sex,job\n", ""):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(LcifrError, match=r"no rows|cannot be read"):
            surveyed(path, SCHEMA)
    path.write_text("age;income;sex;job\n30;3,5;x;y\n", encoding="utf-8")
    with pytest.raises(LcifrError, match="semicolons stand between its values"):
        surveyed(path, SCHEMA)
    with pytest.raises(LcifrError, match="there is no such file"):
        surveyed(tmp_path / "nowhere.parquet", SCHEMA)


def test_only_the_columns_asked_for_are_read(tmp_path: Path) -> None:
    """Also where a name has a dot, which Parquet takes for a part of another column."""
    frame = people(5, 1).rename(columns={"age": "age.years"}).assign(age=1, note="x")
    frame.to_parquet(tmp_path / "people.parquet", index=False)
    schema = Schema((Numeric("age.years"), *(one for one in SCHEMA if one.name != "age")))
    source = scan_file(FileColumns(tmp_path / "people.parquet", schema.names), schema, None, None, tmp_path)
    (chunk,) = read_chunks(source, schema, 9)
    assert chunk.people.number("age.years").tolist() == frame["age.years"].tolist()
    assert source.people == 5


@pytest.mark.parametrize(
    "ids", [[1.5, 2.5, 3.0], [True, False, None], [1.5, 2.5, float("nan")], [date(2026, 1, d) for d in (1, 2, 3)]]
)
def test_ids_of_other_types_are_what_they_print(ids: list[Any], tmp_path: Path) -> None:
    """As the commands read them in memory; nobody is without one."""
    table = pa.Table.from_pandas(people(3, 1)).append_column("who", pa.array(ids))
    parquet.write_table(table, tmp_path / "people.parquet")
    if pd.isna(ids[2]):
        with pytest.raises(LcifrError, match='column "who" has no id in row 2'):
            surveyed(tmp_path / "people.parquet", SCHEMA, ids="who")
        return
    source = surveyed(tmp_path / "people.parquet", SCHEMA, ids="who")
    (chunk,) = read_chunks(source, SCHEMA, 9, "who")
    assert chunk.ids == tuple(str(one) for one in ids)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["7", "8", "NA"], None),
        (["x", "8", "NA"], ("x", "8", "NA")),
        (["7", "8", "-9"], (7, 8, -9)),
        (["007", "7", "8"], ("007", "7", "8")),
        (["1.50", "1.5", "2.0"], ("1.50", "1.5", "2.0")),
        (["true", "2026-01-01T10:00", "1"], ("true", "2026-01-01T10:00", "1")),
    ],
)
def test_ids_of_csv_are_as_written_and_missing_among_numbers(
    ids: list[str], expected: tuple[str | int, ...] | None, tmp_path: Path
) -> None:
    people(3, 1).assign(who=ids).to_csv(tmp_path / "people.csv", index=False)
    if expected is None:
        with pytest.raises(LcifrError, match='column "who" has no id in row 2'):
            surveyed(tmp_path / "people.csv", SCHEMA, ids="who")
        return
    (chunk,) = read_chunks(surveyed(tmp_path / "people.csv", SCHEMA, ids="who"), SCHEMA, 9, "who")
    assert chunk.ids == expected


def test_an_id_may_be_an_attribute_too(tmp_path: Path) -> None:
    people(5, 1).assign(age=range(20, 25)).to_csv(tmp_path / "people.csv", index=False)
    source = surveyed(tmp_path / "people.csv", SCHEMA, ids="age")
    (chunk,) = read_chunks(source, SCHEMA, 9, "age")
    assert chunk.ids == tuple(range(20, 25))
    assert chunk.people.number("age").tolist() == list(range(20, 25))
