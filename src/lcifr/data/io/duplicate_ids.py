"""Whether an id comes twice, in bounded memory: hashes on disk, in files each of which is judged alone."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Self, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

FILES = 32
"""Equal hashes lie in the same file, so each file is judged alone."""
HELD, BLOCK = 1 << 17, 1 << 14
"""Hashes in memory at a time (2 MB), and read at a time. From 4 million people on, files are read more than once."""
WIDTH = 16


def hash_id(name: str | int) -> bytes:
    """The hash of an id. A number and its digits are the same id, as in every file that lists ids as text."""
    return hashlib.blake2b(str(name).encode("utf-8", "surrogatepass"), digest_size=WIDTH).digest()


KEYS = ("lcifr ids, first", "lcifr ids, other")
"""Of two hashes of 64 bits each; 16 letters, as SipHash takes them."""


def hash_column(column: pa.ChunkedArray) -> NDArray[np.uint64]:
    """(people, 2) the hash of each id of a column; a number and its digits are the same id."""
    from pandas.util import hash_array

    texts = column.cast(pa.string()).to_numpy().astype(object)
    return np.stack([hash_array(texts, hash_key=key, categorize=False) for key in KEYS], axis=1)


@final
class DuplicateIds:
    """Ids seen so far, as hashes on disk.

    A 16-byte hash of each id goes to anonymous temporary files, which are deleted on exit. Equal ids have equal hashes,
    so no duplicate is missed; two different ids collide with probability 2⁻¹²⁸ per pair.

    Parameters
    ----------
    folder : where the temporary files are created. held : hashes in memory at a time.
    """

    def __init__(self, folder: Path, held: int = HELD) -> None:
        self._folder, self._held = folder, held
        self._files: list[IO[bytes]] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def add(self, ids: Iterable[str | int]) -> None:
        """Add the hashes of these ids."""
        self._begin()
        for name in ids:
            short = hash_id(name)
            self._files[short[0] % FILES].write(short)

    def add_column(self, column: pa.ChunkedArray) -> None:
        """Add a column of ids at once: quicker by ten than one id at a time, by another hash."""
        self._begin()
        for file, mine in zip(self._files, divide(hash_column(column), FILES), strict=True):
            file.write(mine.tobytes())

    def _begin(self) -> None:
        if not self._files:
            fresh = (tempfile.TemporaryFile(dir=self._folder) for _ in range(FILES))  # noqa: SIM115 closed by __exit__
            self._files = [self._open.enter_context(file) for file in fresh]

    def repeated(self) -> bytes | None:
        """The smallest hash of a duplicate id; None if all differ."""
        found = []
        for file in self._files:
            rounds = -(-file.tell() // (WIDTH * self._held))
            for turn in range(rounds):
                # By the second half of the hash, as the first has chosen the file.
                mine = [block[block[:, 1] % rounds == turn] for block in _blocks(file)]
                found.append(repeated_hash(np.concatenate(mine)))
        return smallest(found)


def _blocks(file: IO[bytes]) -> Iterator[NDArray[np.uint64]]:
    file.seek(0)
    while content := file.read(WIDTH * BLOCK):
        yield np.frombuffer(content, np.uint64).reshape(-1, 2)


def divide(hashes: NDArray[np.uint64], buckets: int) -> list[NDArray[np.uint64]]:
    """The hashes, (people, 2), in so many buckets; equal ones are in the same."""
    which = (hashes[:, 0] % buckets).astype(np.int64)
    ends = np.cumsum(np.bincount(which, minlength=buckets))[:-1]
    return np.split(hashes[np.argsort(which, kind="stable")], ends)


def smallest(found: Iterable[bytes | None]) -> bytes | None:
    """One of the hashes that occur twice: the same however they were divided."""
    return min(filter(None, found), key=lambda one: np.frombuffer(one, np.uint64).tolist(), default=None)


def repeated_hash(hashes: NDArray[np.uint64]) -> bytes | None:
    """The smallest hash that occurs twice among these, (people, 2); None if all differ."""
    ordered = hashes[np.lexsort((hashes[:, 1], hashes[:, 0]))]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    return ordered[int(np.argmax(same))].tobytes() if same.any() else None
