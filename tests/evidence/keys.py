"""Keys of OpenSSH for tests, made by ``ssh-keygen`` where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SSH_KEYGEN = shutil.which("ssh-keygen")
needs_ssh_keygen = pytest.mark.skipif(SSH_KEYGEN is None, reason="there is no ssh-keygen here")


def make_key(folder: Path, name: str, *, kind: str = "ed25519", passphrase: str = "") -> Path:
    """A private key; its public one lies beside it as ``NAME.pub``. Made by ``cryptography`` without ssh-keygen."""
    path = folder / name
    if SSH_KEYGEN is None:
        if kind != "ed25519" or passphrase:
            pytest.skip("there is no ssh-keygen here")
        return _written(path)
    words = [SSH_KEYGEN, "-q", "-t", kind, "-N", passphrase, "-C", name, "-f", str(path)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return path


def _written(path: Path) -> Path:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    path.write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption()))
    public = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
    path.with_suffix(".pub").write_bytes(public + b" test\n")
    return path


def ssh_keygen(*words: object, message: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    assert SSH_KEYGEN is not None
    return subprocess.run([SSH_KEYGEN, *map(str, words)], input=message, capture_output=True, check=False)
