"""Tables of pandas, polars, Arrow, CSV and Parquet as Arrow; text that is not UTF-8 is refused with its place."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lcifr.data.files import is_remote
from lcifr.data.parquet import ParquetTable, is_text
from lcifr.errors import LcifrError, TableError, TableProblem, no_such_file

TEXTS = (".csv", ".tsv", ".gz")
ACCEPTED = "a pandas or polars frame, an Arrow table, or a path to a .csv or .parquet file"


def read_frame(source: Any, *, texts: Sequence[str] = ()) -> pa.Table:
    """``source`` as an Arrow table; its shape and column names are checked, its values are not.

    Parameters
    ----------
    source
        A pandas or polars frame (polars may be lazy), an Arrow table, or a path to a ``.csv`` or ``.parquet`` file.
    texts
        Columns of a ``.csv`` file that stay as they are written, such as ids: "007" is no 7.

    Raises
    ------
    TableError
        If two columns share a name: nothing could say which one is meant.
    LcifrError
        If ``source`` is no table, or the file cannot be read.
    """
    if isinstance(source, str | Path):
        return _unique(_read_file(Path(source), texts), str(source))
    if isinstance(source, pa.Table):
        return _unique(source)
    if isinstance(source, pa.RecordBatch):
        return _unique(pa.Table.from_batches([source]))
    if nw.dependencies.is_pandas_dataframe(source):  # the one kind of frame that may name two columns alike
        _refuse_duplicates([str(name) for name in source.columns])
    try:
        frame = nw.from_native(source)
    except TypeError:
        raise LcifrError(f"cannot read a table from {type(source).__name__}", fix=f"give {ACCEPTED}") from None
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return pa.table({str(column.name): _arrow_column(column) for column in eager.iter_columns()})


def _read_file(path: Path, texts: Sequence[str]) -> pa.Table:
    from pyarrow import csv, parquet

    with file_errors(path):
        if is_parquet(path):
            return parquet.read_table(path) if path.is_file() else ParquetTable.open(path).read()
        if path.suffix.lower() in TEXTS:
            check_separator(path)
            as_written = csv.ConvertOptions(column_types=dict.fromkeys(texts, pa.string()))
            layout = csv.ParseOptions(delimiter=delimiter_of(path))
            table = csv.read_csv(path, parse_options=layout, convert_options=as_written)
            if any(pa.types.is_binary(kind) for kind in table.schema.types):  # Arrow's word for text that is no UTF-8
                check_utf8(path)
            return table
    raise LcifrError(f"{path}: unknown file type", fix="give a .csv, .tsv or .parquet file")


def check_separator(path: Path) -> None:
    """Reject a CSV file with another separator than expected: every line would be one value."""
    with pa.input_stream(str(path)) as file:  # which opens .gz as well
        start = file.read(65536)
    check_header_utf8(path, start)
    header, _, rest = start.decode("utf-8", "replace").partition("\n")
    first = rest.partition("\n")[0]
    words = {";": "semicolons", "\t": "tabs", ",": "commas"}
    # A single one may belong to the name of a single column, unless there is one in the values too.
    found = [word for sign, word in words.items() if header.count(sign) > 1 or (sign in header and sign in first)]
    if found and delimiter_of(path) not in header:
        raise LcifrError(
            f"{path}: {found[0]} stand between its values, so it has one column",
            fix="save it with commas as .csv, or with tabs as .tsv; numbers need a point, 3.5",
        )


@contextmanager
def file_errors(path: str | Path) -> Iterator[None]:
    """Context manager that turns errors of Arrow and the system into :class:`LcifrError`."""
    try:
        yield
    except FileNotFoundError:
        raise no_such_file(path) from None
    except (pa.ArrowException, OSError) as error:
        if "UTF8" in str(error) and not is_parquet(path):
            check_utf8(Path(path))
        ragged = "Expected" in str(error) and "columns, got" in str(error)
        fix = "give every line as many values as the first has; text with a comma in it stands in double quotes"
        raise LcifrError(
            f"{path}: cannot be read: {error}", fix=fix if ragged else "give a .parquet or .csv file"
        ) from None


def is_parquet(path: str | Path) -> bool:
    """Whether this is a Parquet file, by its name, or a folder of such files, here or in a store."""
    ending = Path(path).suffix.lower()
    return ending in (".parquet", ".pq") or (ending not in TEXTS and (is_remote(path) or Path(path).is_dir()))


def delimiter_of(path: Path) -> str:
    """The delimiter of a text file, by its file name."""
    return "\t" if ".tsv" in path.suffixes else ","


def _unique(table: pa.Table, source: str = "the table") -> pa.Table:
    _refuse_duplicates(table.column_names, source)
    return table


def _refuse_duplicates(names: list[str], source: str = "the table") -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        problems = [TableProblem(f"the name occurs {names.count(name)} times", column=name) for name in repeated]
        raise TableError(problems, source=source, fix="rename or drop all but one of them")


def _arrow_column(series: nw.Series[Any]) -> pa.ChunkedArray | pa.Array:
    try:
        return series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError):  # an object column of mixed types: the gate reports row by row
        return _texts(series.to_list())


def is_missing(value: object) -> bool:
    """Whether a value is missing: null or NaN."""
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def text_of(value: object) -> str:
    """A value as the text that names its category: ``true``, ``3`` for 3.0, otherwise as Python writes it."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return _decoded(value)
    if isinstance(value, float | np.floating | Decimal) and value % 1 == 0:
        return str(int(value))
    return str(value)


