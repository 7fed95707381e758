"""Concatenation of the parts of a large run into one file, with one part in memory at a time."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

import numpy as np

from lcifr.artifacts.handover import IDS, LATENT

GROUP = 1 << 16
"""Rows in a row group of Parquet: each group adds some kB to the footer, which is held in memory."""
KINDS = {"float64": "F64", "bool": "BOOL"}  # as safetensors calls them


def join_handover(parts: Sequence[Path], fresh: Path) -> tuple[tuple[int, int], dict[str, int]]:
    """All parts as one safetensors file and one list of ids; returns (people, width) and the counts."""
    from safetensors import safe_open

    people = _join_ids(parts, fresh / IDS)
    with safe_open(parts[0], framework="numpy") as opened:
        first = {name: opened.get_tensor(name) for name in sorted(opened.keys())}
    # As the library would write it: wide types first, so that every tensor stays aligned.
    order = sorted(first, key=lambda name: (-first[name].itemsize, name))
    sums = dict.fromkeys(order, 0)
    with (fresh / LATENT).open("wb") as whole:
        whole.write(_header({name: first[name] for name in order}, people))
        for name in order:
            for part in parts:
                with safe_open(part, framework="numpy") as opened:
                    array = opened.get_tensor(name)
                whole.write(np.ascontiguousarray(array).tobytes())
                sums[name] += int(array.sum()) if array.dtype == np.bool_ else 0
    counts = {"exact": sums["exact"], "not_exact": people - sums["exact"], "vacuous": sums["vacuous"]}
    return (people, first["latent"].shape[1]), counts


def _join_ids(parts: Sequence[Path], path: Path) -> int:
    from safetensors import safe_open

    people = 0
    with path.open("w", encoding="utf-8") as file:
        for part in parts:
            with safe_open(part, framework="numpy") as opened:
                ids = json.loads(opened.metadata()["ids"])
            for name in ids:
                file.write(("[" if people == 0 else ",\n ") + json.dumps(name))
                people += 1
        file.write("]")
    return people


def _header(arrays: dict[str, Any], people: int) -> bytes:
    """The header of a safetensors file with these arrays for ``people`` rows."""
    header: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        size = people * array[:1].nbytes
        kind, shape = KINDS[str(array.dtype)], [people, *array.shape[1:]]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def table_part(frame: Any) -> bytes:
    """A part for :func:`join_tables`. Ids are text, so that all parts have the same types."""
    buffer = io.BytesIO()
    frame.assign(id=frame["id"].astype("string")).to_parquet(buffer, index=False)
    return buffer.getvalue()


def join_tables(parts: Sequence[Path], path: Path) -> None:
    """All parts as one Parquet file."""
    from pyarrow import parquet

    with ParquetAppender(path) as rows:
        for part in parts:
            rows.add(parquet.read_table(part))


@final
class ParquetAppender:
    """A Parquet file written in batches; the first batch determines its schema."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: list[Any] = []
        self._writer: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._flush()
        if self._writer is not None:
            self._writer.close()

    def add(self, table: Any) -> None:
        """Append rows; they are buffered until they fill a row group."""
        from pyarrow import parquet

        if self._writer is None:
            self._schema = table.schema.remove_metadata()
            self._writer = parquet.ParquetWriter(self._path, self._schema)
        self._waiting.append(table.cast(self._schema))
        if sum(map(len, self._waiting)) >= GROUP:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting))
            self._waiting.clear()
