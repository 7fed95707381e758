"""Formulas, schemas and tables as commands name and read them: ids, samples, labels, people held out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lcifr.errors import NO_VALUE, LcifrError, TableError, did_you_mean, no_such_file
from lcifr.workflows.events import note
from lcifr.workflows.executors import RayCluster

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.data import Individuals, Schema
    from lcifr.data.ingest import FileColumns, TableSource
    from lcifr.data.store import ScannedTable
    from lcifr.data.table import RowSkip
    from lcifr.phi import Similarity
    from lcifr.workflows.executors import Workers


# Formulas and schemas as commands name them: files, or those that are ready.


def read_formula(named: str) -> tuple[str, str]:
    """The text of a formula, and what errors call it."""
    from lcifr.phi import ready

    path = Path(named)
    if not path.is_file():
        if path.suffix == ".phi":
            raise no_such_file(
                named, "check the path; `lcifr init TABLE` drafts one, and `lcifr phi list` lists ready-made ones"
            )
        if any(sign in named for sign in " ()<=>'\n"):
            raise LcifrError(
                f"a formula is given as a file or by a ready-made name, and {named!r} is neither",
                fix="write the formula to a file, such as people.phi, and give that; "
                "`lcifr phi list` lists ready-made ones",
            )
        return ready(named), named
    try:
        return path.read_text(encoding="utf-8-sig"), named
    except (OSError, UnicodeDecodeError) as error:
        raise LcifrError(f"{named}: cannot be read: {error}", fix="give a text file, saved as UTF-8") from None


def read_schema(named: str) -> Schema:
    """A schema by its file, or by the dataset whose schema it is."""
    from lcifr.data import Schema
    from lcifr.datasets import find, names

    return find(named).schema if named in names() and not Path(named).is_file() else Schema.load(named)


def schema_beside(phi: str) -> str | None:
    """The schema of a .phi file, if one lies beside it; other formulas are ready-made."""
    return schema_of_file(Path(phi)) if phi.endswith(".phi") else None


def schema_of_file(file: Path) -> str | None:
    """The .toml next to a formula or a table, as `lcifr init` writes it, unless it describes a model."""
    from lcifr.models.description import is_description

    beside = file.with_suffix(".toml")
    if not beside.is_file() or is_description(beside):
        return None
    note(f"using the schema {beside}")
    return str(beside)


def fit_similarity(text: str, source: str, schema: Schema, people: Any, *, skip_missing: bool = False) -> Similarity:
    """A formula with the scales of these people (a table); ``skip_missing`` : as for :meth:`Encoding.fit`."""
    from lcifr.data import Encoding
    from lcifr.phi import Similarity
    from lcifr.phi.parser import parse

    parse(text, schema, source=source)  # what is wrong with the formula comes before what is wrong with the data
    return Similarity(text, schema, Encoding.fit(people, schema, skip_missing=skip_missing), source=source)


# People to prove something about, the one way in which commands read them, and how many are held in memory.
#
# A table that is a file is read some rows at a time, however small or large, and twice: once to see that all of it fits
# the schema and which types its columns have, and again to prove. An audit needs its people more often. So it stores
# these columns, typed, in the folder that is worked in, and reads that copy, which is removed with all that is hidden
# there when the run has ended. A hand-over does not: killed, it must leave no attribute of anyone. People are
# not kept in memory. What needs everyone there has a limit, and ``--sample`` is the way to stay below it.

HELD = 100_000
"""People whose proofs (a bundle) or regions (baselines) are held in memory at most."""
LEARNED = 2_000_000
"""People who are held in memory at most to learn from them; ``lcifr.report`` has the same limit for a page."""
PROVED = 1000
"""People whose proofs an audit writes and checks unless it is said otherwise: about a minute. If all of them are
confirmed, so would be at least 99.7 % of everyone, with 95 % confidence."""
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
        """Everyone in order, some at a time: who they are, and their labels (an Arrow column) or None."""
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
        """Everyone at once."""
        from lcifr.data import Individuals

        return Individuals.joined([people for people, _ in self.rows()])

    def labels(self) -> Any:
        """(people,) at once; None where they are not known."""

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
    from lcifr.workflows.parts import CHUNK, QUICK

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


# Tables in memory, with types and ids as their file spells them: all of it, people drawn at random, or labels by id.
#
# A file is read once to count where that is needed, and once to keep.

BLOCK = 1 << 20  # bytes of a file at a time, where lines are counted


@dataclass(frozen=True, eq=False)
class LoadedTable:
    """Rows of a file in memory.

    Parameters
    ----------
    frame : the columns with the types that they have in these rows.
    written : of CSV, the column of ids as it is written, where one was named: in memory "007" is 7, and "1.50" is 1.5,
        while a hand-over and labels find each other by ids, and one of them may come from a file that keeps texts.
    drawn : which rows of the file these are; None for all. count : rows of the file.
    """

    frame: pa.Table
    written: pa.Table | None
    drawn: tuple[int, ...] | None
    count: int

    def ids(self, source: str, id_column: str) -> tuple[str | int, ...]:
        """The ids of these people, one for everyone."""
        from lcifr.data.ingest import read_ids

        rows = range(len(self.frame)) if self.drawn is None else self.drawn
        return read_ids(self.frame if self.written is None else self.written, source, id_column, rows, texts=True)


def load_some(path: Path, id_column: str | None, sample: int | None, seed: int, what: str) -> LoadedTable:
    """A file in memory, or a sample of it.

    Parameters
    ----------
    id_column : the column of ids, or None. sample : how many people to draw; None for everyone, who must not be too
        many. what : who needs them in memory.
    """

    if sample is None:
        fix = f"say --sample {LEARNED // 10}: so many people are drawn at random, by --seed"
        return load_whole(path, id_column, what, fix)
    people, kind = _count(path, id_column)
    if sample >= people:
        refuse_more(people, LEARNED, what, "say a smaller --sample")
        return _load(path, id_column)
    rows = np.sort(np.random.default_rng(seed).choice(people, sample, replace=False))
    return _drawn(path, id_column, kind, rows, people)


def load_whole(
    path: Path, id_column: str | None, what: str, fix: str = "give a table of fewer people, drawn at random"
) -> LoadedTable:
    """A file in memory, unless too many people are in it; nothing is read to find that out where it is small."""
    if path.is_file() and (path.suffix.lower() == ".gz" or path.stat().st_size > LEARNED):  # a row has a byte at least
        _refuse_large(path, what, fix)
    return _load(path, id_column)


def read_whole(path: Path, what: str, fix: str = "give a table of fewer people, drawn at random") -> pa.Table:
    """Only the columns of :func:`load_whole`, without ids."""
    return load_whole(path, None, what, fix).frame


def _refuse_large(path: Path, what: str, fix: str) -> None:
    """Lines are counted first: nothing is parsed for that, and only text in quotes has more lines than rows."""
    from lcifr.data.frames import is_parquet

    if not is_parquet(path) and _lines(path) <= LEARNED:
        return
    refuse_more(_count(path, None)[0], LEARNED, what, fix)


def _lines(path: Path) -> int:
    import pyarrow as pa

    from lcifr.data.frames import file_errors

    lines = 0
    with file_errors(path), pa.input_stream(str(path)) as file:  # which opens .gz as well
        while block := file.read(BLOCK):
            lines += block.count(b"\n")
            if lines > LEARNED:
                break
    return lines


def _load(path: Path, id_column: str | None) -> LoadedTable:
    from lcifr.data.frames import is_parquet, read_frame
    from lcifr.data.ingest import fitting_id_types, infer_types, read_as

    texts = () if id_column is None or is_parquet(path) else (id_column,)
    frame, written = read_frame(path, texts=texts), None
    if texts and id_column in frame.column_names:
        ids = frame.select([id_column])
        written = read_as(ids, {str(id_column): fitting_id_types(ids[id_column])[0]})
        place = frame.column_names.index(id_column)
        frame = frame.set_column(place, id_column, infer_types(ids)[id_column])
    return LoadedTable(frame, written, None, len(frame))


def _count(path: Path, id_column: str | None) -> tuple[int, Sequence[Any]]:
    """How many rows there are, and of CSV the types that all ids fit."""
    from lcifr.data.ingest import OF_IDS, count_people, fitting_id_types

    kinds: Sequence[Any] = OF_IDS
    if (known := count_people(path)) is not None:
        return known, kinds
    people = 0
    for table in _tables(path):
        people += len(table)
        if id_column in table.column_names:
            kinds = fitting_id_types(table[id_column], kinds)
    return people, kinds


def _tables(path: Path) -> Iterator[pa.Table]:
    from lcifr.data.ingest import read_tables

    return read_tables(path, None)


def _drawn(path: Path, id_column: str | None, kinds: Sequence[Any], rows: Any, people: int) -> LoadedTable:
    """These rows; of CSV with the types that they have among themselves, as in a file of their own."""
    import pyarrow as pa

    from lcifr.data.frames import is_parquet, read_frame
    from lcifr.data.ingest import infer_types, read_as

    found, start = [], 0
    for table in _tables(path):
        first, last = np.searchsorted(rows, [start, start + len(table)])
        found.append(table.take(rows[first:last] - start))
        start += len(table)
    drawn = read_frame(pa.concat_tables(found))  # which refuses two columns of one name
    which = tuple(rows.tolist())
    if is_parquet(path):
        return LoadedTable(drawn, None, which, people)
    named = id_column is not None and id_column in drawn.column_names
    written = read_as(drawn.select([id_column]), {str(id_column): kinds[0]}) if named else None
    return LoadedTable(infer_types(drawn), written, which, people)


@dataclass(frozen=True, eq=False)
class Labels:
    """name : of the column. there : (people,) who has a label. values : (people with a label,)."""

    name: str
    there: Any
    values: Any


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A file with labels, read once.

    Parameters
    ----------
    name : the column of labels. column : (rows,) its values. rows : the row of each id, as text.
    """

    path: Path
    name: str
    column: pa.ChunkedArray
    rows: Mapping[str, int]

    @classmethod
    def read(cls, path: Path, target: str | None, id_column: str | None) -> LabelTable:
        """The labels in a file. Without a column of ids, these are its row numbers."""
        from lcifr.data.ingest import column_names, first_duplicate

        if id_column is None and path.is_file() and target != "id" and "id" in column_names(path):
            id_column = "id"
        loaded = load_whole(path, id_column, "looking up labels", "give the labels of those who were handed over")
        known = loaded.frame.column_names
        if id_column is not None and id_column not in known:
            raise no_column(str(path), id_column, known)
        name = target if target is not None else _only(path, [one for one in known if one != id_column])
        if name not in known:
            raise no_column(str(path), name, known)
        ids = range(loaded.count) if id_column is None else loaded.ids(str(path), id_column)
        if (twice := first_duplicate(ids)) is not None:
            raise LcifrError(f'{path}: the id "{twice}" occurs twice', fix="every person needs one label")
        return cls(path, name, loaded.frame[name], {str(one): row for row, one in enumerate(ids)})

    def find(self, ids: Sequence[str | int], *, learned: bool) -> Labels:
        """The labels of these people; ``learned`` : whether something is learned from them, so that some are needed."""
        import pyarrow as pa

        there = np.array([str(one) in self.rows for one in ids], dtype=np.bool_)
        rows = [self.rows[str(one)] for one in ids if str(one) in self.rows]
        if not rows and learned:
            shown = f"the hand-over has {ids[0]!r}, …; the labels {list(self.rows)[:1]}, …"
            raise LcifrError(
                f"{self.path} contains no one from the hand-over ({shown})",
                fix="use --id to name the id column",
            )
        column = self.column.take(pa.array(rows, pa.int64()))
        return Labels(self.name, there, _values(column, self.name, self.path, rows, learned))


