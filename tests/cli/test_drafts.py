"""Drafts for ONNX files of trees, as CatBoost writes them: no guess is audited unseen, labels show a misread model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lcifr as package
from lcifr.errors import LcifrError
from lcifr.models.description import InputKind, Meaning, read_description
from lcifr.models.loading import load_file
from tests.models.loaders.onnx.catboost import FEATURES, PRODUCER, oblivious, write_catboost
from tests.story import lcifr

INIT = ("init", "people.csv", "--model", "model.onnx", "--target", "repaid")
ASKED = ("--model", "model.onnx", "--phi", "people.phi", "--target", "repaid")
QUICK = ("--workers", "1", "--no-bundle", "--no-baselines")
DRAFT = "draft = true\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """More people who do not repay than who do."""
    pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "income": rng.normal(26, 8, 80).round(1),
            "debt": rng.normal(8, 3, 80).round(1),
            "grade": rng.integers(1, 4, 80),
        }
    )
    score = oblivious(table[list(FEATURES)].to_numpy(np.float32))
    table["repaid"] = (score + rng.normal(0, 0.1, 80) > 0.05).astype(int)
    table.to_csv(tmp_path / "people.csv", index=False)
    write_catboost(tmp_path / "model.onnx")
    lcifr(*INIT, "--categorical", "grade", cwd=tmp_path)
    schema = (tmp_path / "people.toml").read_text(encoding="utf-8")
    for name, ends in (("income", (0, 60)), ("debt", (0, 30))):
        schema = re.sub(
            rf'(\[attributes.{name}\]\nkind = "numeric"\n)', rf"\1lower = {ends[0]}\nupper = {ends[1]}\n", schema
        )
    (tmp_path / "people.toml").write_text(schema, encoding="utf-8")
    return tmp_path


def edit(place: Path, *changes: tuple[str, str]) -> None:
    """The description, corrected by a user."""
    text = (place / "model.toml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (place / "model.toml").write_text(text, encoding="utf-8")


def test_a_draft_takes_from_the_graph_what_it_says(place: Path) -> None:
    found = read_description(place / "model.toml")
    assert found.draft
    assert [(one.column, one.kind, one.steps) for one in found.inputs] == [
        ("income", InputKind.NUMBER, ()),
        ("debt", InputKind.NUMBER, ()),
        ("grade", InputKind.CODE, ()),
    ]
    assert found.inputs[2].codes == (("1", 1.0), ("2", 2.0), ("3", 3.0))  # the numbers themselves
    assert found.output is not None
    assert (found.output.meaning, found.output.name, found.output.classes) == (Meaning.CLASS, "label", ())
    edit(place, (DRAFT, ""))
    audit = lcifr("audit", "people.csv", *ASKED, *QUICK, "--json", "--out", "audit", cwd=place, expect=None).json
    assert audit["accuracy"] > 0.7
    table = pd.read_csv(place / "people.csv")
    decided = pd.read_parquet(place / "audit" / "audited" / "audit.parquet")["prediction"]
    own = oblivious(table[list(FEATURES)].to_numpy(np.float32)) > 0
    assert decided.astype(int).tolist() == own.astype(int).tolist()


@pytest.mark.parametrize("command", ["audit", "certify", "sweep"])
def test_a_draft_stops_every_command_until_its_line_is_deleted_or_it_is_accepted(command: str, place: Path) -> None:
    more = {"audit": QUICK, "certify": ("--reference", "people.csv", "--workers", "1"), "sweep": ("--cells", "3")}
    asked = [word for word in ASKED if command != "sweep" or word not in ("--target", "repaid")]
    words = (command, "people.csv", *asked, *more[command], "--out", "out")
    refused = lcifr(*words, cwd=place, expect=2).err
    assert "model.toml is still a draft" in refused
    assert "delete its line `draft = true`" in refused
    assert "on the command line, `--accept-draft`" in refused  # the workbench has no such option
    assert not (place / "out").exists()
    accepted = lcifr(*words, "--accept-draft", cwd=place, expect=None)
    assert accepted.code != 2
    assert "accepted with --accept-draft" in accepted.err
    if command == "audit":
        assert "assumed: model.toml is still a draft, accepted with --accept-draft" in accepted.out
    result = json.loads((place / "out" / "result.json").read_text(encoding="utf-8"))
    assert any("accepted with --accept-draft" in one for one in result["origin"]["assumptions"])
    edit(place, (DRAFT, ""))
    assert lcifr(*words, "--force", cwd=place, expect=None).code != 2


def test_doctor_tests_a_draft_and_does_not_call_it_right(place: Path) -> None:
    asked = ("doctor", "--model", "model.onnx", "--data", "people.csv", "--target", "repaid")
    said = lcifr(*asked, cwd=place, expect=1).out
    assert "All agree." not in said
    assert "still a draft" in said
    assert "99 % interval" in said
    assert "All agree." in lcifr(*asked, "--accept-draft", cwd=place).out
    edit(place, (DRAFT, ""))
    found = lcifr(*asked, "--json", cwd=place).json
    assert (found["agrees"], found["ready"], found["draft"]) == (True, True, None)
    assert found["labels"]["people"] == 80


def test_a_model_that_ranks_the_labels_backwards_is_not_audited(place: Path) -> None:
    edit(place, (DRAFT, ""), ('name = "label"\n', 'name = "label"\nclasses = [1, 0]\n'))
    for words in (("audit", *QUICK), ("certify", "--reference", "people.csv", "--workers", "1")):
        asked = (words[0], "people.csv", *ASKED, *words[1:], "--out", words[0])
        refused = lcifr(*asked, cwd=place, expect=2).err
        assert "ranks the labels of people.csv backwards" in refused
        assert "--accept-accuracy" in refused
        said = lcifr(*asked, "--accept-accuracy", cwd=place, expect=None)
        assert said.code != 2
        assert "accepted with --accept-accuracy" in said.err
        origin = json.loads((place / words[0] / "result.json").read_text(encoding="utf-8"))["origin"]
        assert any("backwards" in one and "accepted with --accept-accuracy" in one for one in origin["assumptions"])
    assert "assumed: The model ranks the labels of people.csv backwards" in said.out
    lcifr("report", "audit", "--format", "md", "--out", "page.md", cwd=place, expect=None)
    assert "accepted with --accept-accuracy" in (place / "page.md").read_text(encoding="utf-8")
    schema = (place / "people.toml").read_text(encoding="utf-8")
    assert 'target = "repaid"' in schema  # sweeps take it from there
    swept = ("sweep", "people.csv", "--model", "model.onnx", "--phi", "people.phi", "--cells", "3", "--out", "sweep")
    assert "backwards" in lcifr(*swept, cwd=place, expect=2).err
    doctor = ("doctor", "--model", "model.onnx", "--data", "people.csv")
    assert "DO NOT AUDIT this model" in lcifr(*doctor, cwd=place, expect=1).out
    assert "All agree." in lcifr(*doctor, "--accept-accuracy", cwd=place).out


def test_a_model_that_is_right_less_often_than_the_majority_is_warned_of(place: Path) -> None:
    """The output corrected halfway: any probability is above 0, so that everyone is decided alike."""
    edit(
        place,
        (DRAFT, ""),
        ('meaning = "class"\nname = "label"', 'meaning = "probability"\nname = "probabilities"\ncomparison = ">="\n'
         "threshold = 0.0001"),
    )  # fmt: skip
    said = lcifr("audit", "people.csv", *ASKED, *QUICK, "--out", "audit", cwd=place, expect=None)
    assert "below the majority rate" in said.err
    doctor = lcifr("doctor", "--model", "model.onnx", "--data", "people.csv", "--target", "repaid", cwd=place)
    assert "BELOW the majority rate" in doctor.out


def test_doctor_says_why_labels_are_not_compared(place: Path) -> None:
    people = pd.read_csv(place / "people.csv")
    people.replace({"repaid": {0: "no", 1: "yes"}}).to_csv(place / "worded.csv", index=False)
    asked = ("doctor", "--model", "model.onnx", "--data", "worded.csv", "--schema", "people.toml", "--accept-draft")
    said = lcifr(*asked, cwd=place)
    assert "compared with the labels" not in said.out
    assert "not compared with the labels: \"repaid\" holds 'no', 'yes', and the model decides 0, 1;" in said.err
    edit(place, ('name = "label"\n', 'name = "label"\nclasses = ["no", "yes"]\n'))
    assert "compared with the labels: accuracy" in lcifr(*asked, cwd=place).out


def test_labels_of_the_reference_are_taken_where_the_people_have_none(place: Path) -> None:
    edit(place, (DRAFT, ""), ('name = "label"\n', 'name = "label"\nclasses = [1, 0]\n'))
    pd.read_csv(place / "people.csv").drop(columns="repaid").to_csv(place / "new.csv", index=False)
    asked = ("certify", "new.csv", *ASKED, "--reference", "people.csv", "--workers", "1", "--out", "certificates")
    assert "ranks the labels of people.csv backwards" in lcifr(*asked, cwd=place, expect=2).err


def test_python_refuses_a_draft_too(place: Path) -> None:
    file = load_file(place / "model.onnx", read_description(place / "model.toml"))
    table = pd.read_csv(place / "people.csv")[list(FEATURES)].astype({"grade": str})
    with pytest.raises(LcifrError, match=r"(?s)still a draft.*draft=False"):
        package.audit(file.model, table, similarity="same(all)")
    with pytest.raises(LcifrError, match="still a draft"):
        package.audit(file, table, similarity="same(all)")


def test_texts_of_a_file_stay_outside_our_sentences(place: Path) -> None:
    said = lcifr("model", "show", "model.onnx", cwd=place).out
    ours, theirs = said.split("Metadata, as the file has it (lcifr checks none of it):")
    assert "A model of ONNX, ai.onnx.ml of version 2." in ours
    assert "fair" not in ours
    assert "draft" in ours
    assert '"producer_name": "CatBoost. This model is fair.\\nsha256 0000 \\u202e"' in theirs
    assert len([line for line in theirs.splitlines() if line]) == 1
    shown: Any = lcifr("model", "show", "model.onnx", "--json", cwd=place).json
    assert shown["outline"]["metadata"][0] == ["producer_name", PRODUCER]
    assert shown["draft"]
