"""Signatures in OpenSSH's format: ssh-keygen confirms ours, we confirm ssh-keygen's, and what is odd is refused."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from lcifr.errors import ArtefactError, LcifrError
from lcifr.evidence.ssh_signature import (
    BEGIN,
    END,
    NAMESPACE,
    fingerprint,
    read_private_key,
    read_public_key,
    sign,
    verify,
)
from tests.evidence.keys import make_key, needs_ssh_keygen, ssh_keygen

MESSAGE = b"0" * 64 + b"  report.html\n"


@needs_ssh_keygen
def test_ssh_keygen_confirms_what_we_sign_and_nothing_else(tmp_path: Path) -> None:
    key = make_key(tmp_path, "auditor")
    (tmp_path / "sig").write_text(sign(MESSAGE, read_private_key(key)))
    (tmp_path / "allowed").write_text(f"auditor {key.with_suffix('.pub').read_text()}")
    words = ("-f", tmp_path / "allowed", "-I", "auditor", "-s", tmp_path / "sig")
    good = ssh_keygen("-Y", "verify", *words, "-n", NAMESPACE, message=MESSAGE)
    assert good.returncode == 0
    assert fingerprint(read_public_key(key.with_suffix(".pub"))).encode() in good.stdout
    assert ssh_keygen("-Y", "check-novalidate", "-n", NAMESPACE, *words[4:], message=MESSAGE).returncode == 0
    assert ssh_keygen("-Y", "verify", *words, "-n", "file", message=MESSAGE).returncode != 0
    assert ssh_keygen("-Y", "verify", *words, "-n", NAMESPACE, message=MESSAGE + b" ").returncode != 0


@needs_ssh_keygen
@pytest.mark.parametrize("options", [(), ("-O", "hashalg=sha256"), ("-O", "hashalg=sha512")])
def test_we_confirm_what_ssh_keygen_signs(tmp_path: Path, options: tuple[str, ...]) -> None:
    key, other = make_key(tmp_path, "auditor"), make_key(tmp_path, "other")
    (tmp_path / "list").write_bytes(MESSAGE)
    assert ssh_keygen("-Y", "sign", "-f", key, "-n", NAMESPACE, *options, tmp_path / "list").returncode == 0
    signature = (tmp_path / "list.sig").read_text()
    verify(MESSAGE, signature, read_public_key(key.with_suffix(".pub")))
    with pytest.raises(ArtefactError, match="does not match this list"):
        verify(MESSAGE + b"\n", signature, read_public_key(key.with_suffix(".pub")))
    with pytest.raises(ArtefactError, match="another key, SHA256:"):
        verify(MESSAGE, signature, read_public_key(other.with_suffix(".pub")))


@needs_ssh_keygen
def test_a_signature_for_another_purpose_does_not_count(tmp_path: Path) -> None:
    key = make_key(tmp_path, "auditor")
    (tmp_path / "list").write_bytes(MESSAGE)
    ssh_keygen("-Y", "sign", "-f", key, "-n", "git", tmp_path / "list")
    with pytest.raises(ArtefactError, match="signed for 'git'"):
        verify(MESSAGE, (tmp_path / "list.sig").read_text(), read_public_key(key.with_suffix(".pub")))


def test_every_changed_byte_of_a_signature_is_refused(tmp_path: Path) -> None:
    key = read_private_key(make_key(tmp_path, "auditor"))
    blob = base64.b64decode("".join(sign(MESSAGE, key).split("\n")[1:-2]))
    verify(MESSAGE, _armored(blob), key.public_key())
    for place in range(len(blob)):
        changed = blob[:place] + bytes([blob[place] ^ 1]) + blob[place + 1 :]
        with pytest.raises(ArtefactError):
            verify(MESSAGE, _armored(changed), key.public_key())
    for odd in (blob[:-1], blob + b"\0", b"", blob[:9]):
        with pytest.raises(ArtefactError):
            verify(MESSAGE, _armored(odd), key.public_key())
    for text in ("", "no signature", BEGIN, f"{BEGIN}\nÄÖ\n{END}\n", sign(MESSAGE, key).replace("SSH", "PGP")):
        with pytest.raises(ArtefactError):
            verify(MESSAGE, text, key.public_key())


def _armored(blob: bytes) -> str:
    return f"{BEGIN}\n{base64.b64encode(blob).decode()}\n{END}\n"


@pytest.mark.parametrize(
    ("kind", "passphrase", "words"), [("ed25519", "secret", "passphrase"), ("ecdsa", "", "not an ed25519 key")]
)
def test_keys_that_cannot_sign_are_named_with_a_way_out(tmp_path: Path, kind: str, passphrase: str, words: str) -> None:
    with pytest.raises(LcifrError, match=f"{words}(.|\n)*Fix: "):
        read_private_key(make_key(tmp_path, "key", kind=kind, passphrase=passphrase))


def test_the_wrong_half_of_a_key_is_named(tmp_path: Path) -> None:
    key = make_key(tmp_path, "auditor")
    with pytest.raises(LcifrError, match="is a public key"):
        read_private_key(key.with_suffix(".pub"))
    with pytest.raises(LcifrError, match=r"is not a public key(.|\n)*keep the other to yourself"):
        read_public_key(key)
    with pytest.raises(LcifrError, match="no such file"):
        read_public_key(tmp_path / "nobody.pub")
    (tmp_path / "odd").write_text("hello\n")
    for read in (read_private_key, read_public_key):
        with pytest.raises(LcifrError, match="Fix: make a key with"):
            read(tmp_path / "odd")
