"""Row groups that are copied into one file are what they were, whatever columns they have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from lcifr.data.row_groups import RowGroupFile
from lcifr.data.thrift import Struct, ThriftError
from lcifr.errors import ArtefactError


def table(start: int, rows: int) -> pa.Table:
    """Texts, numbers, lists, codes, and a column in which nearly everything is missing."""
    numbers = range(start, start + rows)
    return pa.table(
        {
            "id": [f"p{number}" for number in numbers],
            "margin": [number / 7 for number in numbers],
            "several": [[float(number), 1.0] for number in numbers],
            "coded": pa.array(["a", "b"] * rows)[:rows].dictionary_encode(),
            "similar": pa.array([None if number % 5 else str(number) for number in numbers], pa.string()),
            **{f"more {column}": [column] * rows for column in range(20)},
        }
    )


def written(some: pa.Table, **options: Any) -> bytes:
    into = pa.BufferOutputStream()
    parquet.write_table(some, into, **options)
    return bytes(into.getvalue().to_pybytes())


@pytest.mark.parametrize(
    "options",
    [{}, {"row_group_size": 3}, {"write_page_index": True}, {"compression": "zstd", "use_dictionary": False}],
    ids=str,
)
def test_what_is_copied_is_what_was_there(options: dict[str, Any], tmp_path: Path) -> None:
    """Also more than fifteen row groups, whose number is written in another way."""
    parts = [table(start, 8) for start in range(0, 160, 8)]
    with RowGroupFile(tmp_path / "all.parquet") as file:
        for part in parts:
            file.add(written(part, **options))
    whole = pa.concat_tables(parts)
    with parquet.ParquetFile(tmp_path / "all.parquet") as found:
        plain = whole.schema.set(3, pa.field("coded", pa.string()))
        assert found.read() == whole.cast(plain)
        assert found.num_row_groups == len(parts) * (3 if "row_group_size" in options else 1)
        last = found.metadata.row_group(found.num_row_groups - 1).column(0).statistics
        assert last.max == "p159"
        assert found.metadata.metadata is None  # Arrow's own schema is that of one part


def test_other_columns_and_other_bytes_are_refused(tmp_path: Path) -> None:
    good = written(table(0, 8))
    for bad in (b"", good[:-1], b"PAR2" + good[4:], written(table(0, 8).drop_columns(["margin"]))):
        with RowGroupFile(tmp_path / "all.parquet") as file:
            file.add(good)
            with pytest.raises(ArtefactError):
                file.add(bad)


def test_nothing_makes_no_file(tmp_path: Path) -> None:
    with RowGroupFile(tmp_path / "all.parquet"):
        pass
    assert not (tmp_path / "all.parquet").exists()


@pytest.mark.parametrize("value", [0, -1, 63, 64, -65, 2**31, -(2**63)])
def test_numbers_are_read_as_they_are_written(value: int) -> None:
    """Fields far apart have their numbers written out."""
    made = Struct({}).with_integers({1: value, 40: -value})
    found = Struct.read(made.to_bytes())
    assert (found.integer(1), found.integer(40)) == (value, -value)
    with pytest.raises(ThriftError):
        Struct.read(made.to_bytes()[:-1])
