"""The settings of a run as ``settings.json``, and the steps of it that are done, for a run that is resumed.

Settings are the command, its arguments, versions and hashes of what was read and written. A step is known by the files
and folders that it writes, kept with their hashes, so that a resumed run trusts nothing else. Notes of steps lie in
``.steps.json`` of the folder that is worked in, which goes with all that is hidden when the run has ended.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from lcifr.errors import LcifrError
from lcifr.runs.events import note

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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
        names = [one.name for one in fields(request) if one.name not in WHERE]
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
        from lcifr.data.files import StoragePlace, is_remote, sha256_of

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
class RunSettings:
    """Everything that a run depends on, and what it wrote.

    Parameters
    ----------
    command, arguments, argv, seed : what was asked for. versions : of Python and of the packages that compute.
    inputs : what was read, by argument. started, finished : UTC. files : hashes of what was written; empty before.
    """

    command: str
    arguments: Mapping[str, Any]
    argv: tuple[str, ...]
    seed: int | None
    versions: Mapping[str, str]
    inputs: Mapping[str, RunInput]
    started: str
    finished: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)

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

    def to_dict(self) -> dict[str, Any]:
        """The content of ``settings.json``."""
        ended = () if self.finished else ("finished", "files")
        said = {name: value for name, value in asdict(self).items() if name not in ended}
        return {"format": FORMAT, **said, "argv": list(self.argv)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> RunSettings:
        """What :meth:`to_dict` gave; KeyError or TypeError where something is missing or odd."""
        known = {one.name: plain[one.name] for one in fields(cls) if one.name in plain}
        inputs = {str(name): RunInput(**one) for name, one in plain["inputs"].items()}
        return cls(**known | {"argv": tuple(map(str, plain["argv"])), "inputs": inputs})

    @classmethod
    def read(cls, folder: Path) -> RunSettings:
        """Of a result folder."""
        from lcifr.data.files import read_json

        path = folder / SETTINGS
        if not path.is_file():
            raise LcifrError(f"{folder} holds no {SETTINGS}", fix="give a folder that a command of lcifr wrote")
        found = read_json(path)
        try:
            if found["format"] == FORMAT:
                return cls.from_dict(found)
        except (KeyError, TypeError, AttributeError):
            pass
        raise LcifrError(f"{path} is not of the format {FORMAT}", fix="give the folder as it was written")


def current_versions() -> dict[str, str]:
    """Of Python and of the packages that compute."""
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
    work : the folder; nobody else works in it.
    """

    def __init__(self, work: Path) -> None:
        self.work = work

    def kept(self, *names: str) -> bool:
        """Whether a step wrote these, and they are what it wrote. If not, nothing of them is left."""
        from lcifr.data.files import first_change
        from lcifr.runs.streaming.parts import ChangedPartWarning

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
