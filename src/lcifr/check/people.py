"""A bundle compared with the reader's own files: the people of a CSV file, the model and φ."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import math
import re
import unicodedata
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from lcifr.check.bundle import ENCODER, ENCODING, MODEL, PEOPLE, SCHEMA, SIMILARITY, read_people
from lcifr.check.exact import Rejected, ensure, numbers, position, printable, reading
from lcifr.check.judge import CheckReport

# People in a canonical form, one line each, and the digest of them that anyone can compute from their own CSV file.
#
# A line is one JSON array as RFC 8785 writes it: the id, then [attribute, value] for each attribute in the order of
# their names. A number is the shortest decimal of its float64 (−0 is 0), a category its exact text, and null a missing
# value.

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
    """The values of each categorical attribute in a bundle's schema, and None for each number."""
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


# A bundle held against the reader's own files: the same, differs, not compared or not given, and what follows.

SAME, DIFFERS, NAMED, NOT_GIVEN = "the same", "DIFFERS", "named, content not compared", "not given"
NO_IDS = "not one id is in both: if a column of your file holds the ids of the bundle, name it with --id"
EVERYBODY = "everybody who can exist, not those of a table"  # of the bundle of a sweep
BY_HASH = {"model": (ENCODER, MODEL), "phi": (SIMILARITY,), "schema": (SCHEMA,), "train": (ENCODING,)}
FILES = ("people", "id", *BY_HASH)  # options of the command
SHOWN = 5  # names in a text; all of them are in the JSON
TEXTS = {
    "missing": "your people who are missing in the bundle ({:,}): {}",
    "unclaimed": "people of the bundle without a verdict, of whom nothing is claimed ({:,}): {}",
    "incomplete": "your people with missing values, of whom nothing is claimed ({:,}): {}",
    "strangers": "people of the bundle who are not in your file ({:,}): {}",
    "copies": "people of the bundle who are copies, and in your file are not ({:,}): {}",
    "differ": "people who differ ({:,}): {}",
    "spelled": "categories that your file writes differently, taken as the same ({:,}): {}",
    "unbound": "columns of your file that are not attributes, and were ignored ({:,}): {}",
}


@dataclass(frozen=True)
class FileComparison:
    """One kind of file; ``names`` are the people (or values, or columns) by what is to be said of them."""

    what: str
    status: str
    details: tuple[str, ...] = ()
    names: dict[str, list[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """For people to read."""
        known = (TEXTS[kind].format(len(found), _first(found)) for kind, found in self.names.items() if found)
        return [f"{self.what}: {self.status}", *(f"  {printable(line)}" for line in (*known, *self.details))]


def exit_code(report: CheckReport, compared: Sequence[FileComparison]) -> int:
    """1 a claim is not confirmed, 5 a file differs, 4 someone has no claim, 6 something was not compared."""
    if not compared or report.exit_code:
        return report.exit_code
    unclaimed = any(one.names.get("incomplete") for one in compared)
    others = {one.status for one in compared} - {SAME, EVERYBODY}
    return 5 if DIFFERS in others else 4 if unclaimed else report.strict_exit_code or (6 if others else 0)


def _first(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:SHOWN]) + (f" and {len(every) - SHOWN:,} more" if len(every) > SHOWN else "")


def compare(root: Any, report: CheckReport, given: Mapping[str, Any]) -> list[FileComparison]:
    """All kinds of files, if one was given, else none. The standard library reads people; others are named alone."""
    if not any(given[name] for name in FILES):
        return []
    hashes, others = report.hashes, list[FileComparison]()
    for what, names in BY_HASH.items():
        others.append(FileComparison(what, NAMED, tuple(f"{n} {hashes[n]}" for n in names if n in hashes)))
    return [compare_people(root, report, given["people"], given["id"]), *others]


def compare_people(root: Any, report: CheckReport, path: Any, ids: str | None, read: Any = read_csv) -> FileComparison:
    """The people of a bundle that was checked, against those whom ``read`` finds in the reader's file."""
    if path is None or getattr(report, "shares", None):
        return FileComparison("people", EVERYBODY if getattr(report, "shares", None) else NOT_GIVEN)
    with reading(ENCODING):
        kinds = kinds_of(checked_json(root, ENCODING, report.hashes[ENCODING])["schema"])
    return match(read(path, kinds, ids), bundle_people(root, report.hashes[PEOPLE], kinds), kinds, report)


def match(yours: CanonicalPeople, bundle: CanonicalPeople, kinds: Kinds, report: CheckReport) -> FileComparison:
    """The reader's people against those of a bundle, by id."""
    mine, theirs = ({name: json.loads(line)[1:] for name, line in one.lines.items()} for one in (yours, bundle))
    both, differ, spelled = [name for name in mine if name in theirs], dict[str, str](), dict[str, None]()
    for name in both:
        pairs = zip(mine[name], theirs[name], strict=True)
        for what, one, other in ((what, one, other) for (what, one), (_, other) in pairs if one != other):
            if _respelled(one, kinds[what]) == other:
                spelled[f"{what} {one!r} as {other!r}"] = None
            else:
                said = f"{what} is {_shown(one, other)} in your file, {_shown(other, one)} in the bundle"
                differ.setdefault(name, f"{name}: {said}")
    absent = {name: any(value is None for _, value in mine[name]) for name in mine if name not in theirs}
    kinds_of_absence = {"missing": False, "incomplete": True}
    names = {kind: [name for name in absent if absent[name] == lost] for kind, lost in kinds_of_absence.items()}
    names |= {"strangers": [name for name in theirs if name not in mine], "unclaimed": report.names["unclaimed"]}
    same = not (names["missing"] or names["strangers"] or differ)
    names |= {"differ": [*differ], "copies": [] if same else _copies(mine, theirs)}
    names |= {"spelled": [*spelled], "unbound": [*yours.unbound]}
    nobody = () if both or not mine else (NO_IDS,)
    counts = f"{len(both) - len(differ):,} of your {len(mine):,} people are in the bundle as they are in your file"
    digests = (f"digest of your file {yours.digest}", f"digest of the bundle {bundle.digest}")
    return FileComparison(
        "people", SAME if same else DIFFERS, (*[*differ.values()][:SHOWN], *nobody, counts, *digests), names
    )


def _copies(mine: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """People who equal an earlier person of the bundle in every attribute, but not in the reader's file."""
    found, first = list[str](), dict[str, str]()
    for name, values in theirs.items():
        other = first.setdefault(json.dumps(values), name)
        if other != name and (name not in mine or mine[name] != mine.get(other)):
            found.append(f"{name} of {other}")
    return found


def _respelled(text: Any, known: Sequence[str] | None) -> Any:
    """As tables are read: a category that the schema does not have, without spaces around it, and True as true."""
    if known is None or text is None or text in known:
        return text
    bare = text.strip()
    return bare.lower() if bare in ("True", "TRUE", "False", "FALSE") and bare not in known else bare


def _shown(value: Any, other: Any) -> str:
    """A value of a difference; texts that only Unicode tells apart are written in ASCII."""
    alike = unicodedata.normalize("NFKC", str(value)) == unicodedata.normalize("NFKC", str(other))
    return "missing" if value is None else ascii(value) if alike else repr(value)
