"""Ctrl-C: what is done is kept, it is said how to go on, and the end is the same as without it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from lcifr.estimators import FairEncoder
from lcifr.workflows import jobs
from lcifr.workflows.jobs import AuditJob
from tests.story import QUICK, contents, lcifr, start, write_german, write_made_up

STOPPED = 130


def stop_when(there: Callable[[], bool], *words: str, cwd: Path) -> str:
    """Start a command, press Ctrl-C once ``there`` is true, and return what it says."""
    process = start(*words, cwd=cwd)
    deadline = time.monotonic() + 300
    while not there() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == STOPPED, f"{process.returncode}\n{out}\n{err}"
    assert "Traceback" not in err
    assert out == ""
    return err


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.long)])
def test_an_audit_goes_on_and_ends_the_same(story, tmp_path, monkeypatch, workers):
    words = ["audit", str(story / "producer"), str(story / "consumer"), "--no-baselines", "--no-bundle", "--chunk", "6"]
    words += ["--workers", workers]
    work = tmp_path / ".stopped.work"
    err = stop_when(lambda: len(parts(work)) > 1, *words, "--out", "stopped", cwd=tmp_path)
    assert f"kept in {work.name}" in err
    assert "run the same command again" in err
    assert not (tmp_path / "stopped").exists()
    done = len(parts(work))
    assert 0 < done < 5

    worked, honest = [], AuditJob.work
    monkeypatch.setattr(AuditJob, "work", lambda job, chunk: worked.append(chunk) or honest(job, chunk))
    words[-1] = "1"  # in this process, to count
    lcifr(*words, "--out", "stopped", cwd=tmp_path, expect=1)
    assert len(worked) == 5 - done  # nobody twice
    lcifr(*words, "--out", "whole", cwd=tmp_path, expect=1)
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stopped", "whole"]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at signals in /proc, which only Linux has")
def test_workers_that_are_starting_say_nothing_when_stopped(story, tmp_path):
    """A terminal's Ctrl-C reaches them too, in the seconds in which they import; the answer is the parent's alone."""
    words = ("audit", story / "producer", story / "consumer", "--no-baselines", "--no-bundle", "--chunk", "6")
    process = start(*words, "--workers", "2", "--out", "stopped", cwd=tmp_path, own_group=True)
    deadline = time.monotonic() + 300
    while not (found := workers_of(process.pid)) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert all(map(blocks_ctrl_c, found))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)  # which waits for all who could still say something
    assert process.returncode == STOPPED, err
    assert "run the same command again" in err
    assert "Traceback" not in err


def workers_of(pid: int) -> list[Path]:
    """In /proc; not Python's own helper, the tracker of shared memory."""
    there = [Path(f"/proc/{one}") for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [one for one in there if "spawn_main" in (one / "cmdline").read_text()]


def blocks_ctrl_c(process: Path) -> bool:
    blocked = next(line for line in (process / "status").read_text().splitlines() if line.startswith("SigBlk"))
    return bool(int(blocked.split()[1], 16) >> (signal.SIGINT - 1) & 1)


def parts(work: Path) -> list[Path]:
    return [path for path in (work / ".audited.parts").glob("part-*") if path.is_file()]


KILLED = """import os, signal; from lcifr.workflows import parts
parts.discard = lambda parts: os.kill(os.getpid(), signal.SIGKILL)
"""
"""kill −9 at the moment when the hand-over has just got its name."""


def test_no_attributes_are_left_by_a_killed_handover(story, tmp_path):
    """Nowhere, at the worst moment; and the same command then ends as if nothing had happened."""
    words = ["represent", str(story / "producer"), str(story / "new.csv")]
    process = start(*words, "--out", "killed", cwd=tmp_path, first=KILLED)
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    work = tmp_path / ".killed.work"
    left = {str(path.relative_to(work)) for path in work.rglob("*") if path.is_file()}
    handed = {f"handover/{name}" for name in ("manifest.json", "latent.safetensors", "ids.json")}
    handed.add(".handover.lock")  # says who it was
    assert {name for name in left if not name.startswith(".handover.parts/")} == {"settings.json", *handed}
    assert all(name.endswith(".safetensors") for name in left - {"settings.json", ".handover.parts/named", *handed})

    lcifr(*words, "--out", "killed", cwd=tmp_path)
    lcifr(*words, "--out", "whole", cwd=tmp_path)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "whole"]