def _decoded(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise LcifrError(
            f"{value[:40]!r} is no text in UTF-8", fix='decode the column first: frame["name"].str.decode("latin-1")'
        ) from None


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column's values as category names, trimmed; missing and blank values are null."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if is_text(kind) or pa.types.is_integer(kind):
        column = column.cast(pa.string())
    else:
        column = pa.chunked_array([_texts(column.to_pylist())])
    trimmed = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(trimmed, ""), None, trimmed)


def _texts(values: list[Any]) -> pa.Array:
    return pa.array([None if is_missing(value) else text_of(value) for value in values], pa.string())


BLOCK = 1 << 20  # bytes looked at at a time
SHOWN = 30  # characters of the cell that are shown
OTHER = "windows-1252"  # what spreadsheets of western Europe and America write; Latin-1 but for a few signs


def check_utf8(path: Path) -> None:
    """Raise at the first byte of a text file that is not UTF-8; guessing the encoding could change people's data."""
    decoder, line, rest = codecs.getincrementaldecoder("utf-8")(), 1, b""
    with pa.input_stream(str(path)) as file:  # which opens .gz as well
        while block := file.read(BLOCK):
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:  # its object is what was kept of the last block, and this one
                raise _refusal(path, line, rest, error) from None
            line += block.count(b"\n")
            rest = block.rpartition(b"\n")[2] if b"\n" in block else rest + block
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _refusal(path, line, rest[: -len(error.object)], error) from None


def check_header_utf8(path: Path, start: bytes) -> None:
    """Check the first bytes of a file: column names, and the byte order marks of UTF-16 and UTF-32."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise LcifrError(f"{path} is UTF-16, and tables are read as UTF-8", fix=_fix(path, "UTF-16"))
    try:
        start.split(b"\n")[0].decode("utf-8")
    except UnicodeDecodeError:
        check_utf8(path)


def _refusal(path: Path, line: int, before: bytes, error: UnicodeDecodeError) -> LcifrError:
    line += error.object.count(b"\n", 0, error.start)
    kept = error.object[: error.start]
    kept = kept.rpartition(b"\n")[2] if b"\n" in kept else before + kept
    cell = _end(kept) + _start(error.object[error.start :])
    try:
        reads = f'; as {OTHER.capitalize()} it reads "{cell.decode(OTHER)}"'
    except UnicodeDecodeError:
        reads = ""
    shown = cell.decode("utf-8", "backslashreplace")
    return LcifrError(f'{path}, line {line}: "{shown}" is not UTF-8{reads}', fix=_fix(path, OTHER.upper()))


def _end(text: bytes) -> bytes:
    """The unfinished cell at the end of the text."""
    for sign in (b",", b";", b"\t"):
        text = text.rpartition(sign)[2]
    return text[-SHOWN:]


def _start(text: bytes) -> bytes:
    """The rest of the cell at the start of the text."""
    for sign in (b"\n", b"\r", b",", b";", b"\t"):
        text = text.partition(sign)[0]
    return text[:SHOWN]


def _fix(path: Path, name: str) -> str:
    source, result = (shlex.quote(str(one)) for one in (path, path.with_name(f"utf8-{path.name.removesuffix('.gz')}")))
    convert = f"iconv -f {name} -t UTF-8 {source} > {result}"
    if path.suffix.lower() == ".gz":
        convert = f"gunzip -c {source} | iconv -f {name} -t UTF-8 > {result}"
    return f"save it as UTF-8 (Excel: CSV UTF-8); or, if it reads right like that: {convert}"
