"""Results in an object store: made in a folder of this machine, then uploaded, the settings last.

``settings.json`` lists every file with its hash and is the commit: a store has no folders that could be renamed, so
what lies there without it is no result. Parts of large runs are kept in the store too while a run is under way, so that
the same command goes on from any machine.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

from lcifr.data.files import StoragePlace
from lcifr.errors import LcifrError
from lcifr.runs.events import StepKind, step
from lcifr.runs.folders.settings import SETTINGS
from lcifr.runs.streaming.parts import KEPT, keeping_parts


@contextmanager
def staged(out: Path, force: bool) -> Iterator[Path]:
    """A local folder whose content is uploaded to ``out``, a place in a store, when all is done."""
    place = StoragePlace.of(out)
    before = _refuse_existing(place, force)
    local = user_cache_path("lcifr") / "runs" / hashlib.sha256(place.text.encode()).hexdigest()[:16] / out.name
    if local.exists():  # finished, and stopped before all of it was uploaded
        shutil.rmtree(local)
    with keeping_parts(place):
        yield local
    _upload(local, place, before)
    shutil.rmtree(local.parent, ignore_errors=True)


def _refuse_existing(place: StoragePlace, force: bool) -> set[str]:
    """What is there, parts aside, and may be replaced."""
    there = {name for name in place.files() if not name.startswith(KEPT)}
    if SETTINGS in there and not force:
        raise LcifrError(f"{place} already exists", fix="choose another --out, or use --force to replace it")
    if there and SETTINGS not in there and not force:
        raise LcifrError(
            f"{place} holds {len(there)} files and no {SETTINGS}: an upload that was stopped, or somebody else's",
            fix="choose another --out, or use --force to replace them",
        )
    return there


def _upload(local: Path, place: StoragePlace, before: set[str]) -> None:
    """Everything, then the settings; what was there ``before``, and parts, go. What has come since is somebody's."""
    strange = {name for name in place.files() if not name.startswith(KEPT)} - before
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
        if name in before or name.startswith(KEPT):
            place.delete(name)
