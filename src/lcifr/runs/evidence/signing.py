"""Signing a folder, and verifying a signed folder or pack."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lcifr.artifacts.archive import read_archive
from lcifr.artifacts.signed_files import (
    LIST,
    SIGNATURE,
    SIGNED,
    Verified,
    digests_below,
    list_of,
    stamp,
    verify_files,
)
from lcifr.artifacts.ssh_signature import LARGEST, NAMESPACE, fingerprint, read_private_key, read_public_key, sign
from lcifr.data.files import now, write_atomic
from lcifr.errors import ArtefactError, LcifrError
from lcifr.runs.events import StepKind, step


@dataclass(frozen=True)
class SignedFolder:
    """A folder whose list is written; ``key`` is the fingerprint, None where the list waits for its signature."""

    folder: str
    files: int
    time: str
    key: str | None

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {"format": "lcifr-evidence-signed-1", "command": "evidence sign", **asdict(self)}


def sign_folder(folder: Path, key: Path | None, *, force: bool = False) -> SignedFolder:
    """Write the list of everything in a folder, and sign it.

    Parameters
    ----------
    key : a private key of OpenSSH; None to write the list alone, for ``ssh-keygen`` to sign.
    force : whether to replace a list and a signature that are there.
    """
    if not folder.is_dir():
        raise LcifrError(f"{folder}: there is no such folder", fix="give a folder; a pack is signed by `pack --key`")
    private = None if key is None else read_private_key(key)
    if key is not None and key.resolve().is_relative_to(folder.resolve()):
        raise LcifrError(
            f"{key} is inside {folder}: anyone who gets the folder could sign as you", fix="move the key away"
        )
    if (folder / SIGNATURE).exists() and not force:
        raise LcifrError(f"{folder} is already signed: {SIGNATURE}", fix="use --force to sign its current contents")
    (folder / SIGNATURE).unlink(missing_ok=True)
    time = now()
    write_atomic(folder / SIGNED, stamp(time))
    with step("Hashing files", StepKind.COUNT) as progress:
        digests = digests_below(folder, progress)
    listed = list_of(digests)
    write_atomic(folder / LIST, listed)
    if private is not None:
        write_atomic(folder / SIGNATURE, sign(listed, private).encode())
    return SignedFolder(str(folder), len(digests), time, None if private is None else fingerprint(private.public_key()))


def command_to_sign(folder: Path) -> tuple[str, ...]:
    """The words with which ``ssh-keygen`` signs the list; it asks for a passphrase, or for a touch of a token."""
    return ("ssh-keygen", "-Y", "sign", "-f", "KEY", "-n", NAMESPACE, str(folder / LIST))


def verify_signed(path: Path, key: Path) -> Verified:
    """Whether every file of a folder, or of a pack, is what the holder of a key has signed."""
    public = read_public_key(key)
    if path.is_dir():
        return _verify_folder(path, public)
    files = read_archive(path)
    listed, signature = files.pop(LIST, None), files.pop(SIGNATURE, None)
    if listed is None or signature is None:
        raise _unsigned(path)
    return verify_files(
        {name: sha256_hex(data) for name, data in files.items()}, listed, _text(signature), files.get(SIGNED), public
    )


def _verify_folder(folder: Path, public: Any) -> Verified:
    for name in (LIST, SIGNATURE):
        if (folder / name).is_symlink() or not (folder / name).is_file():
            raise _unsigned(folder)
    listed, signature = (folder / LIST).read_bytes(), (folder / SIGNATURE).read_bytes()
    try:
        with step("Hashing files", StepKind.COUNT) as progress:
            found = digests_below(folder, progress)
    except ArtefactError as problem:
        return Verified(fingerprint(public), None, 0, (str(problem).split("\n")[0],))
    signed = (folder / SIGNED).read_bytes() if SIGNED in found else None
    if signed is not None and found[SIGNED] != sha256_hex(signed):
        signed = None
    return verify_files(found, listed, _text(signature), signed, public)


def _unsigned(path: Path) -> ArtefactError:
    return ArtefactError(f"{path} holds no {LIST} with {SIGNATURE}: it is not signed", fix="ask for a signed one")


def _text(signature: bytes) -> str:
    """All of it: what follows a signature is refused with it."""
    return signature.decode("ascii", "replace") if len(signature) <= LARGEST else ""


def sha256_hex(data: bytes) -> str:
    """SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
