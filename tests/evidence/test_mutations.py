"""Ten thousand changes to signed packs: each is refused, or every signed file unpacks byte for byte the same."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from lcifr.errors import ArtefactError
from lcifr.evidence.signing import LIST, SIGNATURE, VerifyRequest, archive_bytes, read_archive_bytes, verify_signed
from tests.evidence.keys import make_key
from tests.evidence.packs import signed, signed_pack

FILES = {
    "README.md": b"# Evidence\n",
    "report.html": b"<p>27 of 30 people are certified</p>" * 3,
    "bundle/manifest.json": b'{"format": "lcifr-audit-10"}',
    "bundle/people.jsonl.gz": bytes(range(60)),
    "group-rates.csv": b"",
}


def mutate_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """One to three changes anywhere in the archive: flipped, lost, new, repeated or moved bytes."""
    made = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        if not made:
            break
        place, length, kind = int(rng.integers(len(made))), int(rng.integers(1, 40)), int(rng.integers(6))
        piece = made[place : place + length]
        if kind == 0:
            made[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            del made[place : place + length]
        elif kind == 2:
            made[place:place] = rng.bytes(length)
        elif kind == 3:
            made[place:place] = piece
        elif kind == 4:
            other = int(rng.integers(len(made)))
            made[other : other + len(piece)] = piece
        else:
            made[place : place + length] = rng.bytes(len(piece))
    return bytes(made)


def mutate_files(files: dict[str, bytes], rng: np.random.Generator) -> bytes:
    """A pack that is whole in form, and whose content was changed: files edited, swapped, renamed, added or removed."""
    made, names = dict(files), sorted(files)
    one, other = (names[int(place)] for place in rng.integers(len(names), size=2))
    kind = int(rng.integers(6))
    if kind == 0 and made[one]:
        made[one] = mutate_bytes(made[one], rng)
    elif kind == 1:
        made[one], made[other] = made[other], made[one]
    elif kind == 2:
        made[f"{one}{int(rng.integers(9))}"] = made.pop(one)
    elif kind == 3:
        made[f"new{int(rng.integers(9))}"] = rng.bytes(5)
    elif kind == 4:
        del made[one]
    else:
        text = made[LIST].decode().splitlines(keepends=True)
        rng.shuffle(text)  # type: ignore[arg-type]
        made[LIST] = "".join(text[int(rng.integers(2)) :]).encode()
    return archive_bytes(made)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_key(tmp_path_factory.mktemp("keys"), "auditor")


@pytest.mark.parametrize("mutations", [2_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_every_mutation_is_refused_or_changes_no_signed_file(tmp_path: Path, key: Path, mutations: int) -> None:
    original, whole = signed(FILES, key), signed_pack(FILES, key)
    rng, path, refused = np.random.default_rng(mutations), tmp_path / "pack.zip", 0
    for number in range(mutations):
        data = mutate_bytes(whole, rng) if number % 2 else mutate_files(original, rng)
        if not is_confirmed(path, data, key):
            refused += 1
            continue
        with zipfile.ZipFile(io.BytesIO(data)) as archive:  # as any tool unpacks it
            assert {name: archive.read(name) for name in archive.namelist()} == original
    assert is_confirmed(path, whole, key)
    assert refused > 0.9 * mutations  # the others put back what was there


def is_confirmed(path: Path, data: bytes, key: Path) -> bool:
    try:
        read_archive_bytes(data, "the pack")
    except ArtefactError:
        return False
    path.write_bytes(data)
    try:
        return not verify_signed(VerifyRequest(path, key.with_suffix(".pub"))).problems
    except ArtefactError:
        return False


def test_a_list_and_signature_of_another_pack_by_the_same_key_are_refused(tmp_path: Path, key: Path) -> None:
    first, second = signed(FILES, key), signed({**FILES, "README.md": b"# Other\n"}, key)
    mixed = {**first, LIST: second[LIST], SIGNATURE: second[SIGNATURE]}
    assert not is_confirmed(tmp_path / "pack.zip", archive_bytes(mixed), key)
    assert is_confirmed(tmp_path / "pack.zip", archive_bytes(second), key)
