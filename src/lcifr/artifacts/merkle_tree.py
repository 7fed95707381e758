"""Merkle trees as in RFC 6962: the root over all leaves, and the siblings that lead from one leaf to it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import final

LEAF, NODE = b"\0", b"\1"


def hash_leaf(data: bytes) -> bytes:
    """The hash of what a leaf holds."""
    return hashlib.sha256(LEAF + data).digest()


@final
class MerkleTree:
    """A tree over hashed leaves, kept level by level; the last node of an odd level goes up as it is.

    Parameters
    ----------
    leaves : their hashes, at least one.
    """

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._levels = [list(leaves)]
        while len(self._levels[-1]) > 1:
            below = self._levels[-1]
            pairs = zip(below[::2], below[1::2], strict=False)
            above = [hashlib.sha256(NODE + left + right).digest() for left, right in pairs]
            self._levels.append(above + below[len(above) * 2 :])

    @property
    def root(self) -> bytes:
        """What binds all leaves and their order."""
        return self._levels[-1][0]

    def path(self, index: int) -> list[bytes]:
        """The siblings on the way from a leaf to the root, lowest first."""
        found = []
        for level in self._levels[:-1]:
            if (sibling := index ^ 1) < len(level):
                found.append(level[sibling])
            index >>= 1
        return found
