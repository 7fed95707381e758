"""One new folder per run, whole or not at all, with the settings that made it.

    OUT/settings.json   command, every argument, seed, versions, dates, hashes of what was read and of what was written
    OUT/result.json     what ``--json`` prints
    OUT/…               what the command makes; docs/cli.md lists it

Work happens in ``.OUT.work`` beside it, by one run at a time: ``.OUT.lock`` says which. A run that was stopped leaves
that folder, and the same command goes on there.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.files import write_json
from lcifr.locking import locked
from lcifr.runs.events import Resumed, emit, note

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from lcifr.runs.steps import Steps

SETTINGS, RESULT, FORMAT = "settings.json", "result.json", "lcifr-run-1"
WHERE = ("out", "force")  # where results go, not what they are
KEPT = ".parts"  # folders whose files are named by everything they depend on: right for any later run


@dataclass(frozen=True)
class Command:
    """What was asked for.

    Parameters
    ----------
    name : of the command. arguments : by name; all that the results depend on.
    argv : the words after ``lcifr`` that say the same again, defaults included; none where Python asked.
    """

    name: str
    arguments: Mapping[str, Any]
    argv: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, request: DataclassInstance, argv: Sequence[str] = ()) -> Command:
        """The command that a request is for; the command line adds the words that say it again."""
        names = [one.name for one in fields(request) if one.name not in WHERE]
        return cls(name, {one: getattr(request, one) for one in names}, tuple(argv))

    def words(self, out: Path) -> str:
        """A line that runs it again, to be pasted."""
        return shlex.join(["lcifr", self.name, "--out", str(out), *self.argv[1:]])


class RunStopped(KeyboardInterrupt):
    """Ctrl-C, with what is kept and how to go on."""


@dataclass
class Run:
    """One run of a command: the folder it works in, and what is lost when it is stopped now."""

    work: Path
    resumed: bool
    lost: str = ""

    @property
    def steps(self) -> Steps:
        """What is done in the folder, and need not be done again."""
        from lcifr.runs.steps import Steps

        return Steps(self.work)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Write what ``--json`` prints."""
        write_json(self.work / RESULT, result)


@contextmanager
def run_folder(command: Command, out: Path, *, force: bool, inputs: Mapping[str, Path]) -> Iterator[Run]:
    """A folder to work in that becomes ``out`` when all is done.

    Parameters
    ----------
    inputs : for each argument that names a file or folder, what it names; their hashes are kept.
    """
    _refuse_odd_name(out)
    with notes(), locked(out, command.words(out)):
        _refuse_existing(out, force)
        settings = settings_of(command, inputs)
        work = out.with_name(f".{out.name}.work")
        run = Run(work, _enter(work, settings))
        try:
            yield run
        except KeyboardInterrupt:
            kept = f"Stopped. {run.lost} What is done is kept in {work}.".replace("  ", " ")
            how = "To go on, run the same command again. To forget it, remove that folder."
            raise RunStopped(f"{kept}\n{how}") from None
        except LcifrError:
            if not any(work.rglob(f".*{KEPT}")):
                shutil.rmtree(work, ignore_errors=True)
            raise
        _finish(work, out, settings, force)


@contextmanager
def notes() -> Iterator[None]:
    """What a run warns of while it is resumed or cannot be locked, as a line for people."""
    from lcifr.files import ChangedFileWarning
    from lcifr.locking import NoLockWarning
    from lcifr.runs.streaming.parts import PartsWarning

    shown, show = (PartsWarning, NoLockWarning, ChangedFileWarning), warnings.showwarning

    def show_note(message: Warning | str, category: type[Warning], *at: Any, **line: Any) -> None:
        if issubclass(category, shown):
            note(str(message))
        else:
            show(message, category, *at, **line)

    with warnings.catch_warnings():
        for category in shown:
            warnings.simplefilter("always", category)
        warnings.showwarning = show_note
        yield


def settings_of(command: Command, inputs: Mapping[str, Path]) -> dict[str, Any]:
    """Everything that a run depends on."""
    from lcifr.certification.producer import versions

    return {
        "format": FORMAT,
        "command": command.name,
        "arguments": {name: _plain(value) for name, value in command.arguments.items()},
        "argv": list(command.argv),
        "seed": command.arguments.get("seed"),
        "versions": {"python": _python(), **versions()},
        "inputs": {name: describe_input(path) for name, path in inputs.items()},
        "started": _now(),
    }


