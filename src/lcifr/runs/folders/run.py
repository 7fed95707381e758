"""One new folder per run, whole or not at all, with the settings that made it.

    OUT/settings.json   command, every argument, seed, versions, dates, hashes of what was read and of what was written
    OUT/result.json     what ``--json`` prints
    OUT/…               what the command makes; docs/cli.md lists it

Work happens in ``.OUT.work`` beside it, by one run at a time: ``.OUT.lock`` says which. A run that was stopped leaves
that folder, and the same command goes on there.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.runs.events import Resumed, emit, note
from lcifr.runs.folders.settings import SETTINGS, Command, RunSettings

if TYPE_CHECKING:
    from lcifr.runs.folders.settings import Steps

RESULT = "result.json"
KEPT = ".parts"  # folders whose files are named by everything they depend on: right for any later run


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
        from lcifr.runs.folders.settings import Steps

        return Steps(self.work)

    def finish(self, result: Mapping[str, Any]) -> None:
        """Write what ``--json`` prints."""
        from lcifr.data.files import write_json

        write_json(self.work / RESULT, result)


@contextmanager
def run_folder(command: Command, out: Path, *, force: bool, inputs: Mapping[str, Path]) -> Iterator[Run]:
    """A folder to work in that becomes ``out`` when all is done, here or in an object store.

    Parameters
    ----------
    inputs : for each argument that names a file or folder, what it names; their hashes are kept.
    """
    _refuse_odd_name(out)
    with _staged(out, force) as local, _local_folder(command, local, force, inputs) as run:
        yield run


def _staged(out: Path, force: bool) -> AbstractContextManager[Path]:
    from lcifr.data.files import is_remote

    if not is_remote(out):
        return nullcontext(out)
    from lcifr.runs.folders.staging import staged

    return staged(out, force)


@contextmanager
def _local_folder(command: Command, out: Path, force: bool, inputs: Mapping[str, Path]) -> Iterator[Run]:
    from lcifr.data.files import locked

    with notes(), locked(out, command.words(out)):
        _refuse_existing(out, force)
        settings = RunSettings.of(command, inputs)
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
    from lcifr.data.files import ChangedFileWarning, NoLockWarning
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


def shown(out: Path) -> str:
    """A place of results as the user wrote it: ``pathlib`` folds the slashes of a URI."""
    from lcifr.data.files import StoragePlace

    return str(StoragePlace.of(out))


def read_result(folder: Path, command: str, *others: str) -> dict[str, Any]:
    """What a command said, once the folder really is that command's, or that of one that does the same work."""
    from lcifr.data.files import read_json

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
            fix=f"give the folder that `lcifr {command}` wrote, see --help",
        )
    return found


def command_of_folder(folder: Path, *commands: str) -> str:
    """Which of these commands wrote a folder; refused where it was none of them."""
    from lcifr.data.files import read_json

    *first, last = (f"`lcifr {command}`" for command in commands)
    names = f"{', '.join(first)} or {last}" if first else last
    if not folder.is_dir():
        raise LcifrError(f"{folder}: there is no such folder", fix=f"give the folder that {names} wrote")
    if not (folder / RESULT).is_file():
        raise LcifrError(f"{folder} holds no {RESULT}", fix=f"give a folder that {names} wrote")
    found = read_json(folder / RESULT)
    named = found.get("command") if isinstance(found, dict) else None
    if named not in commands:
        raise LcifrError(f"{folder} was written by `lcifr {named}`", fix=f"give a folder that {names} wrote")
    return str(named)


@contextmanager
def fitting_together(folder: Path) -> Iterator[None]:
    """Refuse a folder with a missing or odd value, in words instead of Python's own."""
    from lcifr.errors import ArtefactError

    try:
        yield
    except (KeyError, TypeError, ValueError) as problem:
        if isinstance(problem, LcifrError):
            raise
        raise ArtefactError(f"{folder}: its contents are inconsistent: {problem!r}") from None


# -- the folder itself -------------------------------------------------------------------------------------------------


def _refuse_odd_name(out: Path) -> None:
    if not out.name or out.name in (".", ".."):
        raise LcifrError(f"--out {out} is not a valid name for a new folder", fix="for example --out results")


def _refuse_existing(out: Path, force: bool, found: str = "already exists", kept: str = "") -> None:
    if not (out.exists() or out.is_symlink()):
        return
    if not force:
        raise LcifrError(f"{out} {found}{kept}", fix="choose another --out, or use --force to replace it")
    if out.is_symlink() or not (out / SETTINGS).is_file():
        raise LcifrError(
            f"{out} was not written by lcifr, so --force will not replace it{kept}", fix="remove it yourself"
        )


def _enter(work: Path, settings: RunSettings) -> bool:
    """Begin, or go on where the very same run was stopped; then True."""
    from lcifr.data.files import write_json

    try:
        same = (work / SETTINGS).is_file() and settings.is_same_run(RunSettings.read(work))
    except (LcifrError, OSError, ValueError):  # half written, or of another version
        same = False
    if work.is_dir() and not same:
        for found in work.iterdir():  # parts stay: they are used only where they are what would be computed again
            if found.is_dir() and not found.name.endswith(KEPT):
                shutil.rmtree(found)
            elif not found.is_dir():
                found.unlink()
    work.mkdir(parents=True, exist_ok=True)
    write_json(work / SETTINGS, settings.to_dict())
    if same:
        emit(Resumed(work))
    return same


def _finish(work: Path, out: Path, settings: RunSettings, force: bool) -> None:
    """Give the folder its name; one that appeared meanwhile is replaced only where that was asked for."""
    from lcifr.data.files import describe_contents, now, write_json

    kept = f"; what was made is kept in {work}"
    _refuse_existing(out, force, "has appeared while this was being made", kept)
    for leftover in list(work.rglob(".*")):  # of writers that were killed
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
    files = {name: digest for name, digest in describe_contents(work).items() if name != SETTINGS}
    write_json(work / SETTINGS, replace(settings, finished=now(), files=files).to_dict())
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
