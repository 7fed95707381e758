"""Streaming readers and validation of tables of people: types of CSV columns, ids, duplicate ids, every row checked.

Arrow's own CSV reader decides whether texts fit a type, so the result is the one that it infers from the whole file at
once (:func:`lcifr.data.frames.read_frame`).
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, TypeAlias, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv, parquet

from lcifr.data import Individuals, Numeric, Schema
from lcifr.data.files import is_remote
from lcifr.data.frames import check_separator, delimiter_of, file_errors, is_missing, is_parquet, text_of
from lcifr.data.parquet import ParquetTable, RowReader, is_text
from lcifr.data.table import MISSING, RowSkip, taken_rows, target_values
from lcifr.errors import LcifrError, TableError

# Columns as files spell them: the types that values of CSV fit, and ids of people, each of whom has one.
#
# Arrow's own CSV reader decides whether texts fit a type, so the result is the one that it infers from the whole file
# at once (:func:`lcifr.data.frames.read_frame`).

KINDS = (
    pa.null(),
    pa.int64(),
    pa.bool_(),
    pa.float64(),
    pa.date32(),
    pa.time32("s"),
    *(pa.timestamp(unit, zone) for unit in ("s", "ns") for zone in (None, "UTC")),
    pa.string(),
)
"""Types of columns, in the order in which Arrow tries them."""
OF_IDS = (pa.int64(), pa.string())
"""Types of id columns: whole numbers, or the text as written."""
WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
"""A whole number that is written as it prints. "007" is another id than 7, and is a text like "1.50"."""


def fitting(column: pa.ChunkedArray, kinds: Sequence[pa.DataType]) -> Sequence[pa.DataType]:
    """The types among ``kinds`` that all texts of the column fit; a column that is not text keeps its type."""
    if not pa.types.is_string(column.type):
        return [column.type]
    return kinds if len(kinds) == 1 else [kind for kind in kinds if _fits(column, kind)]


def fitting_id_types(column: pa.ChunkedArray, kinds: Sequence[pa.DataType] = OF_IDS) -> Sequence[pa.DataType]:
    """As :func:`fitting` for ids, which must print exactly as they are written."""
    if len(kinds) == 1 or not pa.types.is_string(column.type):
        return fitting(column, kinds)
    whole = pc.or_(pc.match_substring_regex(column, WHOLE), pc.is_in(column, MISSING))
    return kinds if pc.all(whole, min_count=0).as_py() else kinds[1:]


def infer_types(texts: pa.Table) -> pa.Table:
    """A table of texts as if it had been read from a CSV file of its own."""
    return read_as(texts, {name: fitting(texts[name], KINDS)[0] for name in texts.column_names})


def read_as(texts: pa.Table, kinds: Mapping[str, pa.DataType]) -> pa.Table:
    """Convert texts to these types as Arrow's CSV reader does: in numbers, "NA" is missing."""
    content = pa.BufferOutputStream()
    csv.write_csv(texts, content)
    return csv.read_csv(
        pa.BufferReader(content.getvalue()),
        csv.ReadOptions(use_threads=False),
        csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types=dict(kinds)),
    )


def spells_missing(column: pa.ChunkedArray) -> bool:
    """Whether one of the texts may be a missing value."""
    return pa.types.is_string(column.type) and bool(pc.any(pc.is_in(column, MISSING)).as_py())


