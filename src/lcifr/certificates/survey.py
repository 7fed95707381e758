"""What was proved of whom? A look through a whole file before anything is proved: does all of it fit, and is it whole?

Hours of proofs are lost on somebody without an age in the last row. And only a look at all rows says of which type a
column of CSV is.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from lcifr.certificates.ids import named_twice, read_ids
from lcifr.certificates.stream import Columns, as_meant, is_parquet, name_of, read_people, read_tables
from lcifr.certificates.uniqueness import Uniqueness, hashed
from lcifr.data import Schema
from lcifr.data.table import target_values
from lcifr.errors import LcifrError

KINDS = (pa.int64(), pa.bool_(), pa.float64(), pa.string())
"""What a column of CSV may be, in the order in which a reader tries it."""
OF_IDS = (pa.int64(), pa.string())


def look_through(source: Columns, schema: Schema, id_column: str | None, label: str | None, folder: Path) -> Columns:
    """The same columns with what was found: how many people, and the types that all rows fit.

    Parameters
    ----------
    id_column, label : columns among those of the source that are no attributes, or None.
    folder : where files without a name take room for the ids, so that memory does not grow with the people.
    """
    kinds = {name: list(OF_IDS if name == id_column else KINDS) for name in source.names}
    people = 0
    with Uniqueness(folder) as names:
        for table in read_tables(source, None):
            rows = range(people, people + len(table))
            kinds = {name: _fitting(table[name], left) for name, left in kinds.items()}
            if id_column is not None:
                names.add(read_ids(table, name_of(source), id_column, rows, texts=True))
            if label is not None:
                target_values(table[label], label, people)
            more = [name for name in (id_column, label) if name is not None and name not in schema]
            some = table.drop_columns(more)
            read_people(some if is_parquet(source.path) else as_meant(some, schema), name_of(source), schema, rows)
            people += len(table)
        if (twice := names.repeated()) is not None:
            _refuse_twice(source, id_column, twice)
    if people == 0:
        raise LcifrError(f"{source.path} has no rows", fix="give at least one person")
    return replace(source, people=people, kinds=tuple((name, left[0]) for name, left in kinds.items()))


def _fitting(column: pa.ChunkedArray, kinds: list[pa.DataType]) -> list[pa.DataType]:
    """Those of the types that these rows fit too; a column that is no text is of its own type."""
    if not pa.types.is_string(column.type):
        return [column.type]
    if len(kinds) == 1:
        return kinds
    texts = pc.utf8_trim_whitespace(column)
    texts = texts.filter(pc.not_equal(texts, ""))
    return [kind for kind in kinds if _fits(texts, kind)]


def _fits(texts: pa.ChunkedArray, kind: pa.DataType) -> bool:
    try:
        texts.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _refuse_twice(source: Columns, id_column: str | None, twice: bytes) -> None:
    """Only hashes were kept, so the name is looked for."""
    assert id_column is not None
    for table in read_tables(source, None):
        for one in table[id_column].to_pylist():
            if hashed(one) == twice:
                raise named_twice(name_of(source), id_column, one)
