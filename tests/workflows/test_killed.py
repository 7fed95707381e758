"""Commands that were killed: they resume, prove nothing again, and end the same."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from lcifr.workflows import jobs
from lcifr.workflows.jobs import AuditJob
from tests.story import contents, lcifr, start

PEOPLE = 20


# -- killed ------------------------------------------------------------------------------------------------------------

RUNS = {
    "represent": (
        ["represent", "{story}/producer", "{table}", "--id", "who"],
        ".handover.parts",
        jobs.RepresentJob,
    ),
    "audit": (
        ["audit", "{story}/producer", "{story}/consumer", "{table}", "--id", "who", "--no-bundle", "--no-baselines"],
        ".audited.parts",
        AuditJob,
    ),
    "certify": (["certify", "{story}/consumer", "{handed}"], ".certified.parts", jobs.CertifyJob),
}


@pytest.mark.parametrize("name", ["represent", "audit", pytest.param("certify", marks=pytest.mark.long)])
def test_a_killed_command_goes_on_and_ends_the_same(
    name: str, story: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kill −9 through the command itself: nobody is done twice or lost, who was done is said, the bytes are equal."""
    command, parts, job = RUNS[name]
    table, handed = place / "people.parquet", place / "handed/handover"
    words = [word.format(story=story, table=table, handed=handed) for word in command] + ["--chunk", "3"]
    words += ["--workers", "1"]
    process = start(*words, "--out", "killed", cwd=tmp_path)
    there = tmp_path / ".killed.work" / parts
    deadline = time.monotonic() + 120
    while len(list(there.glob("part-*"))) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    done = len(list(there.glob("part-*")))
    assert 2 <= done < 7

    worked, honest = [], job.work
    monkeypatch.setattr(job, "work", lambda self, chunk: worked.extend(chunk.ids) or honest(self, chunk))
    said = lcifr(*words, "--out", "killed", cwd=tmp_path, expect=None)
    assert "Resuming .killed.work." in said.err
    assert f"{3 * done} of {PEOPLE} people were already done before the interruption" in said.err
    assert worked == [f"p{i}" for i in range(3 * done, PEOPLE)]
    said = lcifr(*words, "--out", "whole", cwd=tmp_path, expect=None)
    assert "done before" not in said.err
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "whole"]


COUNTING = """import os, signal; from lcifr.certification import population as tally
tally.Tally.add = lambda *those: os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("name", ["certify", pytest.param("audit", marks=pytest.mark.long)])
def test_killed_while_it_counts_it_proves_nothing_again(
    name: str, story: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, _, job = RUNS[name]
    words = [w.format(story=story, table=place / "people.parquet", handed=place / "handed/handover") for w in command]
    process = start(*words, "--out", "killed", cwd=tmp_path, first=COUNTING)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    with monkeypatch.context() as done:
        done.setattr(job, "work", lambda self, chunk: pytest.fail("everybody was done"))
        lcifr(*words, "--out", "killed", cwd=tmp_path, expect=None)
    lcifr(*words, "--out", "whole", cwd=tmp_path, expect=None)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "whole"]
