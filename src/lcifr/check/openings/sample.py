"""What an opening rests on: membership in a Merkle tree (RFC 6962), whom a challenge draws, what a sample shows."""

import hashlib
from bisect import bisect_right
from fractions import Fraction
from math import comb

from lcifr.check.exact import ensure

SALT, HASH, DRAW = 16, 32, b"lcifr-challenge-1"


def leaf_of(salt: bytes, line: bytes) -> bytes:
    """The hash of one line; without its salt nobody can try out whose line it is."""
    ensure(len(salt) == SALT, f"a salt does not have {SALT} bytes")
    return hashlib.sha256(b"\0" + salt + line).digest()


def root_over(leaf: bytes, index: int, size: int, path: bytes) -> bytes:
    """The root of the tree of ``size`` leaves in which this leaf has this place and these siblings, lowest first."""
    ensure(0 <= index < size and (size > 1) == (len(path) >= HASH), "the tree is not as high as there are siblings")
    if size == 1:
        return leaf
    half = 1 << (size - 1).bit_length() - 1  # the largest power of two below the size is what lies on the left
    below, sibling = path[:-HASH], path[-HASH:]
    if index < half:
        return hashlib.sha256(b"\1" + root_over(leaf, index, half, below) + sibling).digest()
    return hashlib.sha256(b"\1" + sibling + root_over(leaf, index - half, size - half, below)).digest()


def drawn(seed: bytes, root: bytes, size: int, count: int) -> list[int]:
    """``count`` different places of ``size``, rising: SHA-256 of seed, root and 0, 1, 2, …, where it is not too large.

    Too large is what would make the first places more likely than the last ones.
    """
    places, number, limit = set[int](), 0, 2**256 - 2**256 % size
    while len(places) < count:
        value = int.from_bytes(hashlib.sha256(DRAW + seed + root + number.to_bytes(8, "big")).digest(), "big")
        places |= {value % size} if value < limit else set()
        number += 1
    return sorted(places)


def chance(size: int, good: int, count: int, found: int) -> Fraction:
    """That ``count`` of ``size`` lines, of which so many are good, hold ``found`` good ones or more."""
    least = max(found, count - (size - good))
    term, total = comb(good, least) * comb(size - good, count - least), 0
    for j in range(least, min(count, good) + 1):
        total += term
        term = term * (good - j) * (count - j) // ((j + 1) * (size - good - count + j + 1))
    return Fraction(total, comb(size, count))


def at_least(size: int, count: int, found: int, alpha: Fraction) -> int:
    """The least number of good lines with which so many, or more, are found with a chance above alpha."""
    candidates = range(found, size - (count - found))  # with one more than these, so many are found for sure
    first = bisect_right(candidates, alpha, key=lambda good: chance(size, good, count, found))
    return found + first if found else 0