def _fits(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    if pa.types.is_string(kind):
        return True
    try:
        read_as(pa.table({"": column}), {"": kind})
    except pa.ArrowInvalid:
        return False
    return True


Id = str | int


def as_ids(ids: Any, people: int) -> tuple[Id, ...]:
    """Validated ids given by the caller, one per person; 0, 1, … if None."""
    if ids is None:
        return tuple(range(people))
    listed = [one.item() if isinstance(one, np.generic) else one for one in ids]
    if len(listed) != people:
        raise LcifrError(f"there are {people} people and {len(listed)} ids", fix="pass one per person")
    return _checked(listed, "the list of ids", range(people))


def read_ids(
    table: pa.Table, named: str, id_column: str, rows: Sequence[int], *, texts: bool = False
) -> tuple[Id, ...]:
    """The ids of people of a table.

    Parameters
    ----------
    named, rows : the name of the file and the row numbers in it, for messages.
    texts : whether dates, fractions and the like are taken as the text they print; otherwise they are refused.
    """
    if id_column not in table.column_names:
        raise LcifrError(f'{named} has no column "{id_column}"', fix="name the column with the ids, or none")
    kind = table[id_column].type
    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    if pa.types.is_nested(kind) or any(is_kind(kind) for is_kind in binary):
        raise LcifrError(
            f'{named}: the ids in column "{id_column}" are of the type {kind}',
            fix="turn them into text; ids are text or whole numbers, one for everybody",
        )
    listed = table[id_column].to_pylist()
    if _are_plain(table[id_column]):
        return tuple(listed)
    if texts:
        listed = [one if type(one) is int or is_missing(one) else str(one) for one in listed]
    return _checked(listed, f'{named}: column "{id_column}"', rows)


def _are_plain(column: pa.ChunkedArray) -> bool:
    """Whether all of them are whole numbers, or texts that are more than spaces."""
    if column.null_count:
        return False
    if is_text(column.type):
        return not pc.any(pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(column)), 0)).as_py()
    return bool(pa.types.is_integer(column.type))


def _checked(listed: Sequence[Any], where: str, rows: Sequence[int]) -> tuple[Id, ...]:
    for row, one in zip(rows, listed, strict=True):
        if type(one) is int or (type(one) is str and one and not one.isspace()):
            continue
        nothing = is_missing(one) or type(one) is str
        found = "no id" if nothing else f"the {type(one).__name__} {one!r}"
        fix = "give this person an id, or leave the row out" if nothing else "turn them into text"
        raise LcifrError(
            f"{where} has {found} in row {row}", fix=f"{fix}; ids are text or whole numbers, one for everybody"
        )
    return tuple(listed)


def first_duplicate(ids: Iterable[Id]) -> str | None:
    """The first id that has occurred before; None where all differ. A number and its digits are the same id."""
    seen: set[str] = set()
    for one in map(str, ids):
        if one in seen:
            return one
        seen.add(one)
    return None


def duplicate_id_error(named: str, id_column: str, name: Id) -> LcifrError:
    """The error for an id that occurs in two rows of a table."""
    return LcifrError(
        f'{named}: column "{id_column}" contains {str(name)!r} twice', fix="give every person a unique id"
    )


# Whether an id comes twice, in bounded memory: hashes on disk, in files each of which is judged alone.

FILES = 32
"""Equal hashes lie in the same file, so each file is judged alone."""
HELD, HASHES_AT_ONCE = 1 << 17, 1 << 14
"""Hashes in memory at a time (2 MB), and read at a time. From 4 million people on, files are read more than once."""
WIDTH = 16


def hash_id(name: str | int) -> bytes:
    """The hash of an id. A number and its digits are the same id, as in every file that lists ids as text."""
    return hashlib.blake2b(str(name).encode("utf-8", "surrogatepass"), digest_size=WIDTH).digest()


KEYS = ("lcifr ids, first", "lcifr ids, other")
"""The keys of two hashes of 64 bits each; 16 letters, as SipHash requires."""


def hash_column(column: pa.ChunkedArray) -> NDArray[np.uint64]:
    """(people, 2) the hash of each id of a column; a number and its digits are the same id."""
    from pandas.util import hash_array

    texts = column.cast(pa.string()).to_numpy().astype(object)
    return np.stack([hash_array(texts, hash_key=key, categorize=False) for key in KEYS], axis=1)


