"""WorkFolder: the one folder whose files the workbench reads and writes, what is in it, and the built-in example."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from lcifr.data.codec import Record
from lcifr.data.files import is_remote, write_atomic
from lcifr.errors import LcifrError
from lcifr.models.loading import PICKLE_SUFFIXES, recognise
from lcifr.workflows.folders import RESULT, SETTINGS, RunSettings

# What the page sends: JSON, read as typed requests; and command lines that do the same, to be shown, pasted and run.

LARGEST = 2**1000
"""Whole numbers that a float can be; JSON has larger ones."""
NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class PageRequest(Record):
    """A request of the page: values of another type, and keys that it does not know, are refused."""

    closed = True


def read_json_request(body: bytes) -> dict[str, Any]:
    """The object that a request's body holds."""
    try:
        found = json.loads(body or b"{}", parse_constant=_refuse, parse_int=_whole_number)
        json.dumps(found, ensure_ascii=False).encode()  # half a character is no text, and no file or command takes it
    except (ValueError, RecursionError):
        raise LcifrError("the request is not JSON") from None
    if not isinstance(found, dict) or NUL.search(body):
        raise LcifrError("the request is not a JSON object, or contains a NUL character")
    return found


def _whole_number(text: str) -> int:
    return int(text) if abs(int(text)) <= LARGEST else _refuse(text)


def _refuse(text: str) -> Any:
    raise ValueError(text)


def command_words(*words: Any, **options: Any) -> list[str]:
    """The words after ``lcifr``: the command and its arguments, then options whose value is not empty.

    Values stand in the word of their option, so that none is taken for an option itself.
    """
    given: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            given.append(flag)
        elif value is not None and value is not False and value != "":
            given.append(f"{flag}={value}")
    return [str(word) for word in words] + given


def command_line(*words: Any, **options: Any) -> str:
    """The same as one line for a shell."""
    return shlex.join(["lcifr", *command_words(*words, **options)])


# WorkFolder: the one folder whose files the workbench reads and writes, and what is in it.

DEEPEST = 2
"""Folders below the one that was opened in which files are looked for."""
MOST = 2_000
"""Files that are looked at."""
TABLES = (".csv", ".tsv", ".parquet", ".pq", ".csv.gz", ".tsv.gz")
MODELS = (".onnx", ".skops", ".json", ".ubj", ".txt", ".model", ".bst", ".xgb", ".lgb", *PICKLE_SUFFIXES)
"""Of models that can be read, and of those that are refused with what to do instead."""
WORK, SCHEMA = ".work", "[attributes"


@dataclass(frozen=True)
class UnfinishedRun:
    """A run that was stopped: the folder that it was to become, and what made it."""

    out: str
    settings: RunSettings


@dataclass
class FolderListing:
    """Names of files and result folders by what they are, relative to the folder; cut : whether there are more."""

    tables: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    schemas: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    producers: list[str] = field(default_factory=list)
    consumers: list[str] = field(default_factory=list)
    audits: list[str] = field(default_factory=list)
    sweeps: list[str] = field(default_factory=list)
    unfinished: list[UnfinishedRun] = field(default_factory=list)
    cut: bool = False


