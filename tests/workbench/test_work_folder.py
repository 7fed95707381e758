"""Only files below the folder: every way out is refused, and nothing outside is listed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lcifr.errors import LcifrError
from lcifr.workbench.work_folder import WorkFolder

WAYS_OUT = (
    "../secret.csv",
    "sub/../../secret.csv",
    "/etc/passwd",
    "//etc/passwd",
    "..",
    ".",
    "",
    ".hidden.csv",
    "sub/.hidden.csv",
    "..\\secret.csv",
    "C:\\secret.csv",
    "people.csv\x00.phi",
    "people\n.csv",
    "-out.csv",
    "--out=evil.csv",
    "%2e%2e/secret.csv",
    "out/secret.csv",
    "link.csv",
    "loop",
    "file:/secret.csv",
    "s3:/bucket/secret.csv",
)


@pytest.fixture
def folder(tmp_path: Path) -> WorkFolder:
    inside = tmp_path / "inside"
    for name in ("sub", "file:", "s3:/bucket"):  # two of them are what commands take for places elsewhere
        (inside / name).mkdir(parents=True)
    (tmp_path / "secret.csv").write_text("a\n1\n", encoding="utf-8")
    for name in ("people.csv", "sub/more.csv", "sub/.hidden.csv", ".hidden.csv", *WAYS_OUT[-2:]):
        (inside / name).write_text("a\n1\n", encoding="utf-8")
    (inside / "link.csv").symlink_to(tmp_path / "secret.csv")
    (inside / "out").symlink_to(tmp_path)
    (inside / "loop").symlink_to(inside / "loop")
    (inside / "fine.csv").symlink_to(inside / "people.csv")
    return WorkFolder(inside)


@pytest.mark.parametrize("name", WAYS_OUT)
def test_no_name_leads_out(folder, name):
    for find in (folder.file, folder.folder, folder.new):
        with pytest.raises(LcifrError):
            find(name)


def test_what_is_inside_is_found(folder):
    assert folder.file("sub/more.csv") == folder.root / "sub" / "more.csv"
    assert folder.file("fine.csv") == folder.root / "people.csv"
    assert folder.new("sub/new.phi", ".phi").parent == folder.root / "sub"
    with pytest.raises(LcifrError, match=r"does not end in \.phi"):
        folder.new("new.txt", ".phi")


def test_only_what_is_inside_is_listed(folder):
    assert folder.listing().tables == ["fine.csv", "people.csv", "sub/more.csv"]


def test_a_file_beside_that_commands_read_by_themselves_must_not_lead_out(folder, tmp_path):
    (tmp_path / "people.toml").write_text("[attributes.a]\nkind = 'numeric'\n", encoding="utf-8")
    (folder.root / "people.toml").symlink_to(tmp_path / "people.toml")
    with pytest.raises(LcifrError, match="is outside the folder"):
        folder.file("people.csv")


def test_a_result_folder_with_a_link_that_leads_out_is_refused(folder, tmp_path):
    audit = folder.root / "audit"
    audit.mkdir()
    (audit / "result.json").write_text("{}", encoding="utf-8")
    assert folder.folder("audit") == audit
    (audit / "people.parquet").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(LcifrError, match="is outside the folder"):
        folder.folder("audit")


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(LcifrError, match="is not a folder"):
        WorkFolder(tmp_path / "not-there")


def test_everything_is_listed_by_what_it_is(written):
    found = WorkFolder(written).listing()
    assert found.tables == ["people.csv", "train.csv"]
    assert (found.formulas, found.schemas, found.models) == (["people.phi"], ["people.toml"], ["model.skops"])
    assert found.audits == ["audit"]
    assert not found.cut


def test_very_many_files_are_cut_and_it_is_said(folder, monkeypatch):
    from lcifr.workbench import work_folder

    monkeypatch.setattr(work_folder, "MOST", 2)
    found = folder.listing()
    assert found.cut
    assert len(found.tables) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_passed_over(folder):
    (folder.root / "sub").chmod(0)
    try:
        assert folder.listing().tables == ["fine.csv", "people.csv"]
    finally:
        (folder.root / "sub").chmod(0o700)
