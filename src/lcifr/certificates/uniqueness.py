"""What was proved of whom? Whether every id is there once, in memory that does not grow with the people.

Of each id 16 bytes of its hash go to a file without a name, which is gone with the process however that ends. Equal
ids have equal hashes, so no repeated id is missed. Two that differ are taken for one with probability 2⁻¹²⁸ a pair.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

HELD = 1 << 18
"""Hashes in memory at a time. The file is read once for each so many: three times for a million people."""
WIDTH = 16


def hashed(name: str | int) -> bytes:
    """What stands for an id. A number and its digits are the same id, as in every file that lists ids as text."""
    return hashlib.blake2b(str(name).encode("utf-8", "surrogatepass"), digest_size=WIDTH).digest()


@final
class Uniqueness:
    """Remembers ids on disk, and says whether one of them came twice.

    Parameters
    ----------
    folder : where the file without a name takes its room. held : hashes in memory at a time.
    """

    def __init__(self, folder: Path, held: int = HELD) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 closed by __exit__
        self._held = held
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def add(self, ids: Iterable[str | int]) -> None:
        """Remember these ids too."""
        content = b"".join(map(hashed, ids))
        self._file.seek(0, 2)
        self._file.write(content)
        self._count += len(content) // WIDTH

    def repeated(self) -> bytes | None:
        """The hash of an id that came twice; None where all differ."""
        rounds = -(-self._count // self._held)
        for turn in range(rounds):  # equal hashes have the same turn
            mine = [block[block[:, 0] % rounds == turn] for block in self._blocks()]
            found = _twice(np.concatenate(mine))
            if found is not None:
                return found
        return None

    def _blocks(self) -> Iterator[NDArray[np.uint64]]:
        self._file.seek(0)
        while content := self._file.read(WIDTH * self._held):
            yield np.frombuffer(content, np.uint64).reshape(-1, 2)


def _twice(hashes: NDArray[np.uint64]) -> bytes | None:
    ordered = hashes[np.lexsort((hashes[:, 1], hashes[:, 0]))]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    return ordered[int(np.argmax(same))].tobytes() if same.any() else None
