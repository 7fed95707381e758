"""Tables as the commands read them: columns picked by the schema, people named, some held out."""

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

SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".gz")
TRAIN, HELD_OUT = "train", "held-out"


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


@dataclass(frozen=True)
class DatasetNotes:
    """What is known of a dataset by name, to be said beside every figure; partial : why it is not all of it."""

    title: str
    partial: str | None
    cautions: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TrainTest:
    """Everybody of a table: those to learn from, and those whom nobody may train on.

    Parameters
    ----------
    data : what is known of a dataset by name: title, why it is partial, cautions. None for a table of one's own.
    """

    schema: Schema
    train: PeopleTable
    held_out: PeopleTable
    data: DatasetNotes | None = None

    def splits(self) -> dict[str, PeopleTable]:
        return {TRAIN: self.train, HELD_OUT: self.held_out}


def is_file(named: str) -> bool:
    """Whether a table is a file; otherwise it is the name of a dataset."""
    return Path(named).is_file() or named.lower().endswith(SUFFIXES)


def read_train_test(
    table: str,
    phi: str,
    schema: str | None,
    target: str | None,
    id_column: str | None,
    share: float,
    seed: int,
    sample: int | None,
) -> TrainTest:
    """Everybody, or a sample, split by seed; datasets by name have the paper's split."""
    if not is_file(table):
        if sample is not None:
            raise LcifrError(f"--sample is for files, and {table} is a dataset by name", fix="leave it out")
        return _read_dataset(table)
    from lcifr.estimators.input_validation import split_rows
    from lcifr.runs.people.sample import read_some

    frame, drawn, _ = read_some(Path(table), sample, seed, "learning")
    known = find_schema(frame, table, phi, schema, target, id_column)
    if drawn is not None and schema is None:
        note("without --schema, categories that are not in the sample are unknown, and refused later")
    if known.target is None:
        raise LcifrError(
            "nothing says which column is predicted", fix=f"add --target, one of: {_listed(frame.column_names)}"
        )
    everybody = read_people_table(frame, table, known, id_column, labelled=True, rows=drawn)
    classes = everybody.y if everybody.y.dtype.kind != "f" else None
    rows, held = split_rows(len(everybody), share, classes, seed)
    if len(rows) == len(everybody):
        raise LcifrError(f"{table}: {len(everybody)} people are too few to hold some out", fix="give more people")
    return TrainTest(known, everybody.take(sorted(rows)), everybody.take(sorted(held)))


def _read_dataset(name: str) -> TrainTest:
    import pandas as pd
    import pyarrow as pa

    from lcifr.datasets import load

    data = load(name)
    if data.partial:
        note(f"{data.partial}")

    def people(*splits: Any) -> PeopleTable:
        X, y = pd.concat([split.X for split in splits]), pd.concat([split.y for split in splits])
        return PeopleTable(pa.Table.from_pandas(X, preserve_index=False), tuple(X.index.tolist()), y.to_numpy())

    schema = data.schema if data.schema.target else replace(data.schema, target="label")
    about = DatasetNotes(data.source.title, data.partial, tuple(data.cautions))
    return TrainTest(schema, people(data.train, data.validation), people(data.test), about)


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
    frame: pa.Table,
    source: str,
    schema: Schema,
    id_column: str | None,
    *,
    labelled: bool,
    rows: tuple[int, ...] | None = None,
) -> PeopleTable:
    """The people of a table, checked; columns that the schema does not know are left out, and it is said which.

    ``rows`` : which of a file's rows they are; all if None. They are the ids of those whom no column names.
    """
    from lcifr.data import Individuals, check_target

    columns = pick_columns(frame.column_names, source, schema, id_column, labelled=labelled)
    try:
        Individuals.read(frame.select(columns), schema)
        there = schema.target is not None and schema.target in frame.column_names
        y = check_target(frame[schema.target], str(schema.target)) if labelled or (there and len(frame)) else None
    except TableError as error:
        problems = error.problems if rows is None else [one.among(rows) for one in error.problems]
        raise with_fix(TableError(problems, fix=error.fix), source) from None
    ids = _ids(frame, source, id_column, range(len(frame)) if rows is None else rows)
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
            note(f"{source}: left out, as the schema does not know them: {_listed(extra)}")
        extra = []
    return [*(name for name in names if name in schema), *extra]


def with_fix(error: TableError, source: str) -> TableError:
    """What the gate says, with what to do about it."""
    fix = error.fix or f"correct the table or the schema; `lcifr data check {source} --schema …` lists all problems"
    return TableError(error.problems, source=source, fix=fix)


def _ids(frame: pa.Table, source: str, id_column: str | None, rows: Sequence[int]) -> tuple[str | int, ...]:
    from lcifr.data.io.ids import duplicate_id_error, first_duplicate
    from lcifr.data.io.stream import read_written_ids

    if id_column is None:
        return tuple(rows)
    ids = read_written_ids(frame, Path(source), id_column, rows)
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
    return LcifrError(f'{source} has no column "{name}".{did_you_mean(name, known)}', fix=f"it has: {_listed(known)}")


def _listed(names: Sequence[str]) -> str:
    shown = [f'"{name}"' for name in names[:12]]
    return ", ".join(shown) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
