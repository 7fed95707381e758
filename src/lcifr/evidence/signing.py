"""Signed folders and packs: a list that ``sha256sum -c`` reads, its signature, and the archive."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.data.files import now, sha256_of, write_atomic
from lcifr.display.text import visible
from lcifr.errors import ArtefactError, LcifrError, no_such_file
from lcifr.evidence.ssh_signature import (
    LARGEST,
    NAMESPACE,
    fingerprint,
    read_private_key,
    read_public_key,
    sign,
    verify,
)
from lcifr.workflows.events import StepKind, step
from lcifr.workflows.options import REQUIRED, argument, option
from lcifr.workflows.results import CommandResult

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


# Zip archives of evidence: the same files give the same bytes, and only such archives are read.
#
# Entries are stored, not compressed (compressed bytes differ from one zlib to the next), sorted, and dated 1980. An
# archive is read only if writing its files again gives the very same bytes: then every tool unpacks the same.

EPOCH = (1980, 1, 1, 0, 0, 0)
MODE = 0o100644 << 16
LARGEST_ARCHIVE = 2 << 30
"""Bytes of an archive: it is held in memory."""


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write these files, by their names, whole or not at all."""
    write_atomic(path, archive_bytes(files))


def archive_bytes(files: Mapping[str, bytes]) -> bytes:
    """The one archive of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(plain_name(name), EPOCH)
            entry.create_system, entry.external_attr = 3, MODE
            archive.writestr(entry, files[name])
    return made.getvalue()


def read_archive(path: Path) -> dict[str, bytes]:
    """The files of an archive that :func:`write_archive` wrote.

    Raises
    ------
    ArtefactError
        For every other archive, however small the difference.
    """
    if not path.is_file():
        raise no_such_file(path)
    if path.stat().st_size > LARGEST_ARCHIVE:
        raise ArtefactError(f"{path} has more than {LARGEST_ARCHIVE:,} bytes", fix="unzip it, and give the folder")
    return read_archive_bytes(path.read_bytes(), str(path))


def read_archive_bytes(data: bytes, name: str) -> dict[str, bytes]:
    """The same, of bytes."""
    other = ArtefactError(
        f"{name} is not an archive as `lcifr evidence pack` writes it: damaged, changed or packed by another tool",
        fix="get it again; if another tool packed it, unpack it and give the folder",
    )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            sizes = sum(entry.file_size for entry in entries)
            if sizes > len(data) or any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise other  # before anything is unpacked: nothing here is compressed
            files = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError, NotImplementedError, EOFError, OSError):
        raise other from None
    except (KeyError, IndexError, OverflowError, MemoryError, UnicodeError):
        raise other from None
    try:
        same = archive_bytes(files) == data and not _clash(files)
    except (ArtefactError, ValueError, OverflowError, UnicodeError):
        same = False
    if not same:
        raise other
    return files


def _clash(names: Iterable[str]) -> bool:
    """Whether a disk that ignores case, or Unicode's forms, keeps one file of two; or one is a folder of another."""
    known = (unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold()) for name in names)
    ordered = sorted(name.replace("/", "\0") for name in known)  # so that what is in a folder comes right after it
    return any(other == name or other.startswith(f"{name}\0") for name, other in pairwise(ordered))


# Signed folders and packs: a list of names and SHA-256 that ``sha256sum -c`` reads, and its signature.
#
# SHA256SUMS        one line for every other file, sorted by name
# SHA256SUMS.sig    its signature in OpenSSH's format
# signed.json       when, by the signer's own word; listed like every other file

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
class Verified(CommandResult):
    """What is known of a signed folder or pack.

    Parameters
    ----------
    key : fingerprint of the key that was asked for. time : when it was signed, by the signer's word.
    files : how many are listed. problems : why it is refused; none where every byte is what that key has signed.
    """

    format = "lcifr-evidence-verified-1"
    command = "evidence verify"

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
        raise ArtefactError(f"{LIST} is not as lcifr writes it: one line per file, sorted, no duplicates")
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


# Signing a folder, and verifying a signed folder or pack.


@dataclass(frozen=True)
class SignRequest:
    """Which folder to sign, and with which key."""

    folder: Path = argument("FOLDER", "The folder to sign.")
    key: Path | None = option(
        None,
        "A private key from `ssh-keygen -t ed25519 -f KEY`. Without it, only the list is written.",
        metavar="KEY",
    )
    force: bool = option(False, "Replace an earlier list and signature.")


@dataclass(frozen=True)
class VerifyRequest:
    """Which folder or pack to verify, and whose signature to expect."""

    path: Path = argument("FOLDER|PACK", "A signed folder, or a pack (.zip).")
    key: Path = option(REQUIRED, "The signer's public key, obtained from the signer.", metavar="KEY.pub")


@dataclass(frozen=True)
class SignedFolder(CommandResult):
    """A folder whose list is written; ``key`` is the fingerprint, None where the list waits for its signature."""

    format = "lcifr-evidence-signed-1"
    command = "evidence sign"

    folder: str
    files: int
    time: str
    key: str | None


def sign_folder(request: SignRequest) -> SignedFolder:
    """Write the list of everything in a folder, and sign it."""
    folder, key = request.folder, request.key
    if not folder.is_dir():
        raise LcifrError(f"{folder}: there is no such folder", fix="give a folder; a pack is signed by `pack --key`")
    private = None if key is None else read_private_key(key)
    if key is not None and key.resolve().is_relative_to(folder.resolve()):
        raise LcifrError(
            f"{key} is inside {folder}: anyone who gets the folder could sign as you", fix="move the key away"
        )
    if (folder / SIGNATURE).exists() and not request.force:
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


def verify_signed(request: VerifyRequest) -> Verified:
    """Whether every file of a folder, or of a pack, is what the holder of a key has signed."""
    path, public = request.path, read_public_key(request.key)
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
