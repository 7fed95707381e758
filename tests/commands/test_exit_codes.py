"""Exit codes are a contract: each documented one is produced, once for every command that documents it."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from lcifr.certificates.folder import sha256
from lcifr.check import bundle as checker
from tests.commands.story import lcifr

VERDICTS = {"CERTIFIED": 0, "COUNTEREXAMPLE": 1, "UNDECIDED": 3}


@pytest.fixture
def some(story, tmp_path):
    """Write a table of the audited people with these verdicts."""

    def write(*verdicts: str) -> Path:
        frame = pd.read_parquet(story / "audit/audited/audit.parquet")
        mask = frame["verdict"].isin(verdicts).to_numpy()
        assert set(verdicts) <= set(frame["verdict"])
        pd.read_parquet(story / "audit/people.parquet")[mask].to_csv(tmp_path / "some.csv", index=False)
        return tmp_path / "some.csv"

    return write


@pytest.mark.parametrize(("verdicts", "code"), [
    (("CERTIFIED",), 0),
    (("CERTIFIED", "COUNTEREXAMPLE", "UNDECIDED"), 1),
    (("CERTIFIED", "UNDECIDED"), 3),
])  # fmt: skip
def test_audit(story, tmp_path, some, verdicts, code):
    words = ("audit", story / "producer", story / "consumer", some(*verdicts), "--no-bundle", "--no-baselines")
    lcifr(*words, "--out", "audit", cwd=tmp_path, expect=code)
    assert (tmp_path / "audit/result.json").is_file()  # whatever was found, the work was done
    assert "--force" in lcifr(*words, "--out", "audit", cwd=tmp_path, expect=2).err


@pytest.mark.parametrize(("verdicts", "strict", "under"), [
    (("CERTIFIED",), 0, 0),
    (("CERTIFIED", "COUNTEREXAMPLE"), 1, 1),
    (("CERTIFIED", "UNDECIDED"), 3, 3),
])  # fmt: skip
def test_certify(story, tmp_path, some, verdicts, strict, under):
    words = ("certify", story / "consumer", some(*verdicts), "--producer", story / "producer", "--force", "--out", "c")
    lcifr(*words, cwd=tmp_path, expect=0)
    lcifr(*words, "--strict", cwd=tmp_path, expect=strict)
    lcifr(*words, "--fail-under", "0.999", cwd=tmp_path, expect=under)
    lcifr(*words, "--fail-under", "0.5", cwd=tmp_path, expect=0)
    lcifr(*words, "--fail-under", "0.5", "--strict", cwd=tmp_path, expect=strict)
    lcifr(*words, "--fail-under", "95", cwd=tmp_path, expect=2)


def test_certify_from_a_handover(story, tmp_path):
    words = ("certify", story / "consumer", story / "producer/handover/held-out", "--out", "c")
    lcifr(*words, "--strict", cwd=tmp_path, expect=3)  # z alone shows nobody
    lcifr(*words, "--force", "--fail-under", "0.1", cwd=tmp_path, expect=0)


def test_check(story, tmp_path, monkeypatch):
    shutil.copytree(story / "audit/bundle", tmp_path / "bundle")
    assert "everything that is claimed" in lcifr("check", "bundle", cwd=tmp_path, expect=0).out

    _alter(tmp_path / "bundle")  # a certificate that is not true, all hashes redone
    refused = lcifr("check", "bundle", cwd=tmp_path, expect=1)
    assert "NOT confirmed" in refused.out

    (tmp_path / "bundle/people.jsonl.gz").write_bytes(b"")
    unread = lcifr("check", "bundle", cwd=tmp_path, expect=2)
    assert unread.out == ""
    assert "Fix:" in unread.err
    lcifr("check", "nowhere", cwd=tmp_path, expect=2)

    monkeypatch.setattr(checker, "check_bundle", lambda folder, progress: checker.Report(people=1, trusted=["7"]))
    assert lcifr("check", "bundle", "--json", cwd=tmp_path, expect=3).json["trusted"] == ["7"]


def _alter(bundle: Path) -> None:
    """Claim that everybody who is refuted or undecided were certified, by the proof of somebody who is."""
    lines = [json.loads(line) for line in gzip.decompress((bundle / "people.jsonl.gz").read_bytes()).splitlines()]
    good = next(line["decision"] for line in lines if line["decision"]["verdict"] == "certified")
    for line in lines:
        if line["decision"]["verdict"] != "certified":
            line["decision"] = good
    (bundle / "people.jsonl.gz").write_bytes(
        gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    )
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    file = bundle / "people.jsonl.gz"
    manifest["files"][file.name] = {"sha256": sha256(file), "bytes": file.stat().st_size}
    (bundle / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
