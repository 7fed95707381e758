"""Ids of people in memory, spelled as in the CSV file they came from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data.io.ids import Id


def read_written_ids(frame: pa.Table, path: Path, id_column: str, rows: Sequence[int]) -> tuple[Id, ...]:
    """The ids of people who are these rows of a file, one for everybody.

    Of CSV they are read again as they are written: in memory "007" has become 7, and "1.50" is 1.5. A hand-over and
    labels find each other by ids, and one of them may come from a file that keeps texts as they are.
    """
    import numpy as np

    from lcifr.data.frames import is_parquet
    from lcifr.data.io.ids import read_ids

    table = frame if is_parquet(path) else _as_written(path, id_column).take(np.asarray(rows))
    return read_ids(table, str(path), id_column, rows, texts=True)


def _as_written(path: Path, id_column: str) -> pa.Table:
    import pyarrow as pa

    from lcifr.data.io.csv_types import fitting_id_types, read_as
    from lcifr.data.io.stream import FileColumns, read_tables

    texts = pa.concat_tables(read_tables(FileColumns(path, (id_column,)), None))
    return read_as(texts, {id_column: fitting_id_types(texts[id_column])[0]})