class WorkFolder:
    """A folder, and the names below it."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise LcifrError(f"{root} is not a folder", fix="name a folder that exists, or none for this one")
        self.root = root.resolve()

    def path(self, name: str) -> Path:
        """What a name means; refused where it is outside the folder, by whatever way.

        Symbolic links are followed first: what counts is where a file lies.
        """
        parts = PurePosixPath(name).parts
        odd = not parts or "\\" in name or any(ord(sign) < 32 or ord(sign) == 127 for sign in name)
        odd = odd or is_remote(name)  # commands would take it for a place elsewhere
        if odd or PurePosixPath(name).is_absolute() or any(part.startswith((".", "-")) for part in parts):
            raise LcifrError(f"“{name}” is not the name of a file in the folder", fix="choose one that is listed")
        return self._inside(self.root.joinpath(*parts), name)

    def _inside(self, path: Path, name: str) -> Path:
        found = self._where(path)
        if found is None:
            raise LcifrError(f"“{name}” is outside the folder", fix="copy the file into the folder")
        return found

    def _where(self, path: Path) -> Path | None:
        """Where a file lies once links are followed; None for outside, and for a link that leads to itself."""
        try:
            found = path.resolve()
        except (OSError, RuntimeError):
            return None
        return found if found.is_relative_to(self.root) else None

    def file(self, name: str) -> Path:
        """A file that is there; the .toml beside it, which commands read by themselves, is inside as well."""
        found = self.path(name)
        if not found.is_file():
            raise LcifrError(f"{name}: there is no such file in {self.root.name}", fix="choose one that is listed")
        self._inside(self.root.joinpath(name).with_suffix(".toml"), name)
        return found

    def folder(self, name: str) -> Path:
        """A result folder, nothing in which leads out."""
        found = self.path(name)
        if not (found / RESULT).is_file():
            raise LcifrError(f"{name} is not a results folder", fix="choose one that is listed")
        for path in found.rglob("*"):
            if path.is_symlink():
                self._inside(path, f"{name}/{path.relative_to(found)}")
        return found

    def new(self, name: str, suffix: str = "") -> Path:
        """Where a file or folder may be written; the folder it lies in is there."""
        found = self.path(name)
        if not name.endswith(suffix):
            raise LcifrError(f"“{name}” does not end in {suffix}", fix=f"call it {name}{suffix}")
        if not found.parent.is_dir():
            raise LcifrError(f"{name}: there is no such folder", fix="name a file in a folder that exists")
        return found

    def schemas(self) -> list[str]:
        """Files that say what columns mean."""
        names = [name for name, _ in zip(self._names(self.root, 0), range(MOST), strict=False)]
        return [name for name in names if name.lower().endswith(".toml") and _holds(self.root / name, SCHEMA)]

    def listing(self) -> FolderListing:
        """Everything that the workbench can do something with."""
        found = FolderListing()
        for seen, name in enumerate(self._names(self.root, 0), start=1):
            if seen > MOST:
                found.cut = True
                break
            self._sort_in(name, found)
        return found

    def _names(self, folder: Path, depth: int) -> Iterator[str]:
        try:
            entries = sorted(os.scandir(folder), key=lambda one: one.name)
        except OSError:
            return
        for entry in entries:
            path = Path(entry.path)
            name = path.relative_to(self.root).as_posix()
            if self._where(path) is None or entry.name.startswith("-") or is_remote(name):
                continue
            if entry.name.startswith("."):
                if entry.name.endswith(WORK) and (path / SETTINGS).is_file():
                    yield name
            elif entry.is_dir() and not (path / RESULT).is_file() and depth < DEEPEST:
                yield from self._names(path, depth + 1)
            else:
                yield name

    def _sort_in(self, name: str, found: FolderListing) -> None:
        path, lower = self.root / name, name.lower()
        if path.is_dir():
            self._sort_folder(path, name, found)
        elif lower.endswith(TABLES):
            found.tables.append(name)
        elif lower.endswith(".phi"):
            found.formulas.append(name)
        elif lower.endswith(".toml"):
            if _holds(path, SCHEMA):
                found.schemas.append(name)
        elif lower.endswith(MODELS) and (lower.endswith((".onnx", ".skops", *PICKLE_SUFFIXES)) or _is_model(path)):
            found.models.append(name)

    def _sort_folder(self, path: Path, name: str, found: FolderListing) -> None:
        try:
            settings = RunSettings.read(path)
        except (LcifrError, OSError, ValueError):
            return
        if path.name.endswith(WORK):
            out = path.with_name(path.name.removeprefix(".").removesuffix(WORK))
            found.unfinished.append(UnfinishedRun(out.relative_to(self.root).as_posix(), settings))
            return
        decides = (path / "model.safetensors").is_file()
        for commands, names, fits in (
            (("produce", "tune"), found.producers, True),
            (("consume", "produce", "tune"), found.consumers, decides),
            (("audit",), found.audits, True),
            (("sweep",), found.sweeps, True),
        ):
            if settings.command in commands and fits:
                names.append(name)


def _holds(path: Path, text: str) -> bool:
    try:
        return text in path.read_text(encoding="utf-8-sig")[:100_000]
    except (OSError, UnicodeDecodeError):
        return False


def _is_model(path: Path) -> bool:
    try:
        recognise(path)
    except (LcifrError, OSError):
        return False
    return True


# The built-in example: German credit data, a schema, a formula to change, and the command that learns a model.

TABLE, TRAINING, EXAMPLE_SCHEMA, PHI, MODEL = (
    "german.csv",
    "german-train.csv",
    "german.toml",
    "german.phi",
    "german-model",
)
FORMULA = """\
# Who counts as similar? An example to read and to change.
# These must not matter, and say so:
free(sex, foreign_worker, telephone, housing, job, property) and
# Everything else that has a name is the same, and numbers are close.
same(categorical except sex, foreign_worker, telephone, housing, job, property) and
duration within 6 and
credit_amount within 1000 and
age within 10 and
installment_rate, existing_credits within 1 and
residence_since within 2 and
same(dependents)
"""


@dataclass(frozen=True)
class WrittenExample:
    """Files that were written, and the words of the command that learns the model."""

    files: tuple[str, ...]
    words: list[str]


def write_example(folder: WorkFolder) -> WrittenExample:
    """Write the files of the example; refused where one of their names is taken."""
    from lcifr.datasets import load

    names = (TABLE, TRAINING, EXAMPLE_SCHEMA, PHI)
    taken = [name for name in (*names, MODEL) if folder.path(name).exists()]
    if taken:
        raise LcifrError(f"already in the folder: {', '.join(taken)}", fix="open the workbench in an empty folder")
    data = load("german")
    for name, people in ((TABLE, data.test), (TRAINING, data.train)):
        frame = people.X.assign(**{str(data.schema.target): people.y})
        write_atomic(folder.new(name), frame.to_csv(index=False).encode())
    data.schema.save(folder.new(EXAMPLE_SCHEMA))
    write_atomic(folder.new(PHI), FORMULA.encode())
    options = {"phi": PHI, "target": data.schema.target, "learner": "trees", "gamma": 0, "out": MODEL}
    return WrittenExample(names, command_words("produce", TRAINING, schema=EXAMPLE_SCHEMA, **options))
