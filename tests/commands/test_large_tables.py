"""Tables larger than memory: the commands read some people at a time, and the end is as if all had been there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcifr.artifacts.handover import Representation
from lcifr.certification.auditor import audit
from lcifr.certification.consumer import certify
from lcifr.certification.population.statement import state
from lcifr.certification.producer import represent
from lcifr.data import Individuals
from lcifr.data.io import stream
from lcifr.report import folder as report_folder
from lcifr.runs.learning import load_encoder, load_model
from lcifr.runs.people import limits as _limits
from lcifr.runs.streaming import certified
from lcifr.runs.streaming import file_runs as files
from tests.commands.story import QUICK, contents, lcifr, start

ROOT = Path(__file__).parents[2]
PEOPLE = 20


@pytest.fixture(scope="module")
def place(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same labelled people, each with an id, in a file of every kind."""
    place = tmp_path_factory.mktemp("tables")
    table = pd.read_csv(story / "people.csv").tail(PEOPLE).assign(who=[f"p{i}" for i in range(PEOPLE)], spare=1.5)
    table.to_parquet(place / "people.parquet", index=False, row_group_size=7)
    table.to_csv(place / "people.csv", index=False)
    table.to_csv(place / "people.csv.gz", index=False)
    table.to_csv(place / "people.tsv", index=False, sep="\t")
    lcifr("represent", story / "producer", "people.parquet", "--id", "who", "--out", "handed", cwd=place)
    return place


def result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


