"""Proofs that an audit writes: of people drawn at random, of all where they are few, and it is said of whom."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pandas as pd

from tests.story import QUICK, contents, lcifr
from tests.workflows.results import result

WEAK = "same(categorical) and numeric within 0 sd"
"""Nobody but oneself is similar, so everybody is certified. The producer's own φ refutes some."""
FAST = ("--no-baselines", "--no-bundle", "--workers", "1", "--chunk", "6")


def both(story: Path) -> tuple[Any, ...]:
    return ("audit", story / "producer", story / "consumer", *FAST)


def test_some_people_are_proved_and_it_is_said_who(story: Path, tmp_path: Path) -> None:
    """Drawn at random, the same every time, whatever their verdict; the checker is asked about them alone."""
    words = ("audit", story / "producer", story / "consumer", "--no-baselines", "--proofs", "7")
    said = lcifr(*words, "--out", "some", cwd=tmp_path, expect=1)
    assert "checked: 7 of 30 people, drawn at random (seed 0); use --bundle to check everyone" in said.out
    checked = result(tmp_path / "some")["checked"]
    assert (checked["people"], checked["of"], checked["seed"], checked["rejected"]) == (7, 30, 0, {})
    report = lcifr("check", "some/bundle", "--json", cwd=tmp_path).json
    named = [name for names in report["names"].values() for name in names]
    rows = pd.read_parquet(tmp_path / "some/audited/audit.parquet").set_index("id")
    for word, names in (("CERTIFIED", "certified"), ("COUNTEREXAMPLE", "counterexample")):
        assert all(rows.loc[name, "verdict"] == word for name in report["names"][names])
    assert len(named) <= 7 == report["people"]
    assert report["drawn"] == {"people": 7, "of": 30, "seed": 0}
    said = lcifr("check", "some/bundle", cwd=tmp_path)
    assert "7 of 30 people, drawn at random (seed 0); nothing is confirmed for the others" in said.out

    lcifr(*words, "--out", "again", cwd=tmp_path, expect=1)
    assert contents(tmp_path / "some") == contents(tmp_path / "again")
    lcifr(*words, "--seed", "1", "--out", "others", cwd=tmp_path, expect=1)
    other = lcifr("check", "others/bundle", "--json", cwd=tmp_path).json
    assert other["names"] != report["names"]


def test_fewer_people_than_that_are_all_proved(story: Path, tmp_path: Path) -> None:
    checked = result(story / "audit")["checked"]
    assert checked["people"] == checked["of"] == result(story / "audit")["people"]
    assert "nothing is confirmed for the others" not in lcifr("check", story / "audit/bundle", cwd=tmp_path).out


def test_what_comes_next_can_be_pasted(story: Path, tmp_path: Path) -> None:
    """Also from folders with spaces; each command says the next one, up to the last."""
    learn = ("produce", story / "people.csv", "--phi", story / "people.phi", "--target", "repaid", *QUICK)
    said = lcifr(*learn, "--epochs", "2", "--out", "a producer", cwd=tmp_path)
    for _ in range(2):
        command = next(line for line in said.err.splitlines() if "lcifr" in line and line.startswith("Next"))
        words = shlex.split(command[command.index("lcifr ") :])[1:]
        words[words.index("--out") + 1] = f"my {words[0]}"
        said = lcifr(*words, cwd=tmp_path, expect=None)
    assert words[:3] == ["audit", "a producer", "my consume"]
    _, last = said.err.split("Next: ")
    shown = [shlex.split(line) for line in last.splitlines()]
    assert shown == [["lcifr", "report", "my audit"], ["lcifr", "check", "my audit/bundle"]]
    for words in shown:
        lcifr(*words[1:], cwd=tmp_path)
    said = lcifr("represent", "a producer", story / "new.csv", "--out", "new people", cwd=tmp_path)
    assert "'new people/handover'" in said.err
