"""Result folders: one new folder per run, whole or not at all, with the settings that made it; also in stores."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, final

from platformdirs import user_cache_path

from lcifr.data.codec import JsonError, Record, key
from lcifr.data.files import StoragePlace
from lcifr.errors import LcifrError
from lcifr.workflows.events import Resumed, StepKind, emit, note, step

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


# The settings of a run as ``settings.json``, and the steps of it that are done, for a run that is resumed.
#
# Settings are the command, its arguments, versions and hashes of what was read and written. A step is known by the
# files and folders that it writes, kept with their hashes, so that a resumed run trusts nothing else. Notes of steps
# lie in ``.steps.json`` of the folder that is worked in, which goes with all that is hidden when the run has ended.

SETTINGS, FORMAT = "settings.json", "lcifr-run-1"
WHERE = ("out", "force")  # where results go, not what they are
LASTING = ("command", "arguments", "argv", "seed", "versions", "inputs")  # the same in every run that may be resumed


@dataclass(frozen=True)
class Command:
    """What was asked for.

    Parameters
    ----------
    name : of the command. arguments : by name; all that the results depend on.
    argv : the words after ``lcifr`` that say the same again, defaults included; none where Python asked.
    libraries : versions of the libraries that read a model and answer for it; none for what lcifr learned.
    """

    name: str
    arguments: Mapping[str, Any]
    argv: tuple[str, ...] = ()
    libraries: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        request: DataclassInstance,
        argv: Sequence[str] = (),
        libraries: Mapping[str, str] | None = None,
    ) -> Command:
        """The command that a request is for; the command line adds the words that say it again."""
        left_out = (*WHERE, *getattr(request, "unused", ()))
        names = [one.name for one in fields(request) if one.name not in left_out]
        return cls(name, {one: getattr(request, one) for one in names}, tuple(argv), libraries or {})

    def words(self, out: Path) -> str:
        """A line that runs it again, to be pasted."""
        return shlex.join(["lcifr", self.name, "--out", str(out), *self.argv[1:]])


@dataclass(frozen=True)
class RunInput:
    """A file or folder that a run reads, and the SHA-256 of its content."""

    path: str
    sha256: str

    @classmethod
    def of(cls, path: Path) -> RunInput:
        """The file, or everything in the folder but its settings, which hold dates."""
        from lcifr.data.files import is_remote, sha256_of

        if is_remote(path):  # by names, sizes and dates: a store hands out no hashes
            place = StoragePlace.of(path)
            return cls(place.text, place.digest())
        if path.is_file():
            return cls(str(path), sha256_of(path))
        digest = hashlib.sha256()
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.name != SETTINGS:
                digest.update(f"{file.relative_to(path).as_posix()} {sha256_of(file)}\n".encode())
        return cls(str(path), digest.hexdigest())


@dataclass(frozen=True)
class RunSettings(Record):
    """Everything that a run depends on, and what it wrote.

    Parameters
    ----------
    command, arguments, argv, seed : what was asked for. versions : of Python and of the packages that compute.
    inputs : what was read, by argument. started, finished : UTC. files : hashes of what was written; empty before.
    """

    head = ("format",)
    format: ClassVar[str] = FORMAT
    command: str
    arguments: Mapping[str, Any]
    argv: tuple[str, ...]
    seed: int | None
    versions: Mapping[str, str]
    inputs: Mapping[str, RunInput]
    started: str
    finished: str | None = field(default=None, metadata=key(omit=True))
    files: Mapping[str, str] = field(default_factory=dict, metadata=key(omit=True))

    @classmethod
    def of(cls, command: Command, inputs: Mapping[str, Path]) -> RunSettings:
        """The settings of a run that begins now."""
        from lcifr.data.files import now

        arguments = {name: _plain(value) for name, value in command.arguments.items()}
        return cls(
            command.name,
            arguments,
            tuple(command.argv),
            arguments.get("seed"),
            {**current_versions(), **command.libraries},
            {name: RunInput.of(path) for name, path in inputs.items()},
            now(),
        )

    def is_same_run(self, other: RunSettings) -> bool:
        """Whether the other run does the very same, whenever it began."""
        return all(getattr(self, name) == getattr(other, name) for name in LASTING)

    @classmethod
    def read(cls, folder: Path) -> RunSettings:
        """The settings of a result folder."""
        from lcifr.data.files import read_json

        path = folder / SETTINGS
        if not path.is_file():
            raise LcifrError(f"{folder} holds no {SETTINGS}", fix="give a folder that a command of lcifr wrote")
        found = read_json(path)
        try:
            if found["format"] == FORMAT:
                return cls.from_dict(found)
        except (KeyError, TypeError, JsonError):
            pass
        raise LcifrError(f"{path} is not of the format {FORMAT}", fix="give the folder as it was written")


def current_versions() -> dict[str, str]:
    """The versions of Python and of the packages that compute."""
    from lcifr.data.files import versions

    return {"python": platform.python_version(), **versions()}


def _installed(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return value if isinstance(value, str | int | float | bool | None) else str(value)


NOTES = ".steps.json"


@final
class Steps:
    """What is done in a folder that is worked in.

    Parameters
    ----------
    work : the folder; no one else works in it.
    """

    def __init__(self, work: Path) -> None:
        self.work = work

    def kept(self, *names: str) -> bool:
        """Whether a step wrote these, and they are what it wrote. If not, nothing of them is left."""
        from lcifr.data.files import first_change

        note = self._notes().get(names[0])
        changed = None if note is None else first_change(self.work, note)
        if note is not None and changed is None:
            return True
        if changed is not None:
            text = f"{self.work / changed} has changed since the last run wrote it, so it is made again"
            warnings.warn(text, ChangedPartWarning, stacklevel=2)
        for name in names:
            _remove(self.work / name)
        return False

    def keep(self, *names: str) -> None:
        """These are written, all of them."""
        from lcifr.data.files import describe_contents, write_json

        write_json(self.work / NOTES, self._notes() | {names[0]: describe_contents(self.work, *names)})

    def _notes(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads((self.work / NOTES).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def unchanged_settings(folder: Path) -> RunSettings:
    """The settings of a result folder, whose inputs are there and unchanged; other versions are noted."""
    settings = RunSettings.read(folder)
    _refuse_changed_inputs(settings)
    versions = current_versions()
    for name, before in settings.versions.items():
        now = versions.get(name) or _installed(name)
        if now != before:
            note(f"{name} was {before} then and is {now or 'not installed'} now: results may differ slightly")
    return settings


def _refuse_changed_inputs(settings: RunSettings) -> None:
    from lcifr.data.files import is_remote

    for name, before in settings.inputs.items():
        path = Path(before.path)
        if not (path.exists() or is_remote(path)):
            raise LcifrError(f"{path} ({name}) is missing", fix="run it from the original folder")
        if RunInput.of(path) != before:
            raise LcifrError(f"{path} ({name}) has changed: its hash differs", fix="restore the original file")


# One new folder per run, whole or not at all, with the settings that made it.
#
#     OUT/settings.json   command, every argument, seed, versions, dates, hashes of inputs and outputs
#     OUT/result.json     what ``--json`` prints
#     OUT/…               what the command makes; docs/cli.md lists it
#
# Work happens in ``.OUT.work`` beside it, by one run at a time: ``.OUT.lock`` says which. A run that was stopped leaves
# that folder, and the same command resumes there.

RESULT = "result.json"
KEPT = ".parts"  # folders whose files are named by everything they depend on: right for any later run


class PartsWarning(UserWarning):
    """Something that a stopped run left is not used, and made again."""


class OtherVersionWarning(PartsWarning):
    """It was made by another version of lcifr."""


class ChangedPartWarning(PartsWarning):
    """It is not what that run has written."""


class RunStopped(KeyboardInterrupt):
    """Ctrl-C; the message says what is kept and how to resume."""


@dataclass
class Run:
    """One run of a command: the folder it works in, and what is lost when it is stopped now."""

    work: Path
    resumed: bool
    lost: str = ""

    @property
    def steps(self) -> Steps:
        """What is done in the folder, and need not be done again."""

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
            how = "To resume, run the same command again. To discard it, remove that folder."
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
        raise ArtefactError(f"{folder}: its contents are inconsistent: {problem}") from None


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
    """Begin, or resume where the very same run was stopped; True if it resumes."""
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


# Results in an object store: made in a folder of this machine, then uploaded, the settings last.
#
# ``settings.json`` lists every file with its hash and is the commit: a store has no folders that could be renamed, so
# what lies there without it is no result. Parts of large runs are kept in the store too while a run is under way, so
# that the same command resumes from any machine.

PARTS_THERE = ".parts/"
"""Where parts lie in the place of a result in a store."""


@contextmanager
def staged(out: Path, force: bool) -> Iterator[Path]:
    """A local folder whose content is uploaded to ``out``, a place in a store, when all is done."""
    place = StoragePlace.of(out)
    before = _refuse_results_there(place, force)
    local = user_cache_path("lcifr") / "runs" / hashlib.sha256(place.text.encode()).hexdigest()[:16] / out.name
    if local.exists():  # finished, and stopped before all of it was uploaded
        shutil.rmtree(local)
    with keeping_parts(place):
        yield local
    _upload(local, place, before)
    shutil.rmtree(local.parent, ignore_errors=True)


def _refuse_results_there(place: StoragePlace, force: bool) -> set[str]:
    """What is there, parts aside, and may be replaced."""
    there = {name for name in place.files() if not name.startswith(PARTS_THERE)}
    if SETTINGS in there and not force:
        raise LcifrError(f"{place} already exists", fix="choose another --out, or use --force to replace it")
    if there and SETTINGS not in there and not force:
        raise LcifrError(
            f"{place} contains {len(there)} files but no {SETTINGS}; "
            "it may be an interrupted upload, or belong to someone else",
            fix="choose another --out, or use --force to replace them",
        )
    return there


def _upload(local: Path, place: StoragePlace, before: set[str]) -> None:
    """Upload everything, the settings last; remove parts and what was there ``before``. Refuse if more has appeared."""
    strange = {name for name in place.files() if not name.startswith(PARTS_THERE)} - before
    if strange:
        raise LcifrError(
            f"{place}: {min(strange)} has appeared while this was being made",
            fix="run the same command again with another --out; what is done is kept",
        )
    files = sorted(path for path in local.rglob("*") if path.is_file() and path.name != SETTINGS)
    if SETTINGS in before:  # --force: from here on there is no result until the new one is whole
        place.delete(SETTINGS)
    with step(f"Uploading to {place}", StepKind.COUNT) as progress:
        for number, path in enumerate(files):
            progress(number, len(files))
            place.upload(path, path.relative_to(local).as_posix())
    uploaded = place.files()
    for path in files:
        name = path.relative_to(local).as_posix()
        if name not in uploaded or uploaded[name].size != path.stat().st_size:
            raise LcifrError(f"{place}: {name} is not there as it was written", fix="run the same command again")
    place.upload(local / SETTINGS, SETTINGS)
    kept = {path.relative_to(local).as_posix() for path in files} | {SETTINGS}
    for name in set(place.files()) - kept:
        if name in before or name.startswith(PARTS_THERE):
            place.delete(name)


# -- parts in an object store: kept where the result will be, so that another machine can resume with them -------------

_place: ContextVar[StoragePlace | None] = ContextVar("place", default=None)


@contextmanager
def keeping_parts(place: StoragePlace) -> Iterator[None]:
    """Parts that are stored inside are kept in this place as well, until the result is there."""
    before = _place.set(place)
    try:
        yield
    finally:
        _place.reset(before)


def fetch_parts(folder: Path) -> None:
    """Copy parts that another machine made into this folder; :meth:`PartFiles.find` refuses what does not fit."""
    if (place := _place.get()) is None:
        return
    for name in place.files():
        local = folder / name.removeprefix(PARTS_THERE)
        if name.startswith(PARTS_THERE) and "/" not in name.removeprefix(PARTS_THERE) and not local.exists():
            local.write_bytes(place.read(name))


def keep_part(path: Path) -> None:
    """Keep a part that was just stored."""
    if (place := _place.get()) is not None:
        place.upload(path, f"{PARTS_THERE}{path.name}")
