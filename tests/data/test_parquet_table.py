"""Tables in many Parquet files: the rows of all of them in order, whichever range is asked for."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.data import Categorical, Individuals, Schema
from lcifr.data.ingest import column_names, count_people, read_chunks
from lcifr.data.parquet import ParquetTable
from lcifr.data.table import complete_rows
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


def write_parts(folder: Path, first: pa.Array, second: pa.Array | None) -> Path:
    """A folder of two files with ids, and "x" in two types; the second file lacks it where there is nothing."""
    pa_parquet.write_table(pa.table({"who": ["a0", "a1"], "x": first}), folder / "a.parquet")
    more = {} if second is None else {"x": second}
    pa_parquet.write_table(pa.table({"who": ["b0", "b1"], **more}), folder / "b.parquet")
    return folder


def test_a_file_that_lacks_a_column_is_refused_by_name(tmp_path: Path) -> None:
    table = ParquetTable.open(write_parts(tmp_path, pa.array([1, 2]), None))
    with pytest.raises(LcifrError, match=r'b\.parquet has no column "x", which other files of the table have'):
        table.read()
    ids = pa.Table.from_batches(table.batches(10, ["who"]))["who"].to_pylist()
    assert ids == ["a0", "a1", "b0", "b1"]  # a column that nobody asks for may be missing


LOSSY = {
    "texts for whole numbers": (pa.array([1, 2]), pa.array(["3", "4"])),
    "whole numbers for texts": (pa.array(["1", "2"]), pa.array([3, 4])),
    "float64 for float32": (pa.array([0.5, 1.5], pa.float32()), pa.array([0.1, 0.2], pa.float64())),
    "floats for whole numbers": (pa.array([1, 2]), pa.array([3.0, 4.5])),
    "decimals for floats": (pa.array([0.5, 1.5]), pa.array([Decimal("0.1"), Decimal("0.2")])),
    "floats for decimals": (pa.array([Decimal("0.1"), Decimal("0.2")]), pa.array([0.15, 0.25])),
    "more places for fewer": (pa.array([Decimal("0.1")] * 2), pa.array([Decimal("0.12")] * 2)),
    "truth values for numbers": (pa.array([1, 2]), pa.array([True, False])),
    "numbers for truth values": (pa.array([True, False]), pa.array([2, 0])),
    "whole numbers for float32": (pa.array([0.5, 1.5], pa.float32()), pa.array([2**24 + 1, 1])),
}


@pytest.mark.parametrize("case", LOSSY)
def test_casts_that_lose_something_are_refused(case: str, tmp_path: Path) -> None:
    table = ParquetTable.open(write_parts(tmp_path, *LOSSY[case]))
    with pytest.raises(LcifrError, match=r'b\.parquet: its columns are not of the types.*"x" is'):
        table.read()


WIDER = {
    "int32 for int64": (pa.array([1, 2]), pa.array([3, 4], pa.int32())),
    "whole numbers for float64": (pa.array([0.5, 1.5]), pa.array([2**53, 4])),
    "float32 for float64": (pa.array([0.5, 1.5]), pa.array([0.1, 0.2], pa.float32())),
    "large texts for texts": (pa.array(["a", "b"]), pa.array(["c", "d"], pa.large_string())),
    "codes of texts for texts": (pa.array(["a", "b"]), pa.array(["c", "d"]).dictionary_encode()),
    "nothing for numbers": (pa.array([1, 2]), pa.nulls(2)),
}


@pytest.mark.parametrize("case", WIDER)
def test_casts_that_keep_every_value_are_made(case: str, tmp_path: Path) -> None:
    first, second = WIDER[case]
    found = ParquetTable.open(write_parts(tmp_path, first, second)).read()
    assert found["x"].to_pylist() == first.to_pylist() + second.to_pylist()


def test_a_whole_number_that_no_float64_is_is_refused(tmp_path: Path) -> None:
    table = ParquetTable.open(write_parts(tmp_path, pa.array([0.5, 1.5]), pa.array([2**53 + 1, 4])))
    with pytest.raises(LcifrError, match=r"b\.parquet: its columns are not of the types"):
        table.read()


def broken_texts(kind: pa.DataType) -> pa.Array:
    """ "a" and a byte that begins no letter of UTF-8."""
    offsets = np.array([0, 1, 2], np.int64 if pa.types.is_large_string(kind) else np.int32)
    return pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(offsets), pa.py_buffer(b"a\xff")])


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_texts_that_are_not_utf8_are_refused_by_file_and_column(kind: pa.DataType, coded: bool, tmp_path: Path) -> None:
    texts: pa.Array = broken_texts(kind)
    if coded:
        texts = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), texts)
    pa_parquet.write_table(pa.table({"job": texts}), tmp_path / "t.parquet")
    table = ParquetTable.open(tmp_path / "t.parquet")
    for dictionaries in ((), ("job",)):
        with pytest.raises(LcifrError, match=r't\.parquet: column "job" holds texts that are not UTF-8'):
            list(table.batches(10, dictionaries=dictionaries))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_categories_of_pandas_are_the_same_people(kind: pa.DataType, tmp_path: Path) -> None:
    """Codes of texts, large or not, in one file and in several."""
    whole = pa.Table.from_pandas(people(23, 5), preserve_index=False)
    for name in SCHEMA.names_categorical:
        coded = whole[name].cast(kind).combine_chunks().dictionary_encode()
        whole = whole.set_column(whole.schema.get_field_index(name), name, coded)
    (tmp_path / "many").mkdir()
    pa_parquet.write_table(whole, tmp_path / "one.parquet")
    pa_parquet.write_table(whole.slice(0, 9), tmp_path / "many/a.parquet")
    pa_parquet.write_table(whole.slice(9), tmp_path / "many/b.parquet")
    expected = Individuals.read(people(23, 5), SCHEMA)
    for place in (tmp_path / "one.parquet", tmp_path / "many"):
        found = Individuals.joined([chunk.people for chunk in read_chunks(place, SCHEMA, 10)])
        assert (found.codes == expected.codes).all()
        assert (found.numbers == expected.numbers).all()
