"""Signed folders and packs: a list of names and SHA-256 that ``sha256sum -c`` reads, and its signature.

SHA256SUMS        one line for every other file, sorted by name
SHA256SUMS.sig    its signature in OpenSSH's format
signed.json       when, by the signer's own word; listed like every other file
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.artifacts.ssh_signature import NAMESPACE, fingerprint, verify
from lcifr.data.files import sha256_of
from lcifr.display.text import visible
from lcifr.errors import ArtefactError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

LIST, SIGNATURE, SIGNED = "SHA256SUMS", "SHA256SUMS.sig", "signed.json"
FORMAT = "lcifr-signed-1"
LINE = re.compile(r"([0-9a-f]{64})  (.+)")
SHOWN = 20
"""Names of files that are printed of each kind of problem."""


def stamp(time: str) -> bytes:
    """The content of ``signed.json``."""
    return json.dumps({"format": FORMAT, "time": time, "namespace": NAMESPACE}, indent=1).encode() + b"\n"


def list_of(digests: Mapping[str, str]) -> bytes:
    """The content of ``SHA256SUMS`` for these files."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()


def plain_name(name: str) -> str:
    """A name below a folder that every tool reads alike; ArtefactError, with the name, if it is none.

    No absolute path, no ``..``, no backslash, no line break or other control character, nothing that is not Unicode.
    """
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\\" in name or not name.isprintable():
        raise ArtefactError(f"{visible(name)!r:.200}: not a valid name for a signed file", fix="rename or remove it")
    return name


def files_below(folder: Path) -> Iterator[str]:
    """Every file below a folder but the list and its signature, hidden ones too.

    Raises
    ------
    ArtefactError
        For a link, a device, or a name that not every tool reads alike.
    """
    for where, folders, names in os.walk(folder, onerror=_unread):
        for name in (*folders, *names):
            path = Path(where) / name
            below = plain_name(path.relative_to(folder).as_posix())
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                raise ArtefactError(
                    f"{visible(str(path))} is a link, or not a plain file", fix="remove it, or replace it with a copy"
                )
            if not path.is_dir() and below not in (LIST, SIGNATURE):
                yield below


def _unread(problem: OSError) -> None:
    """A folder that cannot be looked into may hide a file."""
    raise problem


def digests_below(folder: Path, progress: Callable[[int, int], None]) -> dict[str, str]:
    """SHA-256 of every file below a folder but the list and its signature; ``progress`` hears how many of how many."""
    found, names = dict[str, str](), sorted(files_below(folder))
    for name in names:
        found[name] = sha256_of(folder / name)
        progress(len(found), len(names))
    return found


@dataclass(frozen=True)
class Verified:
    """What is known of a signed folder or pack.

    Parameters
    ----------
    key : fingerprint of the key that was asked for. time : when it was signed, by the signer's word.
    files : how many are listed. problems : why it is refused; none where every byte is what that key has signed.
    """

    key: str
    time: str | None
    files: int
    problems: tuple[str, ...]


def verify_files(
    found: Mapping[str, str], listed: bytes, signature: str, signed: bytes | None, key: Ed25519PublicKey
) -> Verified:
    """Compare files with their signed list.

    Parameters
    ----------
    found : SHA-256 of every file that is there, by name. listed, signature, signed : contents of the three files.
    """
    try:
        verify(listed, signature, key)
        expected = _read_list(listed)
    except ArtefactError as problem:
        return Verified(fingerprint(key), None, 0, (f"{SIGNATURE}: {problem}",))
    problems = [
        *_named("changed since it was signed", (n for n in expected if n in found and found[n] != expected[n])),
        *_named("missing", (name for name in expected if name not in found)),
        *_named("not in the signed list", (name for name in found if name not in expected)),
    ]
    time = None if problems or signed is None else _time(signed)
    return Verified(fingerprint(key), time, len(expected), tuple(problems))


def _read_list(listed: bytes) -> dict[str, str]:
    """Strictly as :func:`list_of` writes it, so that no two tools read another list."""
    text = listed.decode("utf-8", "replace")
    lines = [LINE.fullmatch(line) for line in text.split("\n")[:-1]]
    found = {line[2]: line[1] for line in lines if line}
    if None in lines or listed != list_of(found):
        raise ArtefactError(f"{LIST} is not as lcifr writes it: a line a file, sorted, none twice")
    for name in found:
        plain_name(name)
    return found


def _named(what: str, names: Iterator[str]) -> Iterator[str]:
    listed = sorted(names)
    yield from (f"{visible(name)}: {what}" for name in listed[:SHOWN])
    if len(listed) > SHOWN:
        yield f"… and {len(listed) - SHOWN} more: {what}"


def _time(signed: bytes) -> str | None:
    try:
        found = json.loads(signed)
        return visible(str(found["time"])) if found["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError):
        return None
