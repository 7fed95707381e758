"""Membership, draws and bounds of an audit by sample, each against its definition."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.check.exact import Rejected
from lcifr.check.openings import at_least, chance, drawn, leaf_of, root_over
from lcifr.evidence.sampling import MerkleTree, hash_leaf

SALT = bytes(16)


def test_the_writers_paths_lead_to_the_writers_root_and_no_other_place_does() -> None:
    for size in (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 31, 32, 33):
        lines = [bytes([number]) for number in range(size)]
        tree = MerkleTree([hash_leaf(SALT + line) for line in lines])
        for place, line in enumerate(lines):
            path = b"".join(tree.path(place))
            assert root_over(leaf_of(SALT, line), place, size, path) == tree.root
            for other in {0, size - 1, place ^ 1, (place + 1) % size} - {place}:
                assert leads_elsewhere(leaf_of(SALT, line), other, size, path, tree.root)
            assert leads_elsewhere(leaf_of(SALT, line + b"."), place, size, path, tree.root)
            assert leads_elsewhere(leaf_of(bytes(15) + b"\1", line), place, size, path, tree.root)
            for odd in (path[32:], path + bytes(32)):
                assert odd == path or leads_elsewhere(leaf_of(SALT, line), place, size, odd, tree.root)


def leads_elsewhere(leaf: bytes, place: int, size: int, path: bytes, root: bytes) -> bool:
    try:
        return root_over(leaf, place, size, path) != root
    except Rejected:
        return True


def test_an_inner_node_is_no_leaf() -> None:
    """The two prefixes keep a pair of hashes from being shown as a line."""
    lines = [b"a", b"b", b"c", b"d"]
    tree = MerkleTree([hash_leaf(SALT + line) for line in lines])
    pair = hash_leaf(SALT + b"a") + hash_leaf(SALT + b"b")
    upper = tree.path(0)[1]
    assert root_over(leaf_of(pair[:16], pair[16:]), 0, 2, upper) != tree.root


@given(st.binary(min_size=32, max_size=32), st.integers(1, 60), st.data())
def test_a_draw_is_what_the_page_says(seed: bytes, size: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, size))
    places, number, root = [], 0, hashlib.sha256(seed).digest()
    while len(places) < count:  # docs/evidence.md, step by step
        block = hashlib.sha256(b"lcifr-challenge-1" + seed + root + number.to_bytes(8, "big")).digest()
        value, number = int.from_bytes(block, "big"), number + 1
        if value < (2**256 // size) * size and value % size not in places:
            places.append(value % size)
    assert drawn(seed, root, size, count) == sorted(places)
    assert len(set(places)) == count


def test_every_place_is_drawn_as_often_as_any_other() -> None:
    times, size, count, found = 4000, 7, 3, np.zeros(7)
    for number in range(times):
        found[drawn(number.to_bytes(32, "big"), bytes(32), size, count)] += 1
    share = count / size
    assert np.abs(found - times * share).max() < 4 * sqrt(times * share * (1 - share))


@given(st.integers(1, 25), st.data())
def test_a_chance_is_a_count_of_samples(size: int, data: st.DataObject) -> None:
    count, good = data.draw(st.integers(1, size)), data.draw(st.integers(0, size))
    found = data.draw(st.integers(0, count))
    plain = sum(comb(good, j) * comb(size - good, count - j) for j in range(found, count + 1))
    assert chance(size, good, count, found) == Fraction(plain, comb(size, count))


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 100), Fraction(1, 2)])
@pytest.mark.parametrize("size", [1, 2, 7, 20])
def test_the_bound_is_wrong_with_a_chance_of_at_most_alpha_and_could_not_be_larger(size: int, alpha: Fraction) -> None:
    for count in range(1, size + 1):
        bounds = [at_least(size, count, found, alpha) for found in range(count + 1)]
        assert bounds == sorted(bounds)
        for good in range(size + 1):
            exact = [chance(size, good, count, found) - chance(size, good, count, found + 1) for found in range(count)]
            exact.append(chance(size, good, count, count))
            assert sum(p for p, bound in zip(exact, bounds, strict=True) if bound > good) <= alpha
        for found, bound in enumerate(bounds):
            assert bound == 0 or chance(size, bound, count, found) > alpha


def test_everybody_drawn_leaves_no_doubt() -> None:
    for found in range(1, 12):
        assert at_least(12, 12, found, Fraction(1, 20)) == found


def test_the_bound_of_a_large_sample() -> None:
    assert 989_000 < at_least(1_000_000, 10_000, 9_920, Fraction(1, 20)) < 992_000
