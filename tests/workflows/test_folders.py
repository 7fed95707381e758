"""Two runs with one --out, folders that appear meanwhile, results that were changed: nothing is mixed in silence."""

from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcifr.errors import LcifrError
from lcifr.report import read_folder
from lcifr.workflows import auditing
from tests.story import QUICK, contents, lcifr, start
from tests.workflows.results import result

WEAK = "same(categorical) and numeric within 0 sd"
"""Nobody but oneself is similar, so everybody is certified. The producer's own φ refutes some."""
FAST = ("--no-baselines", "--no-bundle", "--workers", "1", "--chunk", "6")


def both(story: Path) -> tuple[Any, ...]:
    return ("audit", story / "producer", story / "consumer", *FAST)


@pytest.fixture
def weak(tmp_path: Path) -> Path:
    (tmp_path / "weak.phi").write_text(WEAK, encoding="utf-8")
    return tmp_path / "weak.phi"


# -- at the same time --------------------------------------------------------------------------------------------------


def test_a_second_run_is_told_who_is_at_work(story: Path, tmp_path: Path, weak: Path) -> None:
    """And the first one ends as if nobody had come: the verdicts are those of its own φ."""
    first = start(*both(story), "--out", "out", cwd=tmp_path)
    parts = tmp_path / ".out.work/.audited.parts"
    deadline = time.monotonic() + 120
    while not list(parts.glob("part-*")) and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    second = lcifr(*both(story), "--phi", weak, "--out", "out", cwd=tmp_path, expect=2)
    third = lcifr(*both(story), "--out", "out", "--force", cwd=tmp_path, expect=2)
    first.communicate(timeout=300)
    for refused in (second, third):
        assert f"out is being made by process {first.pid} on " in refused.err
        assert "lcifr audit --out out" in refused.err
        assert refused.out == ""
    assert result(tmp_path / "out")["phi"]["is_producers"]
    assert result(tmp_path / "out")["violated"] == result(story / "audit")["violated"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "weak.phi"]


