"""People as the commands read them: what is wrong with a table, samples, and who is too many for memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcifr.report import folder as report_folder
from lcifr.workflows import people as source
from lcifr.workflows.jobs import AuditJob
from tests.story import QUICK, contents, lcifr
from tests.workflows.results import result

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("age", None, 'column "age", row 19: the value is missing'),
        ("sex", "other", 'column "sex", row 19: the schema does not list the category "other"'),
        ("who", "p3", "column \"who\" contains 'p3' twice"),
        ("who", None, 'column "who" has no id in row 19'),
        ("repaid", None, 'column "repaid", row 19: the target is missing'),
    ],
)
def test_the_last_row_is_read_before_the_first_is_proved(
    column: str, value: Any, said: str, kind: str, story: Path, place: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    table = pd.read_parquet(place / "people.parquet").astype({column: object})
    table.loc[19, column] = value
    if kind == "parquet" and column == "age":
        table = table.astype({"age": float})
    getattr(table, f"to_{kind}")(tmp_path / f"odd.{kind}", index=False)
    monkeypatch.setattr(AuditJob, "work", lambda job, chunk: pytest.fail("nothing may be proved"))
    words = ["audit", story / "producer", story / "consumer", f"odd.{kind}", "--id", "who", "--out", "out"]
    err = lcifr(*words, cwd=tmp_path, expect=2).err
    assert said in " ".join(err.split()), err
    assert [path.name for path in tmp_path.iterdir()] == [f"odd.{kind}"]


# -- what holds everybody in memory ------------------------------------------------------------------------------------


def test_proofs_and_baselines_of_many_are_refused_or_left_out_aloud(
    story: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lcifr.workflows.producing.HELD", 10)
    monkeypatch.setattr("lcifr.workflows.auditing.HELD", 10)
    table, both = place / "people.parquet", (story / "producer", story / "consumer")
    said = lcifr("represent", story / "producer", table, "--bundle", "--out", "out", cwd=tmp_path, expect=2)
    assert "--bundle needs everyone in memory: 20 people, at most 10" in said.err
    for option in ("--bundle", "--baselines"):
        said = lcifr("audit", *both, table, "--no-bundle", option, "--out", "out", cwd=tmp_path, expect=2)
        assert f"{option} needs everyone in memory: 20 people, at most 10" in said.err
    assert list(tmp_path.iterdir()) == []
    said = lcifr("audit", *both, table, "--no-bundle", "--out", "out", cwd=tmp_path, expect=None)
    assert "Note: no baselines: they need everyone in memory" in said.err
    assert result(tmp_path / "out")["baselines"] == {}


def test_a_sample_is_said_to_be_one(story: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the result, on the terminal and on the page; its people are those of the rows that name them."""
    both = (story / "producer", story / "consumer")
    words = ["audit", *both, "--sample", "6", "--no-bundle", "--no-baselines"]
    for kind in ("parquet", "csv"):
        said = lcifr(*words, place / f"people.{kind}", "--out", kind, cwd=tmp_path, expect=None)
        assert "sample: 6 people drawn at random from the 20 in the table" in said.out
    assert contents(tmp_path / "csv") == contents(tmp_path / "parquet")
    found = result(tmp_path / "csv")
    assert (found["people"], found["drawn_from"]) == (6, 20)
    rows = pd.read_parquet(tmp_path / "csv/audited/audit.parquet")["id"].astype(int)
    table = pd.read_parquet(place / "people.parquet").iloc[rows].reset_index(drop=True)
    people = pd.read_parquet(tmp_path / "csv/people.parquet")
    assert people.to_dict("records") == table[people.columns].to_dict("records")
    lcifr("report", "csv", "--out", "page.md", cwd=tmp_path)
    assert "6 people drawn at random from 20" in (tmp_path / "page.md").read_text(encoding="utf-8")
    monkeypatch.setattr(report_folder, "LARGEST", 5)
    assert "is limited to 5" in lcifr("report", "csv", cwd=tmp_path, expect=2).err
    said = lcifr("audit", *both, "--sample", "6", "--out", "none", cwd=tmp_path, expect=2)
    assert "--sample draws people of a TABLE" in said.err


def test_learning_from_too_many_is_refused_and_a_sample_does(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lcifr.workflows.people.LEARNED", 50)
    learn = [story / "people.csv", "--phi", story / "people.phi", "--target", "repaid", *QUICK, "--epochs", "1"]
    for command in (["produce"], ["tune", "--required", "0.5"]):
        said = lcifr(*command, *learn, "--out", "out", cwd=tmp_path, expect=2)
        assert "learning needs everyone in memory: 100 people, at most 50" in said.err
        assert "--sample" in said.err
    said = lcifr("produce", *learn, "--sample", "30", "--no-bundle", "--out", "guessed", cwd=tmp_path)
    assert "categories that are not in the sample" in said.err
    known = ("--schema", story / "producer/schema.toml")
    lcifr("produce", *learn, *known, "--sample", "30", "--no-bundle", "--out", "out", cwd=tmp_path)
    made = result(tmp_path / "out")
    assert sum(made["sides"].values()) == 30
    whole = pd.read_csv(story / "people.csv")
    held = pd.read_parquet(tmp_path / "out/people/held-out.parquet")
    assert held.to_dict("records") == whole.iloc[made["held_out"]][held.columns].to_dict("records")
    lcifr("represent", "out", story / "people.csv", "--out", "all", cwd=tmp_path)  # and then everybody
    assert result(tmp_path / "all")["people"] == 100

    for command in (
        ["init", "--out", "proposed"],
        ["data", "check", *known],
        ["phi", "check", story / "people.phi", "--data"],
    ):
        said = lcifr(*command, story / "people.csv", cwd=tmp_path, expect=2)
        assert "needs everyone in memory: 100 people, at most 50" in said.err
    monkeypatch.setattr(source, "LEARNED", 20)
    said = lcifr("consume", "out/handover", "out/labels.csv", "--out", "none", cwd=tmp_path, expect=2)
    assert "learning needs everyone in memory: 30 people, at most 20" in said.err


@pytest.mark.long
def test_memory_does_not_grow_with_the_table() -> None:
    """An audit and a certified hand-over of 240,000 and of 640,000 people: the peaks are alike, as of the library."""
    program = "import json; from benchmarks.commands import main; "
    program += "print(json.dumps(main(names=('audit', 'certify hand-over'))))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    growth = json.loads(done.stdout.splitlines()[-1])
    assert all(more < 40 for more in growth.values()), done.stdout
