"""Parts that become one table: a file, or a folder that pandas, polars and Arrow open like a file."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from pyarrow import parquet

from lcifr.data import parquet as written
from lcifr.data.parquet import ParquetTable, RowReader, join_parts
from lcifr.errors import ArtefactError


def table(start: int, rows: int) -> pa.Table:
    """Texts, numbers, lists, and a column in which nearly everything is missing."""
    numbers = range(start, start + rows)
    return pa.table(
        {
            "id": [f"p{number}" for number in numbers],
            "margin": [number / 7 for number in numbers],
            "several": [[float(number), 1.0] for number in numbers],
            "verdict": [("CERTIFIED", "UNDECIDED")[number % 2] for number in numbers],
            "similar": pa.array([None if number % 5 else str(number) for number in numbers], pa.string()),
        }
    )


def parts_of(folder: Path, sizes: list[int]) -> list[Path]:
    """Parts of so many rows; nobody is in an empty one."""
    folder.mkdir()
    starts, paths = [0, *itertools.accumulate(sizes)], []
    for number, size in enumerate(sizes):
        paths.append(folder / f"{number}.parquet")
        paths[-1].touch()
        if size:
            parquet.write_table(table(starts[number], size), paths[-1])
    return paths


@pytest.mark.parametrize("most", [1000, 20])
def test_a_file_and_a_folder_open_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """With small parts, which are joined, and large ones, which are copied; and with a part that no one is in."""
    monkeypatch.setattr(written, "ONE_FILE", most)
    monkeypatch.setattr(written, "GROUP", 16)
    parts, whole = parts_of(tmp_path / "parts", [3, 4, 0, 10, 12, 1, 1]), table(0, 31)
    join_parts(parts, path := tmp_path / "all.parquet")
    assert path.is_file() == (most == 1000)
    assert parquet.read_table(path).to_pylist() == whole.to_pylist()
    assert ParquetTable.open(path).read().to_pylist() == whole.to_pylist()
    pd.testing.assert_frame_equal(pd.read_parquet(path), whole.to_pandas())
    assert polars.read_parquet(path).to_dicts() == whole.to_pylist()
    if most == 20:
        assert [file.name for file in sorted(path.iterdir())] == [f"part-{number:08d}.parquet" for number in range(3)]
        assert (path / "part-00000001.parquet").read_bytes() == parts[4].read_bytes()
    else:
        assert [parquet.ParquetFile(path).metadata.row_group(group).num_rows for group in range(2)] == [17, 14]


def test_parts_of_other_columns_are_refused(tmp_path: Path) -> None:
    parts = parts_of(tmp_path / "parts", [3, 4])
    parquet.write_table(table(0, 4).drop_columns(["margin"]), parts[1])
    with pytest.raises(ArtefactError, match="different columns"):
        join_parts(parts, tmp_path / "all.parquet")


def test_rows_are_read_as_many_as_one_asks_for() -> None:
    whole = table(0, 20)
    reader = RowReader(iter(whole.to_batches(max_chunksize=6)))
    found = [reader.take(count) for count in (1, 0, 11, 5, 9, 2)]
    assert [len(some) for some in found] == [1, 0, 11, 5, 3, 0]
    assert pa.concat_tables(found[:5]) == whole
    assert np.array_equal(found[2]["margin"].to_numpy(), whole["margin"].to_numpy()[1:12])
