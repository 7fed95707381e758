"""People to prove something about, the one way in which commands read them, and how many are held in memory.

A table that is a file is read some rows at a time, however small or large, and twice: once to see that all of it fits
the schema and which types its columns have, and again to prove. An audit needs its people more often. So it stores
these columns, typed, in the folder that is worked in, and reads that copy, which is removed with all that is hidden
there when the run has ended. A hand-over does not: killed, it must leave no attribute of anybody. Nobody is kept in
memory. What needs everybody there has a limit, and ``--sample`` is the way below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Individuals, Schema
    from lcifr.data.ingest import FileColumns, TableSource
    from lcifr.data.store import ScannedTable


HELD = 100_000
"""People whose proofs (a bundle) or regions (baselines) are held in memory at most."""
LEARNED = 2_000_000
"""People who are held in memory at most to learn from them; ``lcifr.report`` has the same limit for a page."""
PROVED = 1000
"""People whose proofs an audit writes and checks unless it is said otherwise: about a minute. If all of them are
confirmed, so would be 99.7 % of everybody at least, with 95 % confidence."""
FEW, PART = 100_000, 256
"""Up to so many people a part is small, so that little is done again; beyond, as large as the library makes it."""
PARTS = 16
"""Parts at least, so that there are some for every core and a stopped run loses little, unless they get too small."""
SMALLEST = 32
"""People in a part at least: with fewer the engine has too little to do at a time."""


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """Some people: attributes only, their names, and what is known of them.

    Parameters
    ----------
    X : the attributes, in the schema's order. ids : (people,). y : (people,) labels, or None.
    """

    X: pa.Table
    ids: tuple[str | int, ...]
    y: Any = None

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Any) -> PeopleTable:
        """Some of them, by indices."""
        return PeopleTable(
            self.X.take(rows), tuple(self.ids[row] for row in rows), None if self.y is None else self.y[rows]
        )


def with_ids(people: PeopleTable) -> tuple[pa.Table, str]:
    """Attributes with the ids in a column of their own, and its name."""
    import pyarrow as pa

    name = free_name("id", people.X.column_names)
    whole = all(type(one) is int for one in people.ids)
    ids = pa.array(list(people.ids) if whole else [str(one) for one in people.ids])
    return people.X.append_column(name, ids), name


def free_name(wish: str, taken: Sequence[str]) -> str:
    """A name for a column that is no other's."""
    return wish if wish not in taken else free_name(f"_{wish}", taken)


STORED = ".people.parquet"
"""The people of a table in the folder that is worked in; hidden, so that it does not become a part of the results."""


@dataclass(frozen=True, eq=False)
class PeopleSource:
    """People to prove something about, wherever they are.

    Parameters
    ----------
    table : attributes, ids and labels: some columns of a file, or a table in memory.
    id_column, label : their columns, or None. count : how many there are. drawn_from : of how many, for a sample.
    left_out : rows of the table with missing values, which are not among them.
    scanned : the table where it is, for workers to read; None where they are given the people.
    """

    table: FileColumns | pa.Table
    schema: Schema
    id_column: str | None
    label: str | None
    count: int
    drawn_from: int | None = None
    left_out: int = 0
    scanned: ScannedTable | None = None

    @property
    def attributes(self) -> TableSource:
        """Attributes and ids alone."""
        from lcifr.data.ingest import FileColumns

        if self.label is None:
            return self.table
        if isinstance(self.table, FileColumns):
            return replace(self.table, names=tuple(name for name in self.table.names if name != self.label))
        return self.table.drop_columns([self.label])

    @property
    def worked_on(self) -> TableSource | ScannedTable:
        """Where those who prove get the people from."""
        return self.attributes if self.scanned is None else self.scanned

    def without_labels(self) -> PeopleSource:
        """The same people, as if nothing were known of their labels."""
        return replace(self, table=self.attributes, label=None)

    def rows(self) -> Iterator[tuple[Individuals, Any]]:
        """Everybody in order, some at a time: who they are, and their labels (an Arrow column) or None."""
        from lcifr.data import Individuals
        from lcifr.data.ingest import read_tables
        from lcifr.data.table import target_values

        start = 0
        for table in read_tables(self.table, self.schema, dictionaries=self.schema.names_categorical):
            label = None if self.label is None else target_values(table[self.label], self.label, start)
            yield Individuals.read(table.select(list(self.schema.names)), self.schema), label
            start += len(table)
        if self.scanned is not None:
            self.scanned.refuse_changed()

    def label_columns(self) -> Iterator[pa.ChunkedArray]:
        """The labels alone, in order, some at a time."""
        from lcifr.data.ingest import FileColumns, read_tables
        from lcifr.data.table import target_values

        label, start = str(self.label), 0
        alone = replace(self.table, names=(label,)) if isinstance(self.table, FileColumns) else self.table
        for table in read_tables(alone, self.schema):
            yield target_values(table[label], label, start)
            start += len(table)

    def in_memory(self) -> PeopleSource:
        """The same people without labels, all read now."""
        import pyarrow as pa

        from lcifr.data.ingest import name_of, read_ids, read_tables

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


def refuse_more(people: int, most: int, what: str, fix: str) -> None:
    """Say how many people are too many for what needs all of them in memory."""
    if people > most:
        raise LcifrError(f"{what} needs everyone in memory: {people:,} people, at most {most:,}", fix=fix)


def part_for(people: int, asked: int | None, *, quick: bool = False) -> int:
    """People per part: as asked, else few, else so many that there are not too many parts.

    ``quick`` : whether verdicts alone are proved, in microseconds a person.
    """
    from lcifr.runs.streaming.large import CHUNK, QUICK

    many = QUICK if quick else CHUNK
    return asked or (min(PART, max(SMALLEST, -(-people // PARTS))) if people <= FEW else many)


def is_table(path: Path) -> bool:
    """Whether something is there to be read: a file or a folder, or in a store, of which one learns when it is read."""
    from lcifr.data.files import is_remote

    return path.exists() or is_remote(path)


def no_column(source: str, name: str, known: Sequence[str]) -> LcifrError:
    """A column that was named and is not there."""
    return LcifrError(
        f'{source} has no column "{name}".{did_you_mean(name, known)}', fix=f"it has: {list_columns(known)}"
    )


def list_columns(names: Sequence[str]) -> str:
    """The first of them, in quotes, for messages."""
    shown = [f'"{name}"' for name in names[:12]]
    return ", ".join(shown) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
