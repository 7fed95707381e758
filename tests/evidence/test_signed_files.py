"""Signed folders: sha256sum reads the list; whatever differs from it, or is odd, is refused by name."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lcifr.errors import ArtefactError, LcifrError
from lcifr.evidence.signing import (
    LIST,
    SIGNATURE,
    SIGNED,
    SignRequest,
    VerifyRequest,
    list_of,
    plain_name,
    sign_folder,
    verify_files,
    verify_signed,
)
from lcifr.evidence.ssh_signature import LARGEST, fingerprint, read_private_key, read_public_key, sign
from tests.evidence.keys import make_key


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path, "auditor")


@pytest.fixture
def folder(tmp_path: Path, key: Path) -> Path:
    """A signed folder with names that are unusual and allowed."""
    root = tmp_path / "evidence"
    (root / "deep" / "er").mkdir(parents=True)
    for name in ("report.html", "with two  spaces", "*star", "deep/er/φ.phi", ".hidden", "deep/report.html"):
        (root / name).write_text(f"this is {name}\n", encoding="utf-8")
    sign_folder(SignRequest(root, key))
    return root


def problems(folder: Path, key: Path) -> tuple[str, ...]:
    return verify_signed(VerifyRequest(folder, key.with_suffix(".pub"))).problems


def test_sha256sum_reads_the_list(folder: Path) -> None:
    tool = shutil.which("sha256sum")
    if tool is None:
        pytest.skip("there is no sha256sum here")
    done = subprocess.run([tool, "--strict", "-c", LIST], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 7


def test_a_signed_folder_is_confirmed_with_key_and_time(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a").write_text("a")
    done = sign_folder(SignRequest(tmp_path / "f", key))
    found = verify_signed(VerifyRequest(tmp_path / "f", key.with_suffix(".pub")))
    assert found.problems == ()
    assert found.time == done.time == "2027-01-15T08:00:00+00:00"
    assert found.key == done.key == fingerprint(read_public_key(key.with_suffix(".pub")))
    assert found.files == done.files == 2


def test_what_was_changed_removed_added_or_swapped_is_named(folder: Path, key: Path) -> None:
    assert problems(folder, key) == ()
    (folder / "report.html").write_text("this is report.htmL\n")
    (folder / "*star").unlink()
    (folder / "new").touch()
    assert problems(folder, key) == (
        "report.html: changed since it was signed",
        "*star: missing",
        "new: not in the signed list",
    )


def test_two_files_that_change_places_are_named(folder: Path, key: Path) -> None:
    (folder / "report.html").rename(folder / "aside")
    (folder / "deep/report.html").rename(folder / "report.html")
    (folder / "aside").rename(folder / "deep/report.html")
    assert {line.split(":")[0] for line in problems(folder, key)} == {"report.html", "deep/report.html"}


def test_another_key_is_refused_by_its_fingerprint(folder: Path, key: Path, tmp_path: Path) -> None:
    other = make_key(tmp_path, "somebody")
    found = verify_signed(VerifyRequest(folder, other.with_suffix(".pub")))
    assert fingerprint(read_public_key(key.with_suffix(".pub"))) in found.problems[0]
    assert found.time is None


def test_the_time_is_signed_too(folder: Path, key: Path) -> None:
    text = (folder / SIGNED).read_text()
    (folder / SIGNED).write_text(text.replace("20", "19", 1))
    assert problems(folder, key) == (f"{SIGNED}: changed since it was signed",)


def test_links_are_refused_even_to_the_same_bytes(folder: Path, key: Path, tmp_path: Path) -> None:
    (tmp_path / "same").write_bytes((folder / "report.html").read_bytes())
    (folder / "report.html").unlink()
    (folder / "report.html").symlink_to(tmp_path / "same")
    assert "report.html is a link" in problems(folder, key)[0]
    (folder / "report.html").unlink()
    (folder / "more").symlink_to(tmp_path)
    assert "more is a link" in problems(folder, key)[0]


@pytest.mark.parametrize("name", ["a\nb", "a\\b", "a\rb", "a\x1bb", "a\u202eb", b"a\xffb"])
def test_names_that_tools_read_differently_are_not_signed(tmp_path: Path, key: Path, name: str | bytes) -> None:
    (tmp_path / "f").mkdir()
    try:
        Path(os.fsdecode(bytes(tmp_path / "f") + b"/" + os.fsencode(name))).write_text("x")
    except OSError:
        pytest.skip("this disk has no such names")
    with pytest.raises(ArtefactError, match="not a valid name for a signed file"):
        sign_folder(SignRequest(tmp_path / "f", key))


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "a/../b", "a//b", "./a", "a/", "", "C:\\x"])
def test_names_that_lead_elsewhere_are_refused_even_if_signed(tmp_path: Path, key: Path, name: str) -> None:
    with pytest.raises(ArtefactError):
        plain_name(name)
    digests = {name: "0" * 64}
    listed, private = list_of(digests), read_private_key(key)
    found = verify_files(digests, listed, sign(listed, private), None, private.public_key())
    assert found.problems


@pytest.mark.parametrize(
    "change", [lambda t: t + b"\n", lambda t: t.upper(), lambda t: t * 2, lambda t: t[:-1], lambda t: b"# x\n" + t]
)
def test_a_list_in_another_form_is_refused_even_if_signed(folder: Path, key: Path, change) -> None:  # type: ignore[no-untyped-def]
    listed = change((folder / LIST).read_bytes())
    (folder / LIST).write_bytes(listed)
    (folder / SIGNATURE).write_text(sign(listed, read_private_key(key)))
    assert "not as lcifr writes it" in problems(folder, key)[0]


def test_a_folder_is_not_signed_twice_by_accident(folder: Path, key: Path) -> None:
    with pytest.raises(Exception, match=r"already signed: SHA256SUMS\.sig"):
        sign_folder(SignRequest(folder, key))
    (folder / "new").touch()
    sign_folder(SignRequest(folder, key, force=True))
    assert problems(folder, key) == ()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is hidden from root")
def test_a_folder_that_cannot_be_read_hides_nothing(folder: Path, key: Path) -> None:
    (folder / "deep").chmod(0)
    try:
        with pytest.raises(PermissionError):
            problems(folder, key)
    finally:
        (folder / "deep").chmod(0o755)


def test_a_key_is_not_signed_along_with_the_folder_it_lies_in(tmp_path: Path) -> None:
    (tmp_path / "f" / "keys").mkdir(parents=True)
    with pytest.raises(LcifrError, match="could sign as you"):
        sign_folder(SignRequest(tmp_path / "f", make_key(tmp_path / "f" / "keys", "auditor")))
    assert not (tmp_path / "f" / LIST).exists()


def test_without_a_key_the_list_waits_for_ssh_keygen(tmp_path: Path, key: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "a").touch()
    assert sign_folder(SignRequest(tmp_path / "f", None)).key is None
    with pytest.raises(ArtefactError, match="it is not signed"):
        verify_signed(VerifyRequest(tmp_path / "f", key.with_suffix(".pub")))


@pytest.mark.parametrize("more", [b"\n" * LARGEST + b"something else", b"\n\n", b"\nsomething else"])
def test_nothing_follows_a_signature(folder: Path, key: Path, more: bytes) -> None:
    """The signature's own file is in no list: what is put behind it would be in a folder that is confirmed."""
    with (folder / SIGNATURE).open("ab") as file:
        file.write(more)
    assert len(problems(folder, key)) == 1
