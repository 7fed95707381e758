"""The one place that says how commands read people to prove something about.

A table that is a file is read some rows at a time, however small or large, and twice: once to see that all of it fits
the schema and which types its columns have, and again to prove. An audit needs its people more often. So it stores
these columns, typed, in the folder that is worked in, and reads that copy, which is removed with all that is hidden
there when the run has ended. A hand-over does not: killed, it must leave no attribute of anybody. Nobody is kept in
memory. What needs everybody there has a limit, and ``--sample`` is the way below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import TableError
from lcifr.runs.people.tables import PeopleTable, free_name, pick_columns, read_people_table, with_fix, with_ids

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Individuals, Schema
    from lcifr.data.io.stream import FileColumns, TableSource


STORED = ".people.parquet"
"""The people of a table in the folder that is worked in; hidden, so that it does not become a part of the results."""


@dataclass(frozen=True, eq=False)
class PeopleSource:
    """People to prove something about, wherever they are.

    Parameters
    ----------
    table : attributes, ids and labels: some columns of a file, or a table in memory.
    id_column, label : their columns, or None. count : how many there are. drawn_from : of how many, for a sample.
    """

    table: FileColumns | pa.Table
    schema: Schema
    id_column: str | None
    label: str | None
    count: int
    drawn_from: int | None = None

    @property
    def attributes(self) -> TableSource:
        """Attributes and ids alone."""
        from lcifr.data.io.stream import FileColumns

        if self.label is None:
            return self.table
        if isinstance(self.table, FileColumns):
            return replace(self.table, names=tuple(name for name in self.table.names if name != self.label))
        return self.table.drop_columns([self.label])

    def rows(self) -> Iterator[tuple[Individuals, Any]]:
        """Everybody in order, some at a time: who they are, and their labels (an Arrow column) or None."""
        from lcifr.data import Individuals
        from lcifr.data.io.stream import read_tables
        from lcifr.data.table import target_values

        start = 0
        for table in read_tables(self.table, self.schema):
            label = None if self.label is None else target_values(table[self.label], self.label, start)
            yield Individuals.read(table.select(list(self.schema.names)), self.schema), label
            start += len(table)

    def in_memory(self) -> PeopleSource:
        """The same people without labels, all read now."""
        import pyarrow as pa

        from lcifr.data.io.ids import read_ids
        from lcifr.data.io.stream import name_of, read_tables

        table, rows = pa.concat_tables(read_tables(self.table, self.schema)), range(self.count)
        named = self.id_column
        ids = tuple(rows) if named is None else read_ids(table, name_of(self.table), named, rows, texts=True)
        return source_in_memory(PeopleTable(table.select(list(self.schema.names)), ids), self.schema)

    def individuals(self) -> Individuals:
        """Everybody at once."""
        from lcifr.data import Individuals

        return Individuals.joined([people for people, _ in self.rows()])

    def labels(self) -> Any:
        """(people,) at once; None where they are not known."""
        import numpy as np

        found = [label for _, label in self.rows() if label is not None]
        return np.concatenate([label.to_numpy() for label in found]) if found else None


def source_in_memory(people: PeopleTable, schema: Schema) -> PeopleSource:
    """People who are in memory already."""
    import pyarrow as pa

    table, id_column = with_ids(people)
    label = None
    if people.y is not None:
        label = free_name("label", table.column_names)
        table = table.append_column(label, pa.array(people.y))
    return PeopleSource(table, schema, id_column, label, len(people))


def sample_people(path: Path, schema: Schema, id_column: str | None, sample: int, seed: int) -> PeopleSource:
    """Some people of a file, drawn at random; the same ones every time."""
    from lcifr.runs.people.loading import load_some

    loaded = load_some(path, id_column, sample, seed, "a sample")
    people = read_people_table(loaded, str(path), schema, id_column, labelled=False)
    return replace(source_in_memory(people, schema), drawn_from=None if loaded.drawn is None else loaded.count)


def scan_people(
    path: Path, schema: Schema, id_column: str | None, folder: Path, *, labels: bool = True, stored: bool = True
) -> PeopleSource:
    """The people of a file, once all of it has been read and fits.

    Parameters
    ----------
    folder : where ids are compared, to see that nobody is there twice. labels : whether they are looked at.
    stored : whether the people are stored in the folder, to be read from there; otherwise the file is read again, and
        once more where a column of numbers may hold a missing one ("NA").
    """
    from lcifr.data.io.scan import scan_file
    from lcifr.data.io.stream import FileColumns, column_names
    from lcifr.runs.events import step

    names = column_names(path)
    columns = pick_columns(names, str(path), schema, id_column, labelled=False)
    label = schema.target if labels and schema.target in names else None
    more = [name for name in (id_column, label) if name is not None and name not in columns]
    try:
        with step(f"Reading {path}"):
            store = folder / STORED if stored else None
            found = scan_file(FileColumns(path, (*columns, *more)), schema, id_column, label, folder, store)
    except TableError as error:
        raise with_fix(error, str(path)) from None
    return PeopleSource(found, schema, id_column, label, int(found.people or 0))
