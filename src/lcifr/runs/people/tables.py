"""Tables of people as the commands read them: columns picked by the schema, people named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, TableError, did_you_mean
from lcifr.runs.events import note
from lcifr.runs.formulas import read_schema, schema_beside

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Schema
    from lcifr.runs.people.loading import LoadedTable

SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".gz")


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


def is_file(named: str) -> bool:
    """Whether a table is a file; otherwise it is the name of a dataset."""
    return Path(named).is_file() or named.lower().endswith(SUFFIXES)


def find_schema(
    frame: pa.Table, table: str, phi: str, schema: str | None, target: str | None, id_column: str | None
) -> Schema:
    """The schema that was named, or the one beside the formula, or one inferred from the table."""
    from lcifr.data import Schema

    schema = schema or schema_beside(phi)
    if schema is not None:
        known = read_schema(schema)
        return known if target is None else replace(known, target=target)
    for name in (target, id_column):
        if name is not None and name not in frame.column_names:
            raise no_column(table, name, frame.column_names)
    try:
        found = Schema.infer(frame, target=target, drop=[id_column] if id_column else [])
    except TableError as error:
        raise TableError(
            error.problems,
            source=table,
            fix=f"run `lcifr init {table}`: it writes a schema without such columns, for you to correct",
        ) from None
    note(f"the schema was inferred from {table}; `lcifr init {table}` writes it down for you to correct")
    return found


def read_people_table(
    loaded: LoadedTable, source: str, schema: Schema, id_column: str | None, *, labelled: bool
) -> PeopleTable:
    """The people of a table, checked; columns that the schema does not know are left out, and it is said which.

    Those whom no column names are known by their rows of the file.
    """
    from lcifr.data import Individuals, check_target

    frame, rows = loaded.frame, loaded.drawn
    columns = pick_columns(frame.column_names, source, schema, id_column, labelled=labelled)
    try:
        Individuals.read(frame.select(columns), schema)
        there = schema.target is not None and schema.target in frame.column_names
        y = check_target(frame[schema.target], str(schema.target)) if labelled or (there and len(frame)) else None
    except TableError as error:
        problems = error.problems if rows is None else [one.among(rows) for one in error.problems]
        raise with_fix(TableError(problems, fix=error.fix), source) from None
    ids = _ids(loaded, source, id_column)
    return PeopleTable(frame.select(list(schema.names)), ids, y)


def pick_columns(
    names: Sequence[str], source: str, schema: Schema, id_column: str | None, *, labelled: bool
) -> list[str]:
    """The columns that the gate is to see; it is said which are left out, as the schema does not know them."""
    given = (schema.target, id_column)
    for name in given if labelled else (id_column,):
        if name is not None and name not in names:
            raise no_column(source, name, names)
    extra = [name for name in names if name not in schema and name not in given]
    if all(name in names for name in schema.names):  # else the gate says what is missing, and what is near
        if extra:
            note(f"{source}: left out, as the schema does not know them: {list_columns(extra)}")
        extra = []
    return [*(name for name in names if name in schema), *extra]


def with_fix(error: TableError, source: str) -> TableError:
    """What the gate says, with what to do about it."""
    fix = error.fix or f"correct the table or the schema; `lcifr data check {source} --schema …` lists all problems"
    return TableError(error.problems, source=source, fix=fix)


def _ids(loaded: LoadedTable, source: str, id_column: str | None) -> tuple[str | int, ...]:
    from lcifr.data.io.ids import duplicate_id_error, first_duplicate

    if id_column is None:
        return tuple(range(len(loaded.frame))) if loaded.drawn is None else loaded.drawn
    ids = loaded.ids(source, id_column)
    if (twice := first_duplicate(ids)) is not None:
        raise duplicate_id_error(source, id_column, twice)
    return ids


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


def write_table(path: Path, X: pa.Table) -> None:
    """Attributes as Parquet."""
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(X, path)


def no_column(source: str, name: str, known: Sequence[str]) -> LcifrError:
    """A column that was named and is not there."""
    return LcifrError(
        f'{source} has no column "{name}".{did_you_mean(name, known)}', fix=f"it has: {list_columns(known)}"
    )


def list_columns(names: Sequence[str]) -> str:
    """The first of them, in quotes, for messages."""
    shown = [f'"{name}"' for name in names[:12]]
    return ", ".join(shown) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