def test_parts_of_another_version_are_noted(story, tmp_path):
    """A plain line for people, no Python warning."""
    parts_of_before = tmp_path / ".new.work/.handover.parts"
    parts_of_before.mkdir(parents=True)
    (parts_of_before / "part-00000000-v1-abc.safetensors").touch()
    said = lcifr("represent", story / "producer", story / "new.csv", "--out", "new", cwd=tmp_path)
    assert "Note: .new.work/.handover.parts held 1 part(s) of another version: not used" in said.err
    assert "Warning" not in said.err


def test_a_search_keeps_its_models(tmp_path, monkeypatch):
    write_made_up(tmp_path, signal=3.0, share=0.5, people=80)
    words = ["tune", "some people.csv", "--phi", "who.phi", "--target", "paid", *QUICK, "--epochs", "25"]
    words += ["--gammas", "1", "--required", "0.1"]
    work = tmp_path / ".stopped.work"
    err = stop_when(lambda: (work / "search/unaware.json").exists(), *words, "--out", "stopped", cwd=tmp_path)
    assert "The model that was being learned starts anew." in err
    assert (work / "search/plain.encoder").exists()

    fitted, honest = [], FairEncoder.fit
    monkeypatch.setattr(FairEncoder, "fit", lambda self, *a, **o: fitted.append(self.gamma) or honest(self, *a, **o))
    lcifr(*words, "--out", "stopped", cwd=tmp_path)
    assert 0.0 not in fitted  # the baselines were there
    lcifr(*words, "--out", "whole", cwd=tmp_path)
    first, second = (json.loads((tmp_path / name / "result.json").read_text()) for name in ("stopped", "whole"))
    assert first == second
    assert contents(tmp_path / "stopped") == contents(tmp_path / "whole")


def test_learning_is_not_kept_and_it_is_said_so(tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    write_german(tmp_path, 40)
    monkeypatch.setattr(FairEncoder, "fit", interrupted)
    words = ["produce", "people.csv", "--phi", "people.phi", "--target", "repaid", "--out", "p"]
    said = lcifr(*words, cwd=tmp_path, expect=STOPPED)
    assert "Learning is not kept, it starts anew." in said.err
    assert not (tmp_path / "p").exists()


def test_a_trained_encoder_is_kept(tmp_path, monkeypatch):
    """Stopped after learning, the same command does not learn again; another command does."""
    write_german(tmp_path, 30)
    words = ["produce", "people.csv", "--phi", "people.phi", "--target", "repaid", *QUICK, "--no-bundle", "--out", "p"]
    fits, honest = [], FairEncoder.fit
    monkeypatch.setattr(FairEncoder, "fit", lambda self, *a, **o: fits.append(1) or honest(self, *a, **o))

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(jobs, "represent_file", interrupted)
        said = lcifr(*words, "--epochs", "2", cwd=tmp_path, expect=STOPPED)
    assert "What was learned is kept." in said.err
    said = lcifr(*words, "--epochs", "2", cwd=tmp_path)
    assert "Resuming .p.work." in said.err
    assert len(fits) == 1
    lcifr(*words[:-1], "q", "--epochs", "2", cwd=tmp_path)
    assert contents(tmp_path / "p") == contents(tmp_path / "q")

    with monkeypatch.context() as stopped:
        stopped.setattr(jobs, "represent_file", interrupted)
        lcifr(*words[:-1], "r", "--epochs", "1", cwd=tmp_path, expect=STOPPED)
    lcifr(*words[:-1], "r", "--epochs", "2", cwd=tmp_path)  # other settings: what is there is not used
    assert contents(tmp_path / "r") == contents(tmp_path / "p")
    assert pd.read_csv(tmp_path / "r/labels.csv").columns.tolist() == ["id", "repaid"]
