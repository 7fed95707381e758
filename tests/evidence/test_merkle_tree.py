"""Merkle trees: the known answers of RFC 6962's test trees, and the recursion by which the RFC defines them."""

from __future__ import annotations

import hashlib

import pytest

from lcifr.evidence.sampling import MerkleTree, hash_leaf

LEAVES = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
"""Those of Certificate Transparency's own tests: the trees over the first one, two, … of these leaves."""


@pytest.mark.parametrize("size", range(1, 9))
def test_the_known_trees(size: int) -> None:
    tree = MerkleTree([hash_leaf(bytes.fromhex(leaf)) for leaf in LEAVES[:size]])
    assert tree.root.hex() == ROOTS[size - 1]


def defined(leaves: list[bytes]) -> bytes:
    """The RFC's recursion: the left side holds the largest power of two below the number of leaves."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    half = 1
    while 2 * half < len(leaves):
        half *= 2
    return hashlib.sha256(b"\1" + defined(leaves[:half]) + defined(leaves[half:])).digest()


def test_every_size_is_as_the_rfc_defines_it() -> None:
    for size in range(1, 70):
        leaves = [bytes([number]) for number in range(size)]
        assert MerkleTree([hash_leaf(leaf) for leaf in leaves]).root == defined(leaves)
