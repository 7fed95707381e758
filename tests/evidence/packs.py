"""Small signed packs for tests."""

from __future__ import annotations

from pathlib import Path

from lcifr.evidence.signing import LIST, SIGNATURE, SIGNED, archive_bytes, list_of, sha256_hex, stamp
from lcifr.evidence.ssh_signature import read_private_key, sign


def signed(files: dict[str, bytes], key: Path) -> dict[str, bytes]:
    """These files with their list and signature."""
    files = {**files, SIGNED: stamp("2026-11-16T18:00:00+00:00")}
    listed = list_of({name: sha256_hex(data) for name, data in files.items()})
    return {**files, LIST: listed, SIGNATURE: sign(listed, read_private_key(key)).encode()}


def signed_pack(files: dict[str, bytes], key: Path) -> bytes:
    """The archive of them."""
    return archive_bytes(signed(files, key))