@pytest.mark.parametrize("step", ["audited", "counted"])
def test_verdicts_of_another_formula_are_not_counted(
    step: str, story: Path, tmp_path: Path, weak: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever lies in the folder that is worked in: before the proofs, or between them and the figures."""
    lcifr(*both(story), "--phi", weak, "--out", "weak", cwd=tmp_path)
    honest = auditing.gather

    def mixed(work: Path, *arguments: Any) -> Any:
        shutil.rmtree(work / "audited")
        shutil.copytree(tmp_path / "weak/audited", work / "audited")
        return honest(work, *arguments)

    if step == "counted":
        monkeypatch.setattr(auditing, "gather", mixed)
        said = lcifr(*both(story), "--out", "out", cwd=tmp_path, expect=2)
        assert "audited is about another φ" in said.err
        assert not (tmp_path / "out").exists()
    else:
        shutil.copytree(tmp_path / "weak/audited", tmp_path / ".out.work/audited")
        lcifr(*both(story), "--out", "out", cwd=tmp_path, expect=1)
        assert result(tmp_path / "out")["violated"] == result(story / "audit")["violated"] > 0


@pytest.mark.parametrize("filled", [True, False])
def test_a_folder_that_appears_meanwhile_is_not_replaced(
    filled: bool, story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = auditing.gather

    def appear(*arguments: Any) -> Any:
        (tmp_path / "out").mkdir()
        if filled:
            (tmp_path / "out/mine").touch()
        return honest(*arguments)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(auditing, "gather", appear)
        said = lcifr(*both(story), "--out", "out", cwd=tmp_path, expect=2)
    assert "out has appeared while this was being made; what was made is kept in .out.work" in said.err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"] * filled
    shutil.rmtree(tmp_path / "out")
    said = lcifr(*both(story), "--out", "out", cwd=tmp_path, expect=1)
    assert "Resuming .out.work." in said.err
    assert "Auditing" not in said.err  # what was proved is not proved again
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_with_force_only_results_are_replaced(story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = auditing.gather
    lcifr(*both(story), "--out", "before", cwd=tmp_path, expect=1)

    def appear(*arguments: Any) -> Any:
        shutil.copytree(tmp_path / "before", tmp_path / "out")
        return honest(*arguments)

    monkeypatch.setattr(auditing, "gather", appear)
    lcifr(*both(story), "--out", "out", "--force", cwd=tmp_path, expect=1)
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "before/settings.json").unlink()
    said = lcifr(*both(story), "--out", "out", "--force", cwd=tmp_path, expect=2)
    assert "out was not written by lcifr, so --force will not replace it" in said.err


# -- changed by hand ---------------------------------------------------------------------------------------------------

COUNTING = """import os, signal; from lcifr.certification import population as tally
tally.Tally.add = lambda *those: os.kill(os.getpid(), signal.SIGKILL)
"""
"""kill −9 when all is proved and nothing is counted."""


def test_verdicts_that_were_edited_are_made_again(story: Path, tmp_path: Path) -> None:
    process = start(*both(story), "--out", "out", cwd=tmp_path, first=COUNTING)
    process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    file = tmp_path / ".out.work/audited/audit.parquet"
    pd.read_parquet(file).assign(verdict="CERTIFIED", reason="").to_parquet(file, index=False)
    said = lcifr(*both(story), "--out", "out", cwd=tmp_path, expect=1)
    assert "Note: .out.work/audited/manifest.json" in said.err
    assert "has changed since the last run wrote it, so it is made again" in said.err
    assert result(tmp_path / "out")["violated"] == result(story / "audit")["violated"]


def test_an_encoder_that_was_edited_is_learned_again(story: Path, tmp_path: Path) -> None:
    words = ("produce", story / "people.csv", "--phi", story / "people.phi", "--target", "repaid", *QUICK)
    words = (*words, "--epochs", "2", "--no-bundle")
    lcifr(*words, "--out", "whole", cwd=tmp_path)
    killed = "import os, signal; from lcifr.workflows import jobs as handovers\n"
    killed += "handovers.represent_file = lambda *those, **how: os.kill(os.getpid(), signal.SIGKILL)\n"
    process = start(*words, "--out", "out", cwd=tmp_path, first=killed)
    process.communicate(timeout=300)
    shutil.copyfile(story / "producer/encoder.safetensors", tmp_path / ".out.work/encoder.safetensors")
    said = lcifr(*words, "--out", "out", cwd=tmp_path)
    assert "encoder.safetensors has changed since the last run wrote it, so it is made again" in said.err
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def _other_verdicts(folder: Path, other: Path) -> None:
    shutil.rmtree(folder / "audited")
    shutil.copytree(other / "audited", folder / "audited")


def _other_people(folder: Path, other: Path) -> None:
    frame = pd.read_parquet(folder / "people.parquet")
    frame.iloc[::-1].to_parquet(folder / "people.parquet", index=False)


def _other_figures(folder: Path, other: Path) -> None:
    changed = result(folder) | {"accuracy": 0.999}
    (folder / "result.json").write_text(json.dumps(changed), encoding="utf-8")


def _other_result(folder: Path, other: Path) -> None:
    shutil.copyfile(other / "result.json", folder / "result.json")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_other_verdicts, "audited is about another φ"),
        (_other_people, r"people\.parquet has changed since the run that wrote the folder"),
        (_other_figures, r"result\.json has changed since the run"),
        (_other_result, "is about another φ"),
    ],
)
def test_a_report_is_made_of_one_run_alone(change: Any, said: str, story: Path, tmp_path: Path, weak: Path) -> None:
    lcifr(*both(story), "--phi", weak, "--out", "weak", cwd=tmp_path)
    shutil.copytree(story / "audit", tmp_path / "audit", ignore=shutil.ignore_patterns("bundle", "report.*"))
    read_folder(tmp_path / "audit")  # whoever has taken the bundle away may still see a page
    change(tmp_path / "audit", tmp_path / "weak")
    with pytest.raises(LcifrError, match=said):
        read_folder(tmp_path / "audit")


@pytest.mark.parametrize("file", ["producer/encoder.safetensors", "consumer/model.safetensors"])
def test_folders_of_two_runs_in_one_are_not_audited(file: str, story: Path, tmp_path: Path) -> None:
    words = ("produce", story / "people.csv", "--phi", story / "people.phi", "--target", "repaid", *QUICK)
    lcifr(*words, "--epochs", "1", "--no-bundle", "--out", "p", cwd=tmp_path)
    lcifr("consume", "p/handover", "p/labels.csv", "--epochs", "1", "--out", "c", cwd=tmp_path)
    for name in ("producer", "consumer"):
        shutil.copytree(story / name, tmp_path / name, ignore=shutil.ignore_patterns("bundle"))
    shutil.copyfile(tmp_path / file.replace("producer", "p").replace("consumer", "c"), tmp_path / file)
    said = lcifr("audit", "producer", "consumer", "--out", "out", cwd=tmp_path, expect=2)
    assert "is not the one that its result.json is about: the hashes differ" in said.err
