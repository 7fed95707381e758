"""Parts of runs that were killed at the worst moments: cleared where the whole is there, kept where it is not."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lcifr.errors import ArtefactError
from lcifr.workflows import jobs
from lcifr.workflows.jobs import represent_file
from tests.certification.scenes import people
from tests.workflows.world import ROOT, audit_all, contents, one

CHUNK, PARTS = 5, 4


def hand_over(source: Any, folder: Path, **options: Any) -> None:
    represent_file(one().encoder, source, folder, chunk=CHUNK, workers=1, **options)


RUNS = {jobs.RepresentJob: hand_over, jobs.AuditJob: audit_all}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    people(CHUNK * PARTS, 5).to_parquet(tmp_path / "people.parquet", index=False)
    return tmp_path / "people.parquet"


# -- killed between two steps ------------------------------------------------------------------------------------------

KILLED = f"""
import os, signal, sys
sys.path.insert(0, {str(ROOT)!r})
from lcifr.workflows import jobs as audited, parts
from tests.workflows.world import audit_all

def kill(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

where, name = sys.argv[1].split(".")
setattr({{"audited": audited, "parts": parts}}[where], name, kill)
audit_all("people.parquet", __import__("pathlib").Path("out"))
"""


def killed_at(moment: str, cwd: Path) -> None:
    process = subprocess.run([sys.executable, "-c", KILLED, moment], cwd=cwd, capture_output=True, text=True)
    assert process.returncode == -signal.SIGKILL, process.stderr


def test_a_whole_that_did_not_get_its_name_is_cleared(table: Path, tmp_path: Path) -> None:
    """Killed while parts are joined: what lies there is in the folder of the parts, and the next run removes it."""
    killed_at("audited.describe_files", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.lock", ".out.parts", "people.parquet"]
    audit_all(table, tmp_path / "out")
    audit_all(table, tmp_path / "whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "people.parquet", "whole"]


def test_parts_of_a_finished_run_are_cleared(table: Path, tmp_path: Path) -> None:
    """Killed when the folder has its name and its parts are still there: the next run, refused, removes them."""
    killed_at("parts.discard", tmp_path)
    assert (tmp_path / ".out.parts").is_dir()
    audit_all(table, tmp_path / "whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    with pytest.raises(ArtefactError, match="already exists"):
        audit_all(table, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "people.parquet", "whole"]


def test_parts_of_a_stopped_run_outlive_a_folder_in_the_way(table: Path, tmp_path: Path) -> None:
    """A folder of the same name is no reason to throw away what a stopped run has done."""
    (tmp_path / ".out.parts").mkdir()
    (tmp_path / ".out.parts/part-00000000-v3-0.parquet").touch()
    (tmp_path / "out").mkdir()
    with pytest.raises(ArtefactError, match="already exists"):
        audit_all(table, tmp_path / "out")
    assert [path.name for path in (tmp_path / ".out.parts").iterdir()] == ["part-00000000-v3-0.parquet"]
