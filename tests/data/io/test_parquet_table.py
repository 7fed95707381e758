"""Tables in many Parquet files: the rows of all of them in order, whichever range is asked for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.data import Categorical, Individuals, Schema
from lcifr.data.io.missing import complete_rows
from lcifr.data.io.parquet_table import ParquetTable
from lcifr.data.io.stream import column_names, count_people, read_chunks
from lcifr.errors import LcifrError, TableError
from tests.certification.scenes import SCHEMA, people


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    for number, (first, last) in enumerate([(0, 7), (7, 8), (8, 23)]):
        people(23, 5)[first:last].to_parquet(folder / f"part-{number}.parquet", index=False, row_group_size=4)
    (folder / "_SUCCESS").touch()
    return folder


@settings(deadline=None)
@given(start=st.integers(0, 22), count=st.integers(1, 30), size=st.integers(1, 9))
def test_any_range_of_rows_is_that_of_the_whole(many: Path, start: int, count: int, size: int) -> None:
    table = ParquetTable.open(many)
    assert table.rows == 23
    found = pa.Table.from_batches(table.batches(size, None, start, count), table.schema).to_pandas()
    pd.testing.assert_frame_equal(found, people(23, 5)[start : start + count].reset_index(drop=True))


def test_a_folder_is_read_like_one_file(many: Path) -> None:
    assert count_people(many) == 23
    assert set(column_names(many)) == set(SCHEMA.names)
    chunks = list(read_chunks(many, SCHEMA, 10))
    assert [len(chunk.people) for chunk in chunks] == [10, 10, 3]


def test_a_column_of_a_partition_is_a_column(tmp_path: Path) -> None:
    for job, some in people(23, 5).groupby("job", observed=True):
        (tmp_path / f"job={job}").mkdir()
        some.drop(columns="job").to_parquet(tmp_path / f"job={job}/a.parquet", index=False)
    found = ParquetTable.open(tmp_path).read().to_pandas()
    expected = people(23, 5).sort_values("job", kind="stable").reset_index(drop=True)
    pd.testing.assert_frame_equal(found[list(expected.columns)], expected, check_dtype=False)


def test_files_that_do_not_fit_together_are_refused_by_name(tmp_path: Path) -> None:
    people(3, 5).to_parquet(tmp_path / "a.parquet", index=False)
    people(3, 5).assign(age="old").to_parquet(tmp_path / "b.parquet", index=False)
    with pytest.raises(LcifrError, match=r"b\.parquet: its columns are not of the types"):
        ParquetTable.open(tmp_path).read()
    (tmp_path / "none").mkdir()
    with pytest.raises(LcifrError, match="no Parquet files"):
        ParquetTable.open(tmp_path / "none")


@settings(deadline=None)
@given(start=st.integers(0, 22), count=st.integers(1, 30), size=st.integers(1, 9))
def test_texts_as_codes_are_the_same_people(many: Path, start: int, count: int, size: int) -> None:
    table = ParquetTable.open(many)
    coded = pa.Table.from_batches(table.batches(size, None, start, count, dictionaries=SCHEMA.names_categorical))
    assert all(pa.types.is_dictionary(coded[name].type) for name in SCHEMA.names_categorical)
    plain = pa.Table.from_batches(table.batches(size, None, start, count), table.schema)
    assert coded.to_pylist() == plain.to_pylist()
    one, two = (Individuals.read(rows, SCHEMA) for rows in (coded, plain))
    assert (one.codes == two.codes).all()
    assert (one.numbers == two.numbers).all()


ODD = [["a", "b", "a"], ["a", None, "b"], ["a", " ", "b"], ["a", " b", "a"], ["b", "c", "a"], [None, None, None]]


@pytest.mark.parametrize("texts", ODD, ids=str)
def test_codes_of_odd_texts_are_judged_like_texts(texts: list[str | None]) -> None:
    """Missing, blank, unknown and padded ones; in several chunks, each with a dictionary of its own."""
    schema, column = Schema((Categorical("x", ("a", "b")),)), pa.array(texts, pa.string())
    plain = pa.table({"x": pa.chunked_array([column, column[::-1]])})
    pieces = [column.dictionary_encode(), column[::-1].dictionary_encode()]
    coded = pa.table({"x": pa.chunked_array(pieces)})
    assert complete_rows(coded, schema).tolist() == complete_rows(plain, schema).tolist()
    assert _said(coded, schema) == _said(plain, schema)


def _said(table: pa.Table, schema: Schema) -> list[int] | str:
    try:
        return Individuals.read(table, schema).codes[:, 0].tolist()
    except TableError as error:
        return str(error)
