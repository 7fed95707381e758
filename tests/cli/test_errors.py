"""Wrong use: exit 2, a message that names the thing and its fix, no traceback, nothing left behind."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest

from lcifr.workflows import producing
from tests.story import QUICK, lcifr, write_german

PRODUCE = ("produce", "people.csv", "--phi", "people.phi", "--target", "repaid", "--out", "out")
CONSUME = ("consume", "producer/handover", "producer/labels.csv", "--out", "out")
AUDIT = ("audit", "producer", "consumer", "--out", "out")


def replaced(words: tuple, old: str, *new: str) -> tuple:
    at = words.index(old)
    return (*words[:at], *new, *words[at + 1 :])


WRONG = {
    "no table": (replaced(PRODUCE, "people.csv", "nowhere.csv"), "nowhere.csv: there is no such file"),
    "no dataset": (replaced(PRODUCE, "people.csv", "germn"), "german"),
    "no formula": (replaced(PRODUCE, "people.phi", "nowhere.phi"), "nowhere.phi: there is no such file"),
    "no schema": ((*PRODUCE, "--schema", "nowhere.toml"), "nowhere.toml: there is no such file"),
    "no target": (replaced(PRODUCE, "repaid", "repayed"), 'Did you mean "repaid"?'),
    "target not said": (replaced(replaced(PRODUCE, "--target"), "repaid"), "add --target"),
    "no id column": ((*PRODUCE, "--id", "name"), 'people.csv has no column "name"'),
    "ids twice": ((*PRODUCE, "--id", "sex"), "twice"),
    "an id missing, learning": (
        (*replaced(PRODUCE, "people.csv", "nameless.parquet"), "--id", "who"),
        'nameless.parquet: column "who" has no id in row 95 Fix: give this person an id',
    ),
    "an id missing, auditing": (
        (*AUDIT, "nameless.parquet", "--id", "who"),
        'nameless.parquet: column "who" has no id in row 95 Fix: give this person an id',
    ),
    "an id missing, in a sample": (  # of all but row 83; the row is that of the file
        (*AUDIT, "nameless.parquet", "--id", "who", "--sample", "99"),
        'nameless.parquet: column "who" has no id in row 95',
    ),
    "a column twice, in a sample": ((*AUDIT, "double.csv", "--sample", "5"), 'column "age": the name occurs 2 times'),
    "a value missing, in a sample": (
        (*AUDIT, "late.csv", "--sample", "99"),
        'column "age", row 97: the value is missing',
    ),
    "an id missing, labels": (
        replaced(CONSUME, "producer/labels.csv", "nobody.csv"),
        'nobody.csv: column "id" has no id in row 1 Fix: give this person an id',
    ),
    "formula that bounds nothing": (replaced(PRODUCE, "people.phi", "free.phi"), "without a lower bound"),
    "formula with a slip": (replaced(PRODUCE, "people.phi", "slip.phi"), 'Did you mean "age"'),
    "empty table": (replaced(PRODUCE, "people.csv", "empty.csv"), "no rows"),
    "missing values": (replaced(PRODUCE, "people.csv", "holes.csv"), 'column "age", row 3: the value is missing'),
    "missing labels": (replaced(PRODUCE, "people.csv", "unlabelled.csv"), 'column "repaid", row 2'),
    "not a table": (replaced(PRODUCE, "people.csv", "people.phi"), "unknown"),
    "no widths": ((*PRODUCE, "--hidden", "many"), "not a list of widths"),
    "no factor": ((*PRODUCE, "--stretch", "0"), "stretch=0.0 is not a valid factor"),
    "no finite factor": (("tune", *PRODUCE[1:], "--required", "0.5", "--stretch", "inf"), "inf is not a finite number"),
    "no finite weight": ((*PRODUCE, "--gamma", "inf"), "inf is not a finite number"),
    "no share": ((*PRODUCE, "--held-out", "1.5"), "--held-out"),
    "no seed": ((*PRODUCE, "--seed", "-1"), "--seed"),
    "no folder name": (replaced(PRODUCE, "out", "."), "not a valid name for a new folder"),
    "no weights": (("tune", *PRODUCE[1:], "--required", "0.5", "--gammas", "a,b"), "not a list of weights"),
    "no hand-over": (replaced(CONSUME, "producer/handover", "nowhere"), "nowhere: there is no such folder"),
    "not a hand-over": (replaced(CONSUME, "producer/handover", "producer"), "producer is not a hand-over"),
    "altered hand-over": (replaced(CONSUME, "producer/handover", "altered"), "its hash differs"),
    "no labels": (replaced(CONSUME, "producer/labels.csv", "nowhere.csv"), "there is no such file"),
    "many columns": (replaced(CONSUME, "producer/labels.csv", "people.csv"), "--target"),
    "labels of others": (replaced(CONSUME, "producer/labels.csv", "others.csv"), "contains no one from the hand-over"),
    "labels twice": (replaced(CONSUME, "producer/labels.csv", "twice.csv"), "occurs twice"),
    "a tolerance for classes": ((*CONSUME, "--tolerance", "1"), "for numbers"),
    "the wrong order": (("audit", "consumer", "producer", "--out", "out"), "expected one by `lcifr produce`"),
    "no producer": (replaced(AUDIT, "producer", "nowhere"), "there is no such folder"),
    "another encoder": (replaced(AUDIT, "producer", "stranger"), "another encoder"),
    "an unknown category": ((*AUDIT, "odd.csv"), 'does not list the category "other"'),
    "a column short": ((*AUDIT, "short.csv"), 'column "age": the column is missing'),
    "no such group": ((*AUDIT, "--by", "sxe"), 'Did you mean "sex"?'),
    "a table without its producer": (("certify", "consumer", "new.csv", "--out", "out"), "needs --producer"),
    "a hand-over of another": (("certify", "consumer", "stranger/handover/train", "--out", "out"), "encoders"),
    "two hand-overs": (("certify", "consumer", "producer/handover", "--out", "out"), "handover/held-out"),
    "settings of nothing": (("repeat", "elsewhere", "--out", "out"), "holds no settings.json"),
    "no bundle": (("check", "elsewhere"), "manifest.json"),
    "init of nothing": (("init", "empty.csv"), "no rows"),
    "init, wrong column": (("init", "people.csv", "--force", "--target", "repayed"), 'Did you mean "repaid"?'),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(story, tmp_path_factory):
    """The story with everything beside it that can be wrong."""
    place = tmp_path_factory.mktemp("wrong") / "place"
    shutil.copytree(story, place)
    people, new = pd.read_csv(place / "people.csv"), pd.read_csv(place / "new.csv")
    people.head(0).to_csv(place / "empty.csv", index=False)
    people.assign(age=people["age"].where(people.index != 3)).to_csv(place / "holes.csv", index=False)
    people.assign(repaid=people["repaid"].where(people.index != 2)).to_csv(place / "unlabelled.csv", index=False)
    new.assign(sex="other").to_csv(place / "odd.csv", index=False)
    new.drop(columns="age").to_csv(place / "short.csv", index=False)
    (place / "free.phi").write_text("same(categorical)", encoding="utf-8")
    (place / "slip.phi").write_text("same(categorical) and agee' <= 3 and numeric within 1", encoding="utf-8")
    (place / "others.csv").write_text("id,y\nsomebody,1\nelse,0\n", encoding="utf-8")
    pd.concat([people, people["age"]], axis=1).to_csv(place / "double.csv", index=False)
    (place / "nobody.csv").write_text("id,y\n0,1\n,0\n1,1\n", encoding="utf-8")
    people.assign(who=people.index.where(people.index != 95) + 0.5).to_parquet(place / "nameless.parquet", index=False)
    people.assign(age=people["age"].where(people.index != 97)).to_csv(place / "late.csv", index=False)
    (place / "twice.csv").write_text("id,y\n0,1\n0,0\n1,1\n", encoding="utf-8")
    shutil.copytree(place / "producer/handover", place / "altered")
    ids = place / "altered/train/ids.json"
    ids.write_text(ids.read_text().replace("1", "2", 1))
    other = tmp_path_factory.mktemp("stranger")
    write_german(other, 40)
    words = (
        "produce",
        "people.csv",
        "--phi",
        "people.phi",
        "--target",
        "repaid",
        *QUICK,
        "--epochs",
        "1",
        "--no-bundle",
    )
    lcifr(*words, "--out", place / "stranger", cwd=other)
    return place


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_said(place, case):
    words, message = WRONG[case]
    before = sorted(path.name for path in place.iterdir())
    said = lcifr(*words, cwd=place, expect=2)
    assert message in " ".join(said.err.replace("│", " ").split()), said.err
    assert said.out == ""
    assert sorted(path.name for path in place.iterdir()) == before


def test_a_fault_of_our_own_is_no_traceback_but_one_can_have_it(place, monkeypatch):
    def fail(*arguments):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(producing, "read_train_test", fail)
    said = lcifr(*PRODUCE, cwd=place, expect=70)
    assert "lcifr has a bug: ZeroDivisionError: a bug" in said.err
    monkeypatch.setenv("LCIFR_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        lcifr(*PRODUCE, cwd=place)
