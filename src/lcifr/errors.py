"""Every error of lcifr: where it is, what was found and expected, and how to fix it."""

from __future__ import annotations

import difflib
import errno
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``' Did you mean "age"?'`` for the nearest known name, or an empty string."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not near:  # difflib is case-sensitive, people are not
        folded = {known_name.casefold(): known_name for known_name in reversed(names)}
        near = [folded[match] for match in difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)]
    return f' Did you mean "{near[0]}"?' if near else ""


class LcifrError(Exception):
    """The base of every error that lcifr raises on purpose.

    Parameters
    ----------
    message
        Where, what was found, and what was expected.
    fix
        What the user can do about it; printed as ``Fix: …``.
    """

    def __init__(self, message: str, *, fix: str | None = None) -> None:
        self.fix = fix
        super().__init__(f"{message}\nFix: {fix}" if fix else message)


@dataclass(frozen=True)
class TableProblem:
    """One thing that is wrong with a table.

    ``row`` counts from 0, the header not included; it is None where the problem is not about one row.
    """

    message: str
    column: str | None = None
    row: int | None = None

    def __str__(self) -> str:
        place = [f'column "{self.column}"'] if self.column is not None else []
        place += [f"row {self.row}"] if self.row is not None else []
        return f"{', '.join(place)}: {self.message}" if place else self.message

    def among(self, rows: Sequence[int]) -> TableProblem:
        """The same of a larger table, of which these rows were looked at."""
        return self if self.row is None else replace(self, row=rows[self.row])


NO_VALUE = "the value is missing"
"""The problem with an empty field."""
NO_SCALE = "so it has no scale"
"""How the problem with a number ends that is the same for everyone, where it would be standardised."""
LEAVE_OUT_FLAT = (
    "leave the column out (`lcifr init --drop COLUMN`): nothing can be learned from a number that does not vary"
)


def no_such_file(path: str | Path, fix: str = "check the path") -> LcifrError:
    """A file that was named and is not there; its folder may hold one of nearly that name."""
    there: list[str] = []
    with suppress(OSError):
        there += sorted(one.name for one in Path(path).parent.iterdir() if one.is_file() and _is_users(one.name))
    return LcifrError(f"{path}: there is no such file.{did_you_mean(Path(path).name, there)}", fix=fix)


TEMPORARY = (".lock", ".tmp", ".temp", ".part", ".bak", ".swp", "~")
"""Endings of files that programs keep for themselves."""


def _is_users(name: str) -> bool:
    """Whether a person would name this file: neither hidden nor temporary."""
    return not name.startswith(".") and not name.lower().endswith(TEMPORARY)


SYSTEM_FIXES = {
    errno.EACCES: "check the permissions, or choose another file or folder",
    errno.EPERM: "check the permissions, or choose another file or folder",
    errno.EROFS: "choose a folder that can be written to",
    errno.EISDIR: "give a file, not a folder",
    errno.ENOTDIR: "check the path: a file stands where a folder is expected",
    errno.EEXIST: "choose another name",
    errno.ENOSPC: "free some space on the disk, and run the same command again",
    errno.ENAMETOOLONG: "choose a shorter name",
}
"""What to do about errors of the operating system."""


def system_error(error: OSError) -> LcifrError:
    """An error of the operating system: the file, what is wrong with it, and what to do about it."""
    if isinstance(error, FileNotFoundError):
        return no_such_file(error.filename or str(error))
    where = f"{error.filename}: " if error.filename else ""
    fix = SYSTEM_FIXES.get(error.errno or 0, "check the path and its permissions")
    return LcifrError(f"{where}{error.strerror or error}", fix=fix)


EXTRAS = {
    "torch": "learn",
    "xgboost": "trees",
    "lightgbm": "trees",
    "interpret": "trees",
    "onnx": "onnx",
    "onnxruntime": "onnx",
    "skops": "skops",
    "matplotlib": "plot",
    "fairlearn": "fairlearn",
    "cryptography": "sign",
    "starlette": "workbench",
    "uvicorn": "workbench",
    "ray": "ray",
    "gurobipy": "gurobi",
}
"""The extra of lcifr that installs each optional package, by the name that is imported."""


class MissingExtraError(LcifrError, ModuleNotFoundError):
    """An optional package that is needed and not installed; the fix is the line that installs it."""

    def __init__(self, message: str, *, fix: str, name: str) -> None:
        super().__init__(message, fix=fix)
        self.name = name


def missing_extra(error: ModuleNotFoundError, purpose: str) -> ModuleNotFoundError:
    """The error with the line that installs the package; unchanged if no extra of lcifr has it."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        return error
    why = f"{purpose} needs {package}, which is not installed"
    return MissingExtraError(why, fix=f'pip install "lcifr[{EXTRAS[package]}]"', name=package)


class SchemaError(LcifrError, ValueError):
    """A schema that contradicts itself, or a schema file that cannot be read."""


class TableError(LcifrError, ValueError):
    """A table that does not fit its schema. ``problems`` holds every problem found, not only those printed."""

    SHOWN = 20  # a wrong column can have a million bad rows; the whole list is in `problems`
    OF_A_COLUMN = 3  # where there are more than that, so that one column does not hide what is wrong with the others

    def __init__(self, problems: Sequence[TableProblem], *, source: str = "the table", fix: str | None = None) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = [f"{source} has {count} problem{'s' if count != 1 else ''} (rows count from 0):"]
        shown = self._shown()
        lines += [f"  - {problem}" for problem in shown]
        if count > len(shown):
            lines.append(f"  … and {count - len(shown)} more (not shown){self._by_column()}")
        super().__init__("\n".join(lines), fix=fix)

    def _shown(self) -> list[TableProblem]:
        if len(self.problems) <= self.SHOWN:
            return list(self.problems)
        seen: Counter[str | None] = Counter()
        first = []
        for problem in self.problems:
            seen[problem.column] += 1
            if problem.column is None or seen[problem.column] <= self.OF_A_COLUMN:
                first.append(problem)
        return first[: self.SHOWN]

    def _by_column(self) -> str:
        many = [
            f'{rows} in "{name}"'
            for name, rows in Counter(problem.column for problem in self.problems).items()
            if name is not None and rows > self.OF_A_COLUMN
        ]
        return f"; in total {', '.join(many[: self.SHOWN])}" if many else ""


class SimilarityError(LcifrError, ValueError):
    """A formula that cannot be read, or that says something the language refuses.

    ``source``, ``line`` and ``column`` (both from 1) say where; they are None where there is no text to point at.
    """

    def __init__(
        self,
        message: str,
        *,
        fix: str | None = None,
        source: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        self.source, self.line, self.column = source, line, column
        super().__init__(message, fix=fix)


class RegionError(LcifrError, ValueError):
    """A region that cannot be built: no bounds, too many cells, shapes that do not fit."""


class NetworkError(LcifrError, ValueError):
    """A network that cannot be represented as affine layers with ReLU between."""


class UntrustedResultError(LcifrError, RuntimeError):
    """A backend contradicted itself or the facts: no result of this run can be trusted."""


class DatasetError(LcifrError):
    """A dataset that is unknown, not there, or not what it should be."""


class LearningError(LcifrError, ValueError):
    """Settings or labels that nothing can be learned from, or a saved model that cannot be used."""


class ArtefactError(LcifrError, ValueError):
    """A hand-over or an audit bundle that does not add up: truncated, altered, foreign, or of another version."""