@pytest.fixture
def some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Few rows at a time; how many people went through the gate at once is noted."""
    seen: list[int] = []
    honest = Individuals.read.__func__

    def read(cls: Any, source: Any, schema: Any, **options: Any) -> Individuals:
        found = honest(cls, source, schema, **options)
        seen.append(len(found))
        return found

    monkeypatch.setattr(stream, "ROWS", 3)
    monkeypatch.setattr(Individuals, "read", classmethod(read))
    return seen


# -- as if all had been in memory --------------------------------------------------------------------------------------


def test_a_handover_is_that_of_the_library(story: Path, place: Path, tmp_path: Path) -> None:
    """Column by column and bit by bit, from files of every kind; and the summary is that of all radii."""
    encoder = load_encoder(story / "producer")
    table = pd.read_parquet(place / "people.parquet")
    whole = represent(encoder, table[list(encoder.schema_.names)], table["who"].tolist())
    for kind in ("parquet", "csv", "csv.gz", "tsv"):
        said = lcifr(
            "represent", story / "producer", place / f"people.{kind}", "--id", "who", "--out", kind, cwd=tmp_path
        )
        assert 'left out, as the schema does not know them: "spare"' in said.err
        found = Representation.read(tmp_path / kind / "handover")
        assert found.ids == whole.ids
        for name, array in whole.arrays().items():
            assert (getattr(found, name) == array).all(), name
        radius = result(tmp_path / kind)["radius"]
        assert radius["median"] == np.median(whole.radius)
        assert radius["largest"] == whole.radius.max()
        assert (radius["exact"], radius["vacuous"]) == (whole.exact.sum(), whole.vacuous.sum())


def test_an_audit_is_that_of_the_library(story: Path, place: Path, tmp_path: Path, some_at_a_time: list[int]) -> None:
    """Verdicts, figures, subgroups and counterexamples; nowhere are more people in memory than a part has."""
    words = ["audit", story / "producer", story / "consumer", "--id", "who", "--no-baselines", "--no-bundle"]
    for kind in ("parquet", "csv"):
        lcifr(*words, place / f"people.{kind}", "--chunk", "7", "--out", kind, cwd=tmp_path, expect=None)
    assert max(set(some_at_a_time) - {70}) == 7  # 70 are those whom the producer learned from
    assert contents(tmp_path / "parquet") == contents(tmp_path / "csv")

    encoder = load_encoder(story / "producer")
    head = load_model(story / "consumer/model.safetensors", "classification")
    table = pd.read_parquet(place / "people.parquet")
    X = table[list(encoder.schema_.names)]
    whole = audit(encoder, head, X, table["who"].tolist())
    rows = pd.read_parquet(tmp_path / "csv/audited/audit.parquet")
    for name in ("id", "verdict", "prediction", "reason", "vacuous", "certified_on_ball", "certified_on_box"):
        assert rows[name].tolist() == whole.frame()[name].tolist(), name
    assert np.allclose(rows["margin"], whole.margin, atol=1e-6)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "csv/people.parquet"), X, check_dtype=False)
    assert pd.read_parquet(tmp_path / "csv/labels.parquet")["label"].tolist() == table["repaid"].tolist()

    found = result(tmp_path / "csv")
    said = state(whole, table["repaid"], held_out=False, by={"sex": table["sex"]})
    for name in ("people", "certified", "violated", "undecided", "vacuous", "share", "accuracy", "balanced_accuracy"):
        assert found[name] == getattr(said, name), name
    assert found["subgroups"] == said.subgroups.to_dict("records")
    assert found["modularity"] == whole.modularity()
    assert [one["id"] for one in found["counterexamples"]] == [
        who for who, bad in zip(whole.ids, whole.violated, strict=True) if bad
    ]


def test_a_handover_is_certified_as_by_the_library(story: Path, place: Path, tmp_path: Path) -> None:
    head = load_model(story / "consumer/model.safetensors", "classification")
    for on in ("ball", "box"):
        lcifr("certify", story / "consumer", place / "handed/handover", "--on", on, "--out", on, cwd=tmp_path)
        whole = certify(Representation.read(place / "handed/handover"), head, on=on)
        rows = pd.read_parquet(tmp_path / on / "certificates.parquet")
        pd.testing.assert_frame_equal(rows, whole.frame(), check_dtype=False)
        said, found = state(whole, held_out=False), result(tmp_path / on)
        for name in ("people", "certified", "undecided", "vacuous", "share"):
            assert found[name] == getattr(said, name), name
        assert sorted(path.name for path in (tmp_path / on).iterdir()) == [
            "certificates.parquet",
            "result.json",
            "settings.json",
        ]


def test_ids_and_labels_of_csv_have_the_type_that_all_rows_fit(story: Path, place: Path, tmp_path: Path) -> None:
    """Numbers are numbers, as in memory, unless the last row says otherwise."""
    table = pd.read_csv(place / "people.csv").drop(columns=["who", "spare"]).head(4)
    for ids, expected in (([7, 8, 9, 10], [7, 8, 9, 10]), ([7, 8, 9, "x"], ["7", "8", "9", "x"])):
        table.assign(who=ids).to_csv(tmp_path / "people.csv", index=False)
        words = ["represent", story / "producer", "people.csv", "--id", "who", "--force", "--out", "out"]
        lcifr(*words, cwd=tmp_path)
        assert json.loads((tmp_path / "out/handover/ids.json").read_text()) == expected


# -- killed ------------------------------------------------------------------------------------------------------------

RUNS = {
    "represent": (["represent", "{story}/producer", "{table}", "--id", "who"], ".handover.parts", files._Represent),
    "audit": (
        ["audit", "{story}/producer", "{story}/consumer", "{table}", "--id", "who", "--no-bundle", "--no-baselines"],
        ".audited.parts",
        files._AuditJob,
    ),
    "certify": (["certify", "{story}/consumer", "{handed}"], ".certified.parts", certified._Certify),
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
    assert "Going on where .killed.work stopped." in said.err
    assert f"{3 * done} of {PEOPLE} people were done before it was stopped" in said.err
    assert worked == [f"p{i}" for i in range(3 * done, PEOPLE)]
    said = lcifr(*words, "--out", "whole", cwd=tmp_path, expect=None)
    assert "done before" not in said.err
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "whole"]


COUNTING = """import os, signal; from lcifr.certification.population import tally
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


