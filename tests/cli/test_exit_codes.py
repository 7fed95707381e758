"""Exit codes are a contract: each documented one is produced, once for every command that documents it."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcifr import Network, RobustClassifier
from lcifr.check import bundle as checker
from lcifr.data.files import sha256_of
from tests.story import lcifr


@pytest.fixture
def case(story, tmp_path):
    """A consumer and a table: everybody certified, some refuted, or a model by which nobody can decide."""

    def choose(kind: str) -> tuple[Path, Path]:
        frame = pd.read_parquet(story / "audit/audited/audit.parquet")
        mask = (frame["verdict"] == "CERTIFIED").to_numpy() | (kind == "refuted")
        assert mask.all() == (kind == "refuted")
        pd.read_parquet(story / "audit/people.parquet")[mask].to_csv(tmp_path / "some.csv", index=False)
        return (_tied(story, tmp_path) if kind == "tied" else story / "consumer"), tmp_path / "some.csv"

    return choose


def _tied(story: Path, place: Path) -> Path:
    """A consumer whose model says 0 to everybody: a tie, which is never certified and refutes nobody."""
    shutil.copytree(story / "consumer", place / "tied")
    head = RobustClassifier.load(place / "tied/model.safetensors")
    zeros = Network.from_arrays(
        [(np.zeros_like(layer.weight), np.zeros_like(layer.bias)) for layer in head.network_.layers]
    )
    head._keep(replace(head.model_, function=zeros), head.history_)
    head.save(place / "tied/model.safetensors")
    result = json.loads((place / "tied/result.json").read_text(encoding="utf-8")) | {"model": head.network_.hash}
    (place / "tied/result.json").write_text(json.dumps(result), encoding="utf-8")
    return place / "tied"


KINDS = [("certified", 0), ("refuted", 1), ("tied", 3)]


@pytest.mark.parametrize(("kind", "code"), KINDS)
def test_audit(story, tmp_path, case, kind, code):
    words = ("audit", story / "producer", *case(kind), "--no-bundle", "--no-baselines", "--out", "audit")
    lcifr(*words, cwd=tmp_path, expect=code)
    assert (tmp_path / "audit/result.json").is_file()  # whatever was found, the work was done
    assert "--force" in lcifr(*words, cwd=tmp_path, expect=2).err


@pytest.mark.parametrize(("kind", "code"), KINDS)
def test_certify(story, tmp_path, case, kind, code):
    words = ("certify", *case(kind), "--producer", story / "producer", "--force", "--out", "c")
    enough = 3 if kind == "tied" else 0
    found = lcifr(*words, "--json", cwd=tmp_path, expect=0).json
    assert (found["violated"] > 0, found["undecided"] > 0) == (code == 1, code == 3)  # what the codes are about
    assert (found["share"] >= 0.5) == (enough == 0)
    lcifr(*words, "--strict", cwd=tmp_path, expect=code)
    failed = lcifr(*words, "--fail-under", "0.999", cwd=tmp_path, expect=code)
    assert ("--fail-under 0.999: failed, only " in failed.err) == (code != 0)
    assert f"exit {code}, " in failed.err or not code
    passed = lcifr(*words, "--fail-under", "0.5", cwd=tmp_path, expect=enough)
    assert ("--fail-under 0.5: passed, " in passed.err) == (enough == 0)
    lcifr(*words, "--fail-under", "0.5", "--strict", cwd=tmp_path, expect=code)
    assert "--fail-under" in lcifr(*words, "--fail-under", "95", cwd=tmp_path, expect=2).err


def test_certify_from_a_handover(story, tmp_path):
    words = ("certify", story / "consumer", story / "producer/handover/held-out", "--out", "c")
    found = lcifr(*words, "--strict", "--json", cwd=tmp_path, expect=3).json
    assert found["violated"] == 0 < found["undecided"]  # z alone shows nobody
    assert found["share"] >= 0.1
    lcifr(*words, "--force", "--fail-under", "0.1", cwd=tmp_path, expect=0)


def test_check(story, tmp_path, monkeypatch):
    shutil.copytree(story / "audit/bundle", tmp_path / "bundle")
    assert "every claim about them is confirmed" in lcifr("check", "bundle", cwd=tmp_path, expect=0).out

    _alter(tmp_path / "bundle")  # a certificate that is not true, all hashes redone
    refused = lcifr("check", "bundle", cwd=tmp_path, expect=1)
    assert "NOT confirmed" in refused.out

    (tmp_path / "bundle/people.jsonl.gz").write_bytes(b"")
    unread = lcifr("check", "bundle", cwd=tmp_path, expect=2)
    assert unread.out == ""
    assert "Fix:" in unread.err
    assert "nowhere" in lcifr("check", "nowhere", cwd=tmp_path, expect=2).err

    short = checker.check_bundle(story / "audit/bundle")
    short.names["unproved"].append("7")
    monkeypatch.setattr(checker, "check_bundle", lambda folder, progress, patience=1: short)
    assert lcifr("check", "audit", "--json", cwd=story, expect=0).json["names"]["unproved"] == ["7"]
    assert "radii without a proof: 1" in lcifr("check", "audit", "--strict", cwd=story, expect=4).out


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
    manifest["files"][file.name] = {"sha256": sha256_of(file), "bytes": file.stat().st_size}
    (bundle / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
