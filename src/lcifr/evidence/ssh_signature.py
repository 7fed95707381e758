"""Ed25519 signatures in OpenSSH's format (PROTOCOL.sshsig), which ``ssh-keygen -Y verify`` confirms."""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lcifr.errors import ArtefactError, LcifrError, no_such_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

NAMESPACE = "lcifr-evidence"
"""What a signature is for: one over an e-mail or a Git commit by the same key does not count here."""
KIND, MAGIC, VERSION = b"ssh-ed25519", b"SSHSIG", 1
HASHES = {b"sha512": hashlib.sha512, b"sha256": hashlib.sha256}
BEGIN, END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
LARGEST = 1 << 16
"""Bytes of a key or a signature."""
MAKE_ONE = "make a key with `ssh-keygen -t ed25519 -f KEY`: sign with KEY, and give KEY.pub to those who verify"


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """The Ed25519 key of a file that ``ssh-keygen`` wrote without a passphrase."""
    library = _library()
    text = _key_file(path)
    if text.startswith(KIND + b" "):
        raise LcifrError(f"{path} is a public key, which cannot sign", fix="give the file without .pub")
    try:
        key = library.serialization.load_ssh_private_key(text, None)
    except TypeError:
        raise LcifrError(
            f"{path} is locked with a passphrase, which lcifr cannot ask for",
            fix="`lcifr evidence sign FOLDER` without --key prints the line that asks for it; unzip a pack first",
        ) from None
    except (ValueError, library.UnsupportedAlgorithm) as problem:
        raise LcifrError(f"{path} is not an OpenSSH private key: {problem}", fix=MAKE_ONE) from None
    if not isinstance(key, library.ed25519.Ed25519PrivateKey):
        raise LcifrError(f"{path} is not an ed25519 key", fix=MAKE_ONE)
    return cast("Ed25519PrivateKey", key)


def read_public_key(path: Path) -> Ed25519PublicKey:
    """The Ed25519 key of a ``.pub`` file."""
    library = _library()
    text = _key_file(path)
    if text.startswith(b"-----BEGIN"):
        raise LcifrError(
            f"{path} is not a public key", fix="give the file that ends in .pub, and keep the other to yourself"
        )
    try:
        key = library.serialization.load_ssh_public_key(text.strip())
    except (ValueError, library.UnsupportedAlgorithm) as problem:
        raise LcifrError(f"{path} is not an OpenSSH public key: {problem}", fix=MAKE_ONE) from None
    if not isinstance(key, library.ed25519.Ed25519PublicKey):
        raise LcifrError(f"{path} is not an ed25519 key", fix=MAKE_ONE)
    return cast("Ed25519PublicKey", key)


def fingerprint(key: Ed25519PublicKey) -> str:
    """``SHA256:…``, as ``ssh-keygen -l`` prints it."""
    return _fingerprint(_public_blob(key))


def sign(message: bytes, key: Ed25519PrivateKey) -> str:
    """The signature of a message, as text."""
    made = key.sign(_signed_bytes(NAMESPACE.encode(), b"sha512", message))
    parts = (_public_blob(key.public_key()), NAMESPACE.encode(), b"", b"sha512", _string(KIND) + _string(made))
    blob = MAGIC + struct.pack(">I", VERSION) + b"".join(map(_string, parts))
    lines = textwrap.wrap(base64.b64encode(blob).decode(), 70)
    return "\n".join((BEGIN, *lines, END)) + "\n"


def verify(message: bytes, signature: str, key: Ed25519PublicKey) -> None:
    """Refuse a signature that this key did not make over this message for this purpose, saying why."""
    public, namespace, hashed, made = _parse(signature)
    if public != _public_blob(key):
        raise ArtefactError(f"it is signed by another key, {_fingerprint(public)}, expected {fingerprint(key)}")
    if namespace != NAMESPACE.encode():
        raise ArtefactError(f"it is signed for {namespace[:60].decode('ascii', 'replace')!r}, expected {NAMESPACE!r}")
    try:
        key.verify(made, _signed_bytes(namespace, hashed, message))
    except _library().InvalidSignature:
        raise ArtefactError("the signature does not match this list") from None


def _parse(signature: str) -> tuple[bytes, bytes, bytes, bytes]:
    """Public key, namespace, name of the hash and the raw signature; nothing may be left over."""
    lines = signature.removesuffix("\n").split("\n")
    odd = ArtefactError("the signature is not an ed25519 signature in OpenSSH's format")
    if len(lines) < 3 or (lines[0], lines[-1]) != (BEGIN, END):
        raise odd
    try:
        blob = base64.b64decode("".join(lines[1:-1]), validate=True)
        if blob[:10] != MAGIC + struct.pack(">I", VERSION):
            raise odd
        public, namespace, _, hashed, made = _strings(blob[10:], 5)
        kind, raw = _strings(made, 2)
    except (binascii.Error, struct.error, ValueError):
        raise odd from None
    if hashed not in HASHES or kind != KIND or len(raw) != 64:
        raise odd
    return public, namespace, hashed, raw


def _signed_bytes(namespace: bytes, hashed: bytes, message: bytes) -> bytes:
    parts = (namespace, b"", hashed, HASHES[hashed](message).digest())
    return MAGIC + b"".join(map(_string, parts))


def _string(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def _strings(blob: bytes, count: int) -> list[bytes]:
    """Exactly so many strings, each with its length before it."""
    found = []
    for _ in range(count):
        (length,) = struct.unpack_from(">I", blob)
        found.append(blob[4 : 4 + length])
        if len(found[-1]) != length:
            raise ValueError("cut short")
        blob = blob[4 + length :]
    if blob:
        raise ValueError("something is left over")
    return found


def _public_blob(key: Ed25519PublicKey) -> bytes:
    return _string(KIND) + _string(key.public_bytes_raw())


def _fingerprint(blob: bytes) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def _key_file(path: Path) -> bytes:
    if not path.is_file():
        raise no_such_file(path, fix=MAKE_ONE)
    with path.open("rb") as file:
        return file.read(LARGEST)


class _Cryptography(NamedTuple):
    """The parts of ``cryptography`` that are used here."""

    serialization: Any
    ed25519: Any
    InvalidSignature: type[Exception]
    UnsupportedAlgorithm: type[Exception]


def _library() -> _Cryptography:
    """An extra, loaded where it is used."""
    try:
        from cryptography import exceptions
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise LcifrError(
            "signatures need the package cryptography, which is not installed",
            fix="pip install 'lcifr[sign]'; or sign and verify with ssh-keygen alone, as docs/evidence.md shows",
        ) from None
    return _Cryptography(serialization, ed25519, exceptions.InvalidSignature, exceptions.UnsupportedAlgorithm)