# -- what is wrong with a table ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("age", None, 'column "age", row 19: the value is missing'),
        ("sex", "other", 'column "sex", row 19: the schema does not know the category "other"'),
        ("who", "p3", "column \"who\" names 'p3' twice"),
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
    monkeypatch.setattr(files._AuditJob, "work", lambda job, chunk: pytest.fail("nothing may be proved"))
    words = ["audit", story / "producer", story / "consumer", f"odd.{kind}", "--id", "who", "--out", "out"]
    err = lcifr(*words, cwd=tmp_path, expect=2).err
    assert said in " ".join(err.split()), err
    assert [path.name for path in tmp_path.iterdir()] == [f"odd.{kind}"]


# -- what holds everybody in memory ------------------------------------------------------------------------------------


def test_proofs_and_baselines_of_many_are_refused_or_left_out_aloud(
    story: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lcifr.runs.handing_over.HELD", 10)
    monkeypatch.setattr("lcifr.runs.auditing.run.HELD", 10)
    table, both = place / "people.parquet", (story / "producer", story / "consumer")
    said = lcifr("represent", story / "producer", table, "--bundle", "--out", "out", cwd=tmp_path, expect=2)
    assert "--bundle needs everybody in memory: 20 people, at most 10" in said.err
    for option in ("--bundle", "--baselines"):
        said = lcifr("audit", *both, table, "--no-bundle", option, "--out", "out", cwd=tmp_path, expect=2)
        assert f"{option} needs everybody in memory: 20 people, at most 10" in said.err
    assert list(tmp_path.iterdir()) == []
    said = lcifr("audit", *both, table, "--no-bundle", "--out", "out", cwd=tmp_path, expect=None)
    assert "Note: no baselines beside it" in said.err
    assert result(tmp_path / "out")["baselines"] == {}


def test_a_sample_is_said_to_be_one(story: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the result, on the terminal and on the page; its people are those of the rows that name them."""
    both = (story / "producer", story / "consumer")
    words = ["audit", *both, "--sample", "6", "--no-bundle", "--no-baselines"]
    for kind in ("parquet", "csv"):
        said = lcifr(*words, place / f"people.{kind}", "--out", kind, cwd=tmp_path, expect=None)
        assert "a sample: 6 people drawn at random from the 20 of the table" in said.out
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
    assert "at most 5" in lcifr("report", "csv", cwd=tmp_path, expect=2).err
    said = lcifr("audit", *both, "--sample", "6", "--out", "none", cwd=tmp_path, expect=2)
    assert "--sample draws people of a TABLE" in said.err


def test_learning_from_too_many_is_refused_and_a_sample_does(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lcifr.runs.people.sample.LEARNED", 50)
    learn = [story / "people.csv", "--phi", story / "people.phi", "--target", "repaid", *QUICK, "--epochs", "1"]
    for command in (["produce"], ["tune", "--required", "0.5"]):
        said = lcifr(*command, *learn, "--out", "out", cwd=tmp_path, expect=2)
        assert "learning needs everybody in memory: 100 people, at most 50" in said.err
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
        assert "needs everybody in memory: 100 people, at most 50" in said.err
    monkeypatch.setattr(_limits, "LEARNED", 20)
    said = lcifr("consume", "out/handover", "out/labels.csv", "--out", "none", cwd=tmp_path, expect=2)
    assert "learning needs everybody in memory: 30 people, at most 20" in said.err


@pytest.mark.long
def test_memory_does_not_grow_with_the_table() -> None:
    """An audit and a certified hand-over of 240,000 and of 640,000 people: the peaks are alike, as of the library."""
    program = "import json; from benchmarks.commands import main; "
    program += "print(json.dumps(main(names=('audit', 'certify hand-over'))))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    growth = json.loads(done.stdout.splitlines()[-1])
    assert all(more < 40 for more in growth.values()), done.stdout
