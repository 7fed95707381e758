"""People of a table in the canonical form of bundles, and their digest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.runs.events import step
from lcifr.runs.formulas import read_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.check.people import CanonicalPeople, Kinds


@dataclass(frozen=True)
class PeopleDigest:
    """digest : SHA-256 of the canonical lines. attributes : what it binds. unbound : columns of which it says nothing.

    incomplete : people of whom a value is missing.
    """

    digest: str
    people: int
    attributes: tuple[str, ...]
    unbound: tuple[str, ...]
    incomplete: int

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return asdict(self)


def digest_people(table: Path, schema: str, id_column: str | None = None) -> PeopleDigest:
    """The digest of the people of a .csv, .tsv or .parquet file; schema : a file, or the name of a dataset."""
    from lcifr.check.people import kinds_of

    known = read_schema(schema)
    with step(f"Reading {table}"):
        people = read_canonical(table, kinds_of(known.to_dict()), id_column)
    persons = (json.loads(line)[1:] for line in people.lines.values())
    incomplete = sum(any(value is None for _, value in values) for values in persons)
    return PeopleDigest(people.digest, len(people.lines), known.names, people.unbound, incomplete)


def read_canonical(path: Path, kinds: Kinds, id_column: str | None) -> CanonicalPeople:
    """The people of a file, each in their canonical form.

    Raises
    ------
    LcifrError
        For a column that is not there, an id that occurs twice, and what is no number.
    """
    from lcifr.check.exact import Rejected
    from lcifr.check.people import read_csv
    from lcifr.data.frames import is_parquet

    if not path.is_file():
        raise LcifrError(f"{path}: there is no such file", fix="check the path")
    try:
        return _read_parquet(path, kinds, id_column) if is_parquet(path) else read_csv(path, kinds, id_column)
    except Rejected as problem:
        raise LcifrError(str(problem), fix="correct the table, or name another column with --id or --schema") from None


def _read_parquet(path: Path, kinds: Kinds, id_column: str | None) -> CanonicalPeople:
    from lcifr.check.people import CanonicalPeople, person_line
    from lcifr.data import read_frame
    from lcifr.data.ingest import duplicate_id_error, first_duplicate, read_ids

    frame = read_frame(path)
    if lost := [name for name in kinds if name not in frame.column_names]:
        raise LcifrError(f'{path} has no column "{lost[0]}"', fix="name the schema of this table with --schema")
    rows = range(len(frame))
    ids = [*rows] if id_column is None else read_ids(frame, str(path), id_column, rows, texts=True)
    if id_column is not None and (twice := first_duplicate(ids)) is not None:
        raise duplicate_id_error(str(path), id_column, twice)
    columns = {name: list(_values(frame[name], known is None, f"{path}: {name}")) for name, known in kinds.items()}
    lines = {
        str(one): person_line(str(one), {name: values[row] for name, values in columns.items()})
        for row, one in enumerate(ids)
    }
    return CanonicalPeople(lines, tuple(name for name in frame.column_names if name not in (*kinds, id_column)))


def _values(column: pa.ChunkedArray, numeric: bool, where: str) -> Iterator[float | str | None]:
    """Of a typed column: numbers as the gate reads them, categories as the text that they print as."""
    import numpy as np

    from lcifr.data.frames import is_missing, text_of
    from lcifr.data.inference import to_float

    if not numeric:
        texts = (None if is_missing(value) else text_of(value) for value in column.to_pylist())
        yield from (text if text and text.strip() else None for text in texts)  # a blank is missing, as in CSV
        return
    values, odd = to_float(column)
    if len(odd) or np.isinf(values).any():
        row = odd[0] if len(odd) else int(np.isinf(values).argmax())
        raise LcifrError(f"{where}: {column[row].as_py()!r} in row {row} is no finite number", fix="correct the table")
    yield from (None if np.isnan(value) else float(value) for value in values)
