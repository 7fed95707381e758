"""UTF-8 check of CSV files, with the place of the first invalid byte and the likely encoding."""

from __future__ import annotations

import codecs
import shlex
from pathlib import Path

import pyarrow as pa

from lcifr.errors import LcifrError

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
