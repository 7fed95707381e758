"""Parts of a run whose result goes to an object store, kept there too: another machine can go on with them.

An object counts as a part only if its content has the hash that its name says, as on disk: one that is half written, or
written by somebody else, is made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from lcifr.data.io.places import StoragePlace

KEPT = ".parts/"
"""Where parts lie in the place of a result."""
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
    """Bring the parts that another machine has made into the folder of this one; what is there stays."""
    if (place := _place.get()) is None:
        return
    for name in place.files():
        local = folder / name.removeprefix(KEPT)
        if name.startswith(KEPT) and "/" not in name.removeprefix(KEPT) and not local.exists():
            local.write_bytes(place.read(name))


def keep_part(path: Path) -> None:
    """Keep a part that was just stored."""
    if (place := _place.get()) is not None:
        place.upload(path, f"{KEPT}{path.name}")
