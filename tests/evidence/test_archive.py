"""Archives of evidence: the same files, the same bytes; and no archive but such a one is read."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.errors import ArtefactError
from lcifr.evidence.signing import archive_bytes, read_archive, read_archive_bytes, write_archive

NAMES = st.text("abcφ.-_ *", min_size=1, max_size=6).filter(lambda name: name not in (".", ".."))
FILES = st.dictionaries(NAMES, st.binary(max_size=40), max_size=4)


@given(FILES)
def test_what_is_written_is_read(files: dict[str, bytes]) -> None:
    data = archive_bytes(files)
    assert read_archive_bytes(data, "x") == files
    assert archive_bytes(dict(reversed(files.items()))) == data


@given(FILES.filter(bool), st.integers(0), st.integers(1, 255))
def test_no_byte_of_an_archive_can_change(files: dict[str, bytes], place: int, bits: int) -> None:
    data = bytearray(archive_bytes(files))
    data[place % len(data)] ^= bits
    try:
        found = read_archive_bytes(bytes(data), "x")
    except ArtefactError:
        return
    assert found != files  # another archive of ours, of other files, and no second one of these


def test_other_archives_are_refused(tmp_path: Path) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"0" * 1000)
    for data in (made.getvalue(), b"", b"PK", archive_bytes({"a": b"1"}) + b"\0", b"\0" + archive_bytes({"a": b"1"})):
        with pytest.raises(ArtefactError, match="not an archive as"):
            read_archive_bytes(data, "x")


@pytest.mark.parametrize("name", ["../a", "/a", "a\\b", "a\nb"])
def test_names_that_lead_elsewhere_are_neither_written_nor_read(name: str) -> None:
    with pytest.raises(ArtefactError):
        archive_bytes({name: b"x"})
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        entry = zipfile.ZipInfo("x", (1980, 1, 1, 0, 0, 0))
        entry.filename = name
        archive.writestr(entry, b"x")
    with pytest.raises(ArtefactError):
        read_archive_bytes(made.getvalue(), "x")


def test_every_tool_unpacks_the_same(tmp_path: Path) -> None:
    files = {"a": np.random.default_rng(0).bytes(999), "deep/φ": b"", "deep/er/b c": b"1"}
    write_archive(tmp_path / "x.zip", files)
    subprocess.run([sys.executable, "-m", "zipfile", "-e", "x.zip", "out"], cwd=tmp_path, check=True)
    assert {
        p.relative_to(tmp_path / "out").as_posix(): p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()
    } == files
    assert read_archive(tmp_path / "x.zip") == files


@pytest.mark.parametrize("names", [("report.html", "Report.html"), ("\u00e9", "e\u0301"), ("a", "a/b")])
def test_names_of_which_some_disks_keep_one_are_refused(names: tuple[str, str]) -> None:
    """Who unpacks such an archive gets another file on another machine."""
    with pytest.raises(ArtefactError, match="not an archive as"):
        read_archive_bytes(archive_bytes(dict.fromkeys(names, b"")), "x")
