"""A bundle held against the reader's own files: the same, differs, not compared or not given, and what follows."""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lcifr.check.binding.people import CanonicalPeople, Kinds, bundle_people, checked_json, kinds_of, read_csv
from lcifr.check.bundle import ENCODER, ENCODING, MODEL, PEOPLE, SCHEMA, SIMILARITY
from lcifr.check.exact import printable, reading
from lcifr.check.report.check_report import CheckReport

SAME, DIFFERS, NAMED, NOT_GIVEN = "the same", "DIFFERS", "named, content not compared", "not given"
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
    """1 a claim is not confirmed, 5 a file differs, 4 nothing is claimed of somebody, 6 something was not compared."""
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
    counts = f"{len(both) - len(differ):,} of your {len(mine):,} people are in the bundle as they are in your file"
    digests = (f"digest of your file {yours.digest}", f"digest of the bundle {bundle.digest}")
    return FileComparison("people", SAME if same else DIFFERS, (*[*differ.values()][:SHOWN], counts, *digests), names)


def _copies(mine: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """People of the bundle who are somebody else of it in every attribute, and in the reader's file are not."""
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