def _values(column: Any, name: str, path: Path, rows: list[int], learned: bool) -> Any:

    from lcifr.data.table import check_target, target_values

    try:
        return check_target(column, name) if learned else np.asarray(target_values(column, name).to_pandas())
    except TableError as error:
        fix = "correct these rows, or leave them out: nothing is learned from people without a label"
        raise TableError([one.among(rows) for one in error.problems], source=str(path), fix=fix) from None


def _only(path: Path, names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    raise LcifrError(
        f"{path} has {len(names)} columns that could be the label: {', '.join(names[:12]) or 'none'}",
        fix="choose one with --target COLUMN",
    )


# Tables in memory without the rows in which a value is missing.


def complete_table(loaded: LoadedTable, path: Path, schema: Schema) -> tuple[LoadedTable, int]:
    """The rows in which nothing is missing, known by their numbers in the file; and how many others there are."""
    from lcifr.data.table import complete_rows

    kept = np.flatnonzero(complete_rows(loaded.frame, schema))
    if not len(kept):
        fix = "give at least one row without missing values"
        if loaded.drawn is not None:
            few = f"{path}: each of the {len(loaded.drawn):,} rows that were drawn has a missing value"
            raise LcifrError(few, fix=f"draw more with --sample, or {fix}")
        raise LcifrError(f"{path}: every row has a missing value", fix=fix)
    if len(kept) == len(loaded.frame):
        return loaded, 0
    rows = range(len(loaded.frame)) if loaded.drawn is None else loaded.drawn
    written = None if loaded.written is None else loaded.written.take(kept)
    drawn = tuple(rows[row] for row in kept)
    return replace(loaded, frame=loaded.frame.take(kept), written=written, drawn=drawn), len(loaded.frame) - len(kept)


# Tables of people as the commands read them: columns picked by the schema, people named.

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
    folder : where ids are compared, so that no one occurs twice. labels : whether they are looked at.
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
    from lcifr.workflows.events import step

    names = column_names(path)
    columns = pick_columns(names, str(path), schema, id_column, labelled=False)
    label = schema.target if labels and schema.target in names else None
    more = [name for name in (id_column, label) if name is not None and name not in columns]
    numbered = free_name("row", names) if skip_missing and id_column is None else None
    skipping = RowSkip(numbered) if skip_missing else None
    place = StoragePlace.of(path)
    known = (place.stamp(), place.digest()) if is_parquet(path) else None  # before anyone is read
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
    from lcifr.workflows.ray import Look, look_on_cluster  # Ray is imported only for a cluster

    return look_on_cluster(Look(source, schema, id_column, label, skipping, versions()), cluster)


# People to train on and people held out from training: a table split by seed, or a dataset with the paper's split.

TRAIN, HELD_OUT = "train", "held-out"


@dataclass(frozen=True)
class DatasetNotes:
    """What is known of a dataset by name, to be said beside every figure; partial : why it is not all of it."""

    title: str
    partial: str | None
    cautions: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TrainTest:
    """Everyone in a table: those to train on, and those held out from training.

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
    """Everyone, or a sample, split by seed; datasets by name have the paper's split."""
    if not is_file(table):
        if sample is not None:
            raise LcifrError(f"--sample is for files, and {table} is a dataset by name", fix="leave it out")
        return _read_dataset(table)
    from lcifr.estimators.validation import split_rows

    loaded = load_some(Path(table), id_column, sample, seed, "learning")
    frame = loaded.frame
    known = find_schema(frame, table, phi, schema, target, id_column)
    if loaded.drawn is not None and schema is None:
        note("without --schema, categories that are not in the sample are unknown, and refused later")
    if known.target is None:
        raise LcifrError(
            "no column to predict is given", fix=f"add --target, one of: {list_columns(frame.column_names)}"
        )
    everybody = read_people_table(loaded, table, known, id_column, labelled=True)
    classes = everybody.y if everybody.y.dtype.kind != "f" else None
    rows, held = split_rows(len(everybody), share, classes, seed)
    if len(rows) == len(everybody):
        raise LcifrError(
            f"{table}: {len(everybody)} people are too few to hold some of them out", fix="give more people"
        )
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


def find_split_labels(
    path: Path,
    splits: Mapping[str, Sequence[str | int]],
    target: str | None,
    id_column: str | None,
    *,
    learned: bool = True,
) -> dict[str, Labels]:
    """The labels of those to learn from and of those held out, by their ids; it is said how many have none.

    ``learned`` : whether anything is learned from the former.
    """
    table, known = LabelTable.read(path, target, id_column), {}
    for name, ids in splits.items():
        known[name] = table.find(ids, learned=learned and name == TRAIN)
        if without := int((~known[name].there).sum()):
            meaning = "nothing is learned from them" if learned and name == TRAIN else "no accuracy is said"
            note(f"{path} has no label for {without} of the {len(ids)} {name} people: {meaning}")
    return known
