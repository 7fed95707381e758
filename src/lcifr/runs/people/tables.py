"""Tables of people as the commands read them: columns picked by the schema, people named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.errors import NO_VALUE, TableError
from lcifr.runs.events import note
from lcifr.runs.executors.crew import RayCluster
from lcifr.runs.formulas import read_schema, schema_beside
from lcifr.runs.people.source import (
    STORED,
    PeopleSource,
    PeopleTable,
    free_name,
    list_columns,
    no_column,
    source_in_memory,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Schema
    from lcifr.data.ingest import FileColumns
    from lcifr.data.table import RowSkip
    from lcifr.runs.executors.crew import Workers
    from lcifr.runs.people.loading import LoadedTable

SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".gz")


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
    note(f"the schema was inferred from {table}; run `lcifr init {table}` to write it to a file that you can correct")
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
            note(f"{source}: ignored columns that are not in the schema: {list_columns(extra)}")
        extra = []
    return [*(name for name in names if name in schema), *extra]


def with_fix(error: TableError, source: str) -> TableError:
    """What the gate says, with what to do about it."""
    return TableError(error.problems, source=source, fix=error.fix or _fix(error, source))


def _fix(error: TableError, source: str) -> str:
    listed = f"`lcifr data check {source} --schema …` lists all problems"
    rows = {one.row for one in error.problems if one.message == NO_VALUE}
    if not rows or any(one.message != NO_VALUE for one in error.problems):
        return f"correct the table or the schema; {listed}"
    many = "1 row has a missing value" if len(rows) == 1 else f"{len(rows):,} rows have missing values"
    return (
        f"{many}, and this command gives everyone in the table an answer: fill the values in, use a category such as "
        f'"unknown", or delete the rows (`lcifr audit --model` leaves them out and counts them); {listed}'
    )


def _ids(loaded: LoadedTable, source: str, id_column: str | None) -> tuple[str | int, ...]:
    from lcifr.data.ingest import duplicate_id_error, first_duplicate

    if id_column is None:
        return tuple(range(len(loaded.frame))) if loaded.drawn is None else loaded.drawn
    ids = loaded.ids(source, id_column)
    if (twice := first_duplicate(ids)) is not None:
        raise duplicate_id_error(source, id_column, twice)
    return ids


def write_table(path: Path, X: pa.Table) -> None:
    """Attributes as Parquet."""
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(X, path)


def sample_people(
    path: Path, schema: Schema, id_column: str | None, sample: int, seed: int, *, skip_missing: bool = False
) -> PeopleSource:
    """Some people of a file, drawn at random; the same ones every time. skip_missing : as for :func:`scan_people`."""
    from lcifr.runs.people.complete import complete_table
    from lcifr.runs.people.loading import load_some

    loaded = load_some(path, id_column, sample, seed, "a sample")
    drawn, left_out = loaded.drawn, 0
    if skip_missing:
        loaded, left_out = complete_table(loaded, path, schema)
    people = read_people_table(loaded, str(path), schema, id_column, labelled=False)
    of = None if drawn is None else loaded.count
    return replace(source_in_memory(people, schema), drawn_from=of, left_out=left_out)


def scan_people(
    path: Path,
    schema: Schema,
    id_column: str | None,
    folder: Path,
    *,
    labels: bool = True,
    stored: bool = True,
    skip_missing: bool = False,
    workers: Workers = None,
) -> PeopleSource:
    """The people of a file, once all of it has been read and fits.

    Parameters
    ----------
    folder : where ids are compared, to see that nobody occurs twice. labels : whether they are looked at.
    stored : whether the people are stored in the folder, to be read from there, unless the file is a local Parquet
        table that is read as it is; otherwise the file is read again, and once more where a column of numbers may hold
        a missing one ("NA").
    skip_missing : leave rows with missing values out, and count them; otherwise they are refused. Needs ``stored``.
        Whoever is left is known by their row of the file where no column names them.
    workers : a cluster looks at a Parquet table, which is then read where it is; otherwise this process does. Where
        rows are left out and the others have to be stored, this process looks at it as well.
    """
    from lcifr.data.files import StoragePlace, is_remote
    from lcifr.data.frames import is_parquet
    from lcifr.data.ingest import FileColumns, column_names, scan_file
    from lcifr.data.store import ScannedTable
    from lcifr.data.table import RowSkip
    from lcifr.runs.events import step

    names = column_names(path)
    columns = pick_columns(names, str(path), schema, id_column, labelled=False)
    label = schema.target if labels and schema.target in names else None
    more = [name for name in (id_column, label) if name is not None and name not in columns]
    numbered = free_name("row", names) if skip_missing and id_column is None else None
    skipping = RowSkip(numbered) if skip_missing else None
    place = StoragePlace.of(path)
    known = (place.stamp(), place.digest()) if is_parquet(path) else None  # before anybody is read
    try:
        with step(f"Reading {path}"):
            store = folder / STORED if stored else None
            source = FileColumns(path, (*columns, *more))
            found = None
            if isinstance(workers, RayCluster) and known is not None:
                found = _look_on_cluster(source, schema, id_column, label, skipping, workers)
            if found is None or (store is not None and found.left_out):  # the copy is of those who are left
                found = scan_file(source, schema, id_column, label, folder, store, skipping=skipping)
    except TableError as error:
        raise with_fix(error, str(path)) from None
    people, left_out = int(found.people or 0), found.left_out
    scanned = None
    if known is not None:
        stamp, digest = known
        attributes = tuple(name for name in columns if name in schema)
        where = str(place) if is_remote(path) else place.path
        scanned = ScannedTable(where, digest, attributes, id_column, people + left_out, skip_missing, stamp)
    named = id_column or (numbered if numbered in found.names else None)
    return PeopleSource(found, schema, named, label, people, left_out=left_out, scanned=scanned)


def _look_on_cluster(
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    skipping: RowSkip | None,
    cluster: RayCluster,
) -> FileColumns:
    from lcifr.data.files import versions
    from lcifr.runs.executors.first_look import Look, look_on_cluster  # Ray is imported only for a cluster

    return look_on_cluster(Look(source, schema, id_column, label, skipping, versions()), cluster)
