"""People in a canonical form, one line each, and the digest of them that anybody can compute from their own CSV file.

A line is one JSON array as RFC 8785 writes it: the id, then [attribute, value] for each attribute in the order of their
names. A number is the shortest decimal of its float64 (−0 is 0), a category its exact text, and null a missing value.
"""

import csv
import gzip
import hashlib
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from lcifr.check.bundle import PEOPLE, read_people
from lcifr.check.exact import Rejected, ensure, numbers, position, printable, reading

FIRST = b'["lcifr-people-1"]\n'  # of what is hashed, before the lines
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
BOOLEANS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
MISSING = re.compile(r"|#N/A( N/A)?|#NA|-?1\.#(IND|QNAN)|-?(NaN|nan)|N/A|NA|NULL|n/a|null")  # among numbers alone
Kinds = Mapping[str, Sequence[str] | None]  # by attribute: the values of a category, None of a number


@dataclass(frozen=True)
class CanonicalPeople:
    """``lines``: of each id the canonical line. ``unbound``: columns that are no attributes, so nothing is said of."""

    lines: dict[str, bytes]
    unbound: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 over all lines, sorted by id."""
        found = hashlib.sha256(FIRST)
        for name in sorted(self.lines):
            found.update(self.lines[name])
        return found.hexdigest()


def person_line(name: str, values: Mapping[str, float | str | None]) -> bytes:
    """The canonical line of one person."""
    pairs = (f"[{_text(attribute)},{_value(value)}]" for attribute, value in sorted(values.items()))
    return f"[{','.join((_text(name), *pairs))}]\n".encode("utf-8", "surrogatepass")


def number_text(value: float) -> str:
    """The shortest decimal of a float64, as JavaScript writes it: 39, 0.00001, 1e-7, 1e+21."""
    if value and not 1e-6 <= abs(value) < 1e21:
        return repr(value).replace("e-0", "e-")
    return format(Decimal(repr(value)), "f").removesuffix(".0") if value else "0"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value(value: float | str | None) -> str:
    return "null" if value is None else _text(value) if isinstance(value, str) else number_text(value)


def kinds_of(schema: Any) -> Kinds:
    """Of the schema of a bundle."""
    known = schema["attributes"].items()
    return {name: entry["values"] if entry["kind"] == "categorical" else None for name, entry in known}


def read_csv(path: str | Path, kinds: Kinds, id_column: str | None = None) -> CanonicalPeople:
    """The people of a .csv or .tsv file, also of one that ends in .gz; without a column of ids those are row numbers.

    Raises Rejected for a file that is not as it should be; the row that is named counts from 0, without the header.
    """
    path = Path(path)
    lines, delimiter = dict[str, bytes](), "\t" if ".tsv" in path.suffixes else ","
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file, reading(str(path)):
            rows = (row for row in csv.reader(file, delimiter=delimiter, strict=True) if row)
            names = next(rows, [])
            ensure(len(set(names)) == len(names), f"{path} has two columns of the same name")
            asked = [*kinds, *([id_column] if id_column is not None else [])]
            lost = [name for name in asked if name not in names]
            ensure(not lost, f'{path} has no column "{next(iter(lost), "")}"; it has {", ".join(names)[:200]}')
            for count, row in enumerate(rows):
                ensure(len(row) == len(names), f"{path}: row {count} has {len(row)} values, the header {len(names)}")
                found = dict(zip(names, row, strict=True))
                name = str(count) if id_column is None else found[id_column]
                ensure(name.strip(), f"{path}: row {count} has no id")
                ensure(name not in lines, f'{path}: the id "{name}" occurs twice')
                where = f"{path}: row {count}"
                values = {one: _cell(found[one], known is None, f"{where}, {one}") for one, known in kinds.items()}
                lines[name] = person_line(name, values)
    except (csv.Error, EOFError, zlib.error) as problem:
        raise Rejected(f"{path} is no CSV file: {problem}") from None
    return CanonicalPeople(lines, tuple(name for name in names if name not in asked))


def _cell(text: str, numeric: bool, where: str) -> float | str | None:
    """A value as it is written; what a table leaves blank is missing."""
    bare = text.strip()
    if not numeric:
        return text if bare else None
    if MISSING.fullmatch(bare):
        return None
    ensure(bare in BOOLEANS or NUMBER.fullmatch(bare), f"{where}: {printable(text)[:60]!r} is not a number")
    value = BOOLEANS[bare] if bare in BOOLEANS else float(bare)
    ensure(math.isfinite(value), f"{where}: {text[:60]!r} is beyond every float64")
    return value


def checked_json(root: str | Path, name: str, sha256: str) -> Any:
    """A file of a bundle, if it is still the one with this hash, which was checked."""
    data = (Path(root) / name).read_bytes()
    ensure(hashlib.sha256(data).hexdigest() == sha256, f"{name} has changed since it was checked")
    return json.loads(data)


def bundle_people(root: str | Path, sha256: str, kinds: Kinds) -> CanonicalPeople:
    """The people of a bundle: those of the file with this hash, which is the one that was checked."""
    lines, numeric = dict[str, bytes](), [name for name, known in kinds.items() if known is None]
    categories = {name: known for name, known in kinds.items() if known is not None}
    for line in read_people(Path(root) / PEOPLE, sha256):
        with reading(f"a person of {PEOPLE}"):
            values: dict[str, Any] = dict(zip(numeric, numbers(line["x"]["numbers"], len(numeric)), strict=True))
            for (name, known), code in zip(categories.items(), line["x"]["codes"], strict=True):
                values[name] = known[position(code, len(known))]
            lines[str(line["id"])] = person_line(str(line["id"]), values)
    return CanonicalPeople(lines)