def describe_input(path: Path) -> dict[str, Any]:
    """Name and hash of a file, or of everything in a folder but the settings, which hold dates."""
    import hashlib

    from lcifr.artifacts.folder import sha256

    if path.is_file():
        return {"path": str(path), "sha256": sha256(path)}
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        if file.is_file() and file.name != SETTINGS:
            digest.update(f"{file.relative_to(path).as_posix()} {sha256(file)}\n".encode())
    return {"path": str(path), "sha256": digest.hexdigest()}


def read_settings(folder: Path) -> dict[str, Any]:
    """The settings of a result folder."""
    from lcifr.artifacts.folder import read_json

    if not (folder / SETTINGS).is_file():
        raise LcifrError(f"{folder} holds no {SETTINGS}", fix="give a folder that a command of lcifr wrote")
    found = read_json(folder / SETTINGS)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise LcifrError(f"{folder / SETTINGS} is not of the format {FORMAT}")
    return found


def read_result(folder: Path, command: str, *others: str) -> dict[str, Any]:
    """What a command said, once the folder really is that command's, or that of one that does the same work."""
    from lcifr.artifacts.folder import read_json

    if not folder.is_dir():
        raise LcifrError(f"{folder}: there is no such folder", fix=f"give the folder that `lcifr {command}` wrote")
    if not (folder / RESULT).is_file():
        raise LcifrError(f"{folder} was not written by `lcifr {command}`", fix=f"run `lcifr {command} --help`")
    found = read_json(folder / RESULT)
    if isinstance(found, dict) and found.get("command") == "tune" and "tune" in others and not found.get("chosen"):
        raise LcifrError(f"{folder} holds no model: `lcifr tune` chose none", fix="its result.json says why")
    if not isinstance(found, dict) or found.get("command") not in (command, *others):
        named = found.get("command") if isinstance(found, dict) else None
        raise LcifrError(
            f"{folder} was written by `lcifr {named}`, expected one by `lcifr {command}`",
            fix="give the folders in the order that --help shows",
        )
    return found


# -- the folder itself -------------------------------------------------------------------------------------------------


def _refuse_odd_name(out: Path) -> None:
    if not out.name or out.name in (".", ".."):
        raise LcifrError(f"--out {out} is no name for a new folder", fix="for example --out results")


def _refuse_existing(out: Path, force: bool, found: str = "exists already", kept: str = "") -> None:
    if not (out.exists() or out.is_symlink()):
        return
    if not force:
        raise LcifrError(f"{out} {found}{kept}", fix="choose another --out, or say --force to replace it")
    if out.is_symlink() or not (out / SETTINGS).is_file():
        raise LcifrError(
            f"{out} was not written by lcifr, so --force does not replace it{kept}", fix="remove it yourself"
        )


def _enter(work: Path, settings: dict[str, Any]) -> bool:
    """Begin, or go on where the very same run was stopped; then True."""
    try:
        before = json.loads((work / SETTINGS).read_text(encoding="utf-8"))
        same = _lasting(before) == _lasting(json.loads(json.dumps(settings)))
    except (OSError, ValueError, TypeError):
        same = False
    if work.is_dir() and not same:
        for found in work.iterdir():  # parts stay: they are used only where they are what would be computed again
            if found.is_dir() and not found.name.endswith(KEPT):
                shutil.rmtree(found)
            elif not found.is_dir():
                found.unlink()
    work.mkdir(parents=True, exist_ok=True)
    write_json(work / SETTINGS, settings)
    if same:
        emit(Resumed(work))
    return same


def _lasting(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings without what is another one each time."""
    return {name: value for name, value in settings.items() if name not in ("started", "finished", "files")}


def _finish(work: Path, out: Path, settings: dict[str, Any], force: bool) -> None:
    """Give the folder its name; one that appeared meanwhile is replaced only where that was asked for."""
    from lcifr.artifacts.contents import describe_contents

    kept = f"; what was made is kept in {work}"
    _refuse_existing(out, force, "has appeared while this was being made", kept)
    for leftover in list(work.rglob(".*")):  # of writers that were killed
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
    files = {name: digest for name, digest in describe_contents(work).items() if name != SETTINGS}
    write_json(work / SETTINGS, settings | {"finished": _now(), "files": files})
    old = out.with_name(f".{out.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if out.exists():  # --force: the old one goes when the new one is there
        os.rename(out, old)
    try:
        os.rename(work, out)
    except OSError:
        _refuse_existing(out, False, "has appeared while this was being made", kept)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _python() -> str:
    import platform

    return platform.python_version()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