@final
class DuplicateIds:
    """Ids seen so far, as hashes on disk.

    A 16-byte hash of each id goes to anonymous temporary files, which are deleted on exit. Equal ids have equal hashes,
    so no duplicate is missed; two different ids collide with probability 2⁻¹²⁸ per pair.

    Parameters
    ----------
    folder : where the temporary files are created. held : hashes in memory at a time.
    """

    def __init__(self, folder: Path, held: int = HELD) -> None:
        self._folder, self._held = folder, held
        self._files: list[IO[bytes]] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def add(self, ids: Iterable[str | int]) -> None:
        """Add the hashes of these ids."""
        self._begin()
        for name in ids:
            short = hash_id(name)
            self._files[short[0] % FILES].write(short)

    def add_column(self, column: pa.ChunkedArray) -> None:
        """Add a column of ids at once: quicker by ten than one id at a time, by another hash."""
        self._begin()
        for file, mine in zip(self._files, divide(hash_column(column), FILES), strict=True):
            file.write(mine.tobytes())

    def _begin(self) -> None:
        if not self._files:
            fresh = (tempfile.TemporaryFile(dir=self._folder) for _ in range(FILES))  # noqa: SIM115 closed by __exit__
            self._files = [self._open.enter_context(file) for file in fresh]

    def repeated(self) -> bytes | None:
        """The smallest hash of a duplicate id; None if all differ."""
        found = []
        for file in self._files:
            rounds = -(-file.tell() // (WIDTH * self._held))
            for turn in range(rounds):
                # By the second half of the hash, as the first has chosen the file.
                mine = [block[block[:, 1] % rounds == turn] for block in _blocks(file)]
                found.append(repeated_hash(np.concatenate(mine)))
        return smallest(found)


def _blocks(file: IO[bytes]) -> Iterator[NDArray[np.uint64]]:
    file.seek(0)
    while content := file.read(WIDTH * HASHES_AT_ONCE):
        yield np.frombuffer(content, np.uint64).reshape(-1, 2)


def divide(hashes: NDArray[np.uint64], buckets: int) -> list[NDArray[np.uint64]]:
    """The hashes, (people, 2), in so many buckets; equal ones are in the same."""
    which = (hashes[:, 0] % buckets).astype(np.int64)
    ends = np.cumsum(np.bincount(which, minlength=buckets))[:-1]
    return np.split(hashes[np.argsort(which, kind="stable")], ends)


def smallest(found: Iterable[bytes | None]) -> bytes | None:
    """One of the hashes that occur twice: the same however they were divided."""
    return min(filter(None, found), key=lambda one: np.frombuffer(one, np.uint64).tolist(), default=None)


def repeated_hash(hashes: NDArray[np.uint64]) -> bytes | None:
    """The smallest hash that occurs twice among these, (people, 2); None if all differ."""
    ordered = hashes[np.lexsort((hashes[:, 1], hashes[:, 0]))]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    return ordered[int(np.argmax(same))].tobytes() if same.any() else None


# Streaming reader of people from Parquet and CSV in chunks of bounded memory.

ROWS = 1 << 15
"""Rows per chunk where nothing is proved; callers leave the size out, so that it is set in one place."""
CSV_BLOCK = 1 << 18
"""Bytes of a CSV file at a time. Arrow reads some thirty of them ahead."""


@dataclass(frozen=True)
class FileColumns:
    """Some columns of a file, and what a scan of the whole file has found.

    Parameters
    ----------
    names : the columns that are read. people : rows of the file.
    kinds : of CSV, the types of the columns: those that every row fits, as if all had been read at once.
    left_out : rows of the file that this one was made of, with missing values.
    """

    path: Path
    names: tuple[str, ...]
    people: int | None = None
    kinds: tuple[tuple[str, pa.DataType], ...] = ()
    left_out: int = 0


TableSource: TypeAlias = str | Path | pa.Table | FileColumns
"""A .parquet or .csv file or some of its columns, or a table that is in memory anyway."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive validated rows of a table: the people from row ``start`` on, and their ids."""

    number: int
    start: int
    people: Individuals
    ids: tuple[Id, ...]

    @property
    def size(self) -> int:
        return len(self.ids)

    def content(self) -> Iterator[bytes]:
        """Everything about these people except their ids."""
        yield self.people.numbers.tobytes(order="C")
        yield self.people.codes.tobytes(order="C")


def name_of(source: TableSource) -> str:
    """The name of a source in messages."""
    if isinstance(source, pa.Table):
        return "the table"
    return str(source.path if isinstance(source, FileColumns) else source)


def count_people(source: TableSource) -> int | None:
    """The number of rows, where it is known without reading the file; None otherwise."""
    if isinstance(source, pa.Table):
        return len(source)
    if isinstance(source, FileColumns):
        return source.people if source.people is not None else count_people(source.path)
    try:
        return ParquetTable.open(source).rows if is_parquet(source) else None
    except (LcifrError, pa.ArrowException, OSError):
        return None  # whoever reads it will say why


def column_names(path: Path) -> list[str]:
    """The column names of a file."""

    with file_errors(path):
        if is_parquet(path):
            return list(ParquetTable.open(path).schema.names)
        check_separator(path)
        with csv.open_csv(path, parse_options=csv.ParseOptions(delimiter=delimiter_of(path))) as reader:
            return list(reader.schema.names)


def read_chunks(source: TableSource, schema: Schema, size: int, id_column: str | None = None) -> Iterator[Chunk]:
    """The people of a file in chunks of ``size``; the same chunks every time."""
    start = 0
    named = name_of(source)
    coded = [name for name in schema.names_categorical if name != id_column]
    for number, table in enumerate(read_tables(source, schema, size, dictionaries=coded)):
        rows = range(start, start + len(table))
        ids: tuple[Id, ...] = tuple(rows)
        if id_column is not None:
            ids = read_ids(table, named, id_column, rows, texts=isinstance(source, FileColumns))
            table = table if id_column in schema else table.drop_columns([id_column])
        yield Chunk(number, start, read_individuals(table, named, schema, rows), ids)
        start += len(table)
    if start == 0:
        raise LcifrError(f"{named}: there are no rows")


def read_tables(
    source: TableSource,
    schema: Schema | None,
    size: int | None = None,
    *,
    dictionaries: Sequence[str] = (),
    rows: range | None = None,
) -> Iterator[pa.Table]:
    """The rows of a file in tables of ``size``, not yet validated. Without a schema, CSV columns are text.

    ``dictionaries`` : columns of Parquet whose texts may come as codes (:meth:`ParquetTable.batches`).
    ``rows`` : of Parquet, consecutive ones that are read alone.
    """
    size = size or ROWS
    typed = (
        isinstance(source, pa.Table) or (isinstance(source, FileColumns) and source.kinds) or is_parquet(_path(source))
    )
    reader = RowReader(_batches(source, size, dictionaries, rows))
    while len(table := reader.take(size)):
        yield table if typed or schema is None else convert_csv_texts(table, schema)


def read_individuals(table: pa.Table, named: str, schema: Schema, rows: Sequence[int]) -> Individuals:
    """Validate a table that holds these rows of a file; problems name the rows of the file."""
    try:
        return Individuals.read(table, schema)
    except TableError as error:
        raise TableError([one.among(rows) for one in error.problems], source=named, fix=error.fix) from None


def convert_csv_texts(table: pa.Table, schema: Schema) -> pa.Table:
    """Convert CSV text columns to the numbers and categories that a reader of the whole file would give.

    Of a few rows no one knows the type of the column, so this is generous: ``True`` is a 1 among numbers. What does not
    fit stays as it is, and the gate names it with its row.
    """
    for place, name in enumerate(table.column_names):
        column = table[name]
        if name not in schema or not pa.types.is_string(column.type):
            continue
        attribute = schema[name]
        try:
            meant = _numbers(column) if isinstance(attribute, Numeric) else _known(column, attribute.values)
        except pa.ArrowInvalid:
            continue
        table = table.set_column(place, name, meant)
    return table


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    texts = pc.utf8_trim_whitespace(column)
    try:
        return texts.cast(pa.float64())
    except pa.ArrowInvalid:
        return texts.cast(pa.bool_())


def _known(column: pa.ChunkedArray, values: tuple[str, ...]) -> pa.ChunkedArray:
    """Known categories in other spellings: ``True`` for true, ``3.0`` for 3."""
    written = [text for text in pc.unique(column).to_pylist() if text is not None]
    meant = {text: other for text in written if text not in values and (other := _other_name(text)) in values}
    for text, other in meant.items():
        column = pc.if_else(pc.equal(column, text), other, column)
    return column


def _other_name(text: str) -> str:
    for kind in (pa.int64(), pa.bool_(), pa.float64()):
        try:
            return text_of(pa.scalar(text.strip()).cast(kind).as_py())
        except (pa.ArrowInvalid, ValueError, OverflowError):
            continue
    return text


def _path(source: Any) -> Path:
    return source.path if isinstance(source, FileColumns) else Path(source)


def _batches(
    source: TableSource, size: int, dictionaries: Sequence[str], rows: range | None
) -> Iterator[pa.RecordBatch]:

    if isinstance(source, pa.Table):
        yield from source.to_batches(max_chunksize=size)
        return
    path, some = _path(source), source if isinstance(source, FileColumns) else None
    names = list(some.names) if some else None
    with file_errors(path):
        if is_parquet(path):
            start, count = (0, None) if rows is None else (rows.start, len(rows))
            yield from ParquetTable.open(path).batches(size, names, start, count, dictionaries=dictionaries)
            return
        # Types are not guessed from the first block, because a later one might not fit. And a category may well be
        # called "NA", as in memory; the gate knows blank ones as missing.
        types = dict.fromkeys(names or column_names(path), pa.string()) | dict(some.kinds if some else ())
        options = csv.ConvertOptions(column_types=types, include_columns=names, strings_can_be_null=False)
        layout = csv.ParseOptions(delimiter=delimiter_of(path))
        with csv.open_csv(path, csv.ReadOptions(block_size=CSV_BLOCK), layout, options) as reader:
            yield from reader


# Rows of a table as a scan validates them: ids, labels and attributes, with the rows of the file in every message.


def check_rows(
    table: pa.Table,
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    rows: Sequence[int],
) -> tuple[Id, ...]:
    """Validate these rows; returns their ids."""
    if not len(table):  # all of them were left out
        return ()
    named = name_of(source)
    ids: tuple[Id, ...] = () if id_column is None else read_ids(table, named, id_column, rows, texts=True)
    if label is not None:
        _check_label(table[label], label, rows)
    more = [name for name in (id_column, label) if name is not None and name not in schema]
    attributes = table.drop_columns(more)
    typed = is_parquet(source.path) or source.kinds
    read_individuals(attributes if typed else convert_csv_texts(attributes, schema), named, schema, rows)
    return ids


def _check_label(column: pa.ChunkedArray, name: str, rows: Sequence[int]) -> None:
    try:
        target_values(column, name)
    except TableError as error:
        raise TableError([one.among(rows) for one in error.problems], fix=error.fix) from None


# Scan of a Parquet table before any proof: every row is validated once.
#
# The types of its columns are known, so one look is enough, unlike that of CSV (:mod:`lcifr.data.ingest`).


def with_numbers(kept: pa.Table, rows: Sequence[int], skipping: RowSkip | None) -> pa.Table:
    """The rows with their numbers in the table, where these are kept."""
    if skipping is None or skipping.column is None:
        return kept
    return kept.append_column(skipping.column, pa.array(rows, pa.int64()))


def stored_columns(found: FileColumns, store: Path, people: int, skipping: RowSkip | None) -> FileColumns:
    """The file in which the rows of ``found`` that stay are stored."""
    numbers = () if skipping is None or skipping.column is None else (skipping.column,)
    return FileColumns(store, (*found.names, *numbers), people, left_out=int(found.people or 0) - people)


def scan_parquet(
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    folder: Path,
    store: Path | None,
    skipping: RowSkip | None,
) -> FileColumns:
    """Read every row once; parameters as for :func:`lcifr.data.ingest.scan_file`.

    A local table needs no copy unless rows are left out of it. Only then is it read again, to store those that stay.
    """
    if store is not None and not is_remote(source.path):
        found = scan_parquet(source, schema, id_column, label, folder, None, skipping)
        if not found.left_out:
            return found
    start = people = 0
    with DuplicateIds(folder) as names, ExitStack() as stack:
        writer: parquet.ParquetWriter | None = None
        for seen, rows, kept in look_at(source, schema, id_column, label, skipping, coded=store is None):
            if id_column is not None and len(kept):
                names.add_column(kept[id_column])
            start, people = start + seen, people + len(kept)
            if store is not None:
                kept = with_numbers(kept, rows, skipping)
                writer = writer or stack.enter_context(parquet.ParquetWriter(store, kept.schema))
                writer.write_table(kept)
        if id_column is not None and (twice := names.repeated()) is not None:
            refuse_twice(source, id_column, twice)
    refuse_nobody(source, start, people)
    found = replace(source, people=start, left_out=start - people)
    return found if store is None else stored_columns(found, store, people, skipping)


def look_at(
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    skipping: RowSkip | None,
    among: range | None = None,
    *,
    coded: bool = True,
) -> Iterator[tuple[int, Sequence[int], pa.Table]]:
    """Validate rows some at a time: how many were read, and the numbers and columns of those that stay.

    ``among`` : these rows alone. ``coded`` : whether categories may come as codes.
    """
    start = 0 if among is None else among.start
    names = [name for name in schema.names_categorical if name != id_column] if coded else []
    for table in read_tables(source, None, dictionaries=names, rows=among):
        rows, kept = taken_rows(table, schema, start, skipping)
        check_rows(kept, source, schema, id_column, label, rows)
        yield len(table), rows, kept
        start += len(table)


def refuse_nobody(source: FileColumns, rows: int, people: int) -> None:
    """Refuse a table of which no row stays."""
    if rows == 0:
        raise LcifrError(f"{name_of(source)} has no rows", fix="give at least one person")
    if people == 0:
        raise LcifrError(
            f"{name_of(source)}: every row has a missing value", fix="give at least one row without missing values"
        )


def refuse_twice(source: FileColumns, id_column: str, twice: bytes) -> None:
    """Raise for a duplicate id. Only hashes are kept, so the table is searched for the id itself."""
    wanted = np.frombuffer(twice, np.uint64)
    for table in read_tables(replace(source, names=(id_column,)), None):
        rows = np.flatnonzero((hash_column(table[id_column]) == wanted).all(1))
        if len(rows):
            raise duplicate_id_error(name_of(source), id_column, table[id_column][int(rows[0])].as_py())


# Scan of a whole file before any proof: validation of every row, and types of CSV columns.
#
# A missing value in the last row would otherwise be found after hours of proofs; and only all rows together determine
# the type of a CSV column.


def scan_file(
    source: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    folder: Path,
    store: Path | None = None,
    *,
    skipping: RowSkip | None = None,
) -> FileColumns:
    """Read every row once: the same columns, with the number of people and the types that all rows fit.

    Parameters
    ----------
    id_column, label : columns among those of the source that are no attributes, or None.
    folder : where temporary files hold the hashes of ids, so that memory is bounded.
    store : a new Parquet file for these columns with their types; what is returned is then that file, so that CSV and
        remote tables are read twice at most, however often their people are needed. A local Parquet table from which
        no row is left out is returned itself.
    skipping : leaves rows with missing values out of the stored file; None to refuse them.
    """
    if is_parquet(source.path):
        return scan_parquet(source, schema, id_column, label, folder, store, skipping)
    kinds: dict[str, Sequence[pa.DataType]] = {name: OF_IDS if name == id_column else KINDS for name in source.names}
    unsure: set[str] = set()
    people = 0
    with DuplicateIds(folder) as names:
        for table in read_tables(source, None):
            kinds = {
                name: (fitting_id_types if name == id_column else fitting)(table[name], left)
                for name, left in kinds.items()
            }
            unsure |= {name for name, left in kinds.items() if len(left) > 1 and spells_missing(table[name])}
            rows, kept = taken_rows(table, schema, people, skipping)
            names.add(check_rows(kept, source, schema, id_column, label, rows))
            people += len(table)
        if id_column is not None and (twice := names.repeated()) is not None:
            _refuse_twice(source, id_column, twice)
    if people == 0:
        raise LcifrError(f"{source.path} has no rows", fix="give at least one person")
    found = replace(source, people=people, kinds=tuple((name, left[0]) for name, left in kinds.items()))
    if store is None and not any(name in unsure and not pa.types.is_string(kind) for name, kind in found.kinds):
        return found
    return _look_again(found, schema, id_column, label, store, skipping)


def _look_again(
    found: FileColumns,
    schema: Schema,
    id_column: str | None,
    label: str | None,
    store: Path | None,
    skipping: RowSkip | None,
) -> FileColumns:
    """Check for missing values once the types are known: "NA" is missing in a column of numbers, and text elsewhere."""
    start = people = 0
    with ExitStack() as stack:
        writer: parquet.ParquetWriter | None = None
        for table in read_tables(found, schema):
            rows, kept = taken_rows(table, schema, start, skipping)
            check_rows(kept, found, schema, id_column, label, rows)
            start, people = start + len(table), people + len(kept)
            if store is not None:
                kept = with_numbers(kept, rows, skipping)
                writer = writer or stack.enter_context(parquet.ParquetWriter(store, kept.schema))
                writer.write_table(kept)
    if people == 0:
        raise LcifrError(
            f"{found.path}: every row has a missing value", fix="give at least one row without missing values"
        )
    return found if store is None else stored_columns(replace(found, people=start), store, people, skipping)


def _refuse_twice(source: FileColumns, id_column: str, twice: bytes) -> None:
    """Raise for a duplicate id. Only hashes are kept, so the file is searched for the id itself."""
    for table in read_tables(source, None):
        for one in table[id_column].to_pylist():
            if hash_id(one) == twice:
                raise duplicate_id_error(name_of(source), id_column, one)
