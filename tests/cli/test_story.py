"""The three-party story by command line: separate folders, results that agree, settings that repeat."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcifr import FairEncoder, RobustClassifier, audit
from lcifr.certification.subject import Hashes
from lcifr.data import Individuals
from lcifr.errors import ArtefactError
from lcifr.models.loading import read_model
from lcifr.phi.lint import lint
from lcifr.workflows.jobs import read_audited
from tests.story import QUICK, lcifr, write_german


def result(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def test_the_consumer_needed_the_handover_and_labels_alone(story):
    alone = story / "elsewhere"
    assert sorted(path.name for path in alone.iterdir()) == ["consumer", "handover", "labels.csv", "printed"]
    said = (alone / "printed").read_text(encoding="utf-8")
    assert "of 30 held-out people" in said
    assert "30 claimed by the producer, 0 checked" in said
    categories = {
        value
        for one in FairEncoder.load(story / "producer/encoder.safetensors").schema_.categorical
        for value in one.values
        if len(value) > 3
    }
    for file in (alone / "handover").rglob("*.*"):
        if file.name != "manifest.json":  # shows φ, which names attributes
            assert not any(value.encode() in file.read_bytes() for value in categories), file


def test_held_out_people_are_named_and_were_not_trained_on(story):
    made, used = result(story / "producer"), result(story / "consumer")
    assert made["sides"] == used["sides"] == {"train": 70, "held-out": 30}
    assert len(set(made["held_out"])) == 30
    assert used["trained_on"] == 70
    held = pd.read_csv(story / "people.csv").iloc[made["held_out"]].drop(columns="repaid").reset_index(drop=True)
    kept = pd.read_parquet(story / "producer/people/held-out.parquet")
    pd.testing.assert_frame_equal(kept, held, check_dtype=False)
    assert used["lower"] is not None


def test_the_audit_agrees_with_the_library_and_with_the_consumer(story):
    encoder = FairEncoder.load(story / "producer/encoder.safetensors")
    head = RobustClassifier.load(story / "consumer/model.safetensors")
    X = pd.read_parquet(story / "audit/people.parquet")
    whole, found = audit(encoder, head, X), result(story / "audit")
    assert (found["certified"], found["violated"]) == (int(whole.certified.sum()), int(whole.violated.sum()))
    about = Hashes.of(encoder, read_model(head), "float64")
    again = read_audited(story / "audit/audited", Individuals.read(X, encoder.schema_), read_model(head), about)
    assert (again.verdict == whole.verdict).all()
    assert (again.prediction == whole.prediction).all()
    pd.testing.assert_frame_equal(
        again.others.take(again.violated).to_pandas(), whole.others.take(whole.violated).to_pandas()
    )
    assert encoder.similarity_.holds(again.people.take(again.violated), again.others.take(again.violated)).all()
    certificates = pd.read_parquet(story / "consumer/certificates.parquet").query("split == 'held-out'")
    on_ball = (certificates["verdict"] == "CERTIFIED").to_numpy()
    assert not (on_ball & ~whole.certified).any()  # what holds on the ball holds from end to end
    other = read_model(RobustClassifier(against="nothing").fit(encoder.transform(X)[:20], [0, 1] * 10))
    with pytest.raises(ArtefactError, match="another model"):
        read_audited(
            story / "audit/audited", Individuals.read(X, encoder.schema_), other, Hashes.of(encoder, other, "float64")
        )


def test_what_is_printed_is_what_is_written(story):
    printed = json.loads((story / "audit.printed.json").read_text(encoding="utf-8"))
    assert printed == result(story / "audit")
    assert printed["certified"] + printed["violated"] + printed["undecided"] == printed["people"] == 30
    assert printed["checked"]["rejected"] == {}
    assert printed["checked"]["certified"] == printed["certified"]
    assert printed["checked"]["counterexamples"] == printed["violated"] > 0
    assert set(printed["baselines"]) == {"plain", "unaware"}
    assert {row["value"] for row in printed["subgroups"]} == {"female", "male"}
    for one in printed["counterexamples"]:
        assert one["prediction"] != one["other_prediction"]
        assert one["differs"]
    frame = pd.read_parquet(story / "audit/audited/audit.parquet")
    assert {"id", "verdict", "radius", "alone", "certified_on_ball", "similar:age"} <= set(frame.columns)
    assert np.isfinite(frame["radius"]).all()


def test_for_people_the_same_is_said_in_words(story, tmp_path):
    words = ("audit", story / "producer", story / "consumer", "--no-baselines", "--no-bundle", "--out", "audit")
    said, found = lcifr(*words, cwd=tmp_path, expect=None), result(story / "audit")
    assert f"certified with respect to φ: {found['certified']} of 30 held-out people" in said.out
    assert f"counterexamples {found['violated']}, undecided {found['undecided']}" in said.out
    assert "a similar person" in said.out
    assert "unbiased" not in said.out.lower()
    assert not (tmp_path / "audit/bundle").exists()


def test_checked_radii_are_called_checked(story, tmp_path):
    report = lcifr("check", story / "producer/bundle", "--json", cwd=tmp_path)
    (tmp_path / "checked.json").write_text(report.out, encoding="utf-8")
    words = ("consume", story / "producer/handover", story / "producer/labels.csv", "--checked", "checked.json")
    said = lcifr(*words, "--out", "consumer", cwd=tmp_path)
    assert "radius: checked for all 30" in said.out
    (tmp_path / "other.json").write_text(
        json.dumps({**report.json, "hashes": {"hand-over": "0" * 64}}), encoding="utf-8"
    )
    words = (*words[:-1], "other.json")
    assert "a different hand-over" in lcifr(*words, "--out", "other", cwd=tmp_path, expect=2).err


def test_new_people_from_their_handover_and_from_a_table(story, tmp_path):
    lcifr("represent", story / "producer", story / "new.csv", "--out", "new", cwd=tmp_path)
    ball = lcifr("certify", story / "consumer", "new/handover", "--out", "ball", "--json", cwd=tmp_path).json
    box = lcifr(
        "certify", story / "consumer", "new/handover", "--on", "box", "--out", "box", "--json", cwd=tmp_path
    ).json
    words = ("certify", story / "consumer", story / "new.csv", "--producer", story / "producer", "--json")
    whole = lcifr(*words, "--out", "whole", cwd=tmp_path).json
    assert ball["people"] == box["people"] == whole["people"] == 12
    assert ball["certified"] <= box["certified"] <= whole["certified"]
    assert ball["lower"] is box["lower"] is whole["lower"] is None  # nobody said that they were drawn from anything
    predictions = [
        pd.read_parquet(tmp_path / file)["prediction"].tolist()
        for file in ("ball/certificates.parquet", "whole/audited/audit.parquet")
    ]
    assert predictions[0] == predictions[1]


def test_a_population_only_for_those_of_whom_it_is_said(story, tmp_path):
    words = ("audit", story / "producer", story / "consumer", story / "new.csv", "--no-baselines", "--no-bundle")
    quiet = lcifr(*words, "--out", "quiet", "--json", cwd=tmp_path, expect=None).json
    said = lcifr(*words, "--population", "--out", "said", "--json", cwd=tmp_path, expect=None).json
    assert quiet["lower"] is None
    assert 0 <= said["lower"] <= said["share"]


def test_another_formula_than_the_producers(story, tmp_path):
    (tmp_path / "own.phi").write_text("same(all except sex)", encoding="utf-8")
    words = ("audit", story / "producer", story / "consumer", "--no-baselines", "--no-bundle", "--json")
    mine = lcifr(*words, "--phi", "own.phi", "--out", "own", cwd=tmp_path, expect=None)
    copy = lcifr(*words, "--phi", story / "people.phi", "--out", "copy", cwd=tmp_path, expect=None)
    assert "not the producer's φ" in mine.err
    assert "the very φ" in copy.err
    assert mine.json["certified"] == 30  # nothing depends on what is tied and free
    assert copy.json["certified"] == result(story / "audit")["certified"]


def test_a_run_with_options_that_exclude_others_is_repeated_too(tmp_path):
    """Settings say every default again; said again they are not asked for."""
    write_german(tmp_path, 40)
    words = ("produce", "people.csv", "--phi", "people.phi", "--target", "repaid", *QUICK, "--epochs", "1", "--unaware")
    lcifr(*words, "--no-bundle", "--out", "first", cwd=tmp_path)
    lcifr("repeat", "first", "--out", "second", cwd=tmp_path)
    assert (tmp_path / "first/result.json").read_bytes() == (tmp_path / "second/result.json").read_bytes()
    refused = lcifr(*words, "--gamma", "3", "--out", "third", cwd=tmp_path, expect=2)
    assert "--gamma has no effect with it" in refused.err


def test_settings_repeat_a_run_to_the_same_weights(tmp_path):
    write_german(tmp_path, 40)
    words = (
        "produce",
        "people.csv",
        "--phi",
        "people.phi",
        "--target",
        "repaid",
        *QUICK,
        "--epochs",
        "2",
        "--seed",
        "3",
    )
    lcifr(*words, "--withhold-formula", "--no-bundle", "--out", "first", cwd=tmp_path)
    settings = json.loads((tmp_path / "first/settings.json").read_text(encoding="utf-8"))
    assert settings["command"] == "produce"
    assert settings["seed"] == settings["arguments"]["seed"] == 3
    assert {"python", "lcifr", "numpy", "torch"} <= set(settings["versions"])
    assert settings["started"] <= settings["finished"]
    lcifr("repeat", "first", "--out", "second", cwd=tmp_path)
    for file in ("encoder.safetensors", "handover/held-out/latent.safetensors", "result.json", "labels.csv"):
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes(), file
    assert (
        json.loads((tmp_path / "second/handover/train/manifest.json").read_text())["provenance"]["similarity_text"]
        is None
    )
    with (tmp_path / "people.csv").open("a") as file:
        file.write(" ")
    assert "its hash differs" in lcifr("repeat", "first", "--out", "third", cwd=tmp_path, expect=2).err
    (tmp_path / "people.csv").unlink()
    assert "is missing" in lcifr("repeat", "first", "--out", "third", cwd=tmp_path, expect=2).err


def test_nothing_is_overwritten_without_force(story, tmp_path):
    shutil.copytree(story / "consumer", tmp_path / "consumer")
    words = ("consume", story / "producer/handover", story / "producer/labels.csv", "--out", "consumer", "--seed", "7")
    before = (tmp_path / "consumer/settings.json").read_bytes()
    assert "--force" in lcifr(*words, cwd=tmp_path, expect=2).err
    assert (tmp_path / "consumer/settings.json").read_bytes() == before
    lcifr(*words, "--force", cwd=tmp_path)
    assert json.loads((tmp_path / "consumer/settings.json").read_text(encoding="utf-8"))["seed"] == 7
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work")
    refused = lcifr(*words[:-4], "--out", "mine", "--force", cwd=tmp_path, expect=2)
    assert "was not written by lcifr" in refused.err
    assert (tmp_path / "mine/thesis.txt").read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["consumer", "mine"]


def test_datasets_by_name(tmp_path):
    words = ("produce", "german", "--phi", "german/cat", *QUICK, "--epochs", "1", "--no-bundle", "--out", "p", "--json")
    made = lcifr(*words, cwd=tmp_path).json
    assert made["sides"] == {"train": 800, "held-out": 200}
    assert made["target"] == "good_credit"
    assert made["data"]["title"] == "German Credit"
    assert any("turned away" in caution for caution in made["data"]["cautions"])


def test_the_audit_says_what_is_odd_about_the_formula(story):
    found, encoder = result(story / "audit"), FairEncoder.load(story / "producer/encoder.safetensors")
    said = lint(encoder.similarity_, pd.read_parquet(story / "producer/people/train.parquet"))
    assert [one["message"] for one in found["findings"]] == [one.message for one in said]
    assert found["findings"]
    assert found["data"] is None  # a table of one's own: nothing is known of it
