"""``--class-weight``, ``--decoder-weight`` and ``--unaware``: they reach what is learned, and are refused in words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcifr.errors import LearningError
from lcifr.estimators import FairEncoder, RobustClassifier
from lcifr.estimators.heads import head_for
from lcifr.workflows.producing import load_encoder
from lcifr.workflows.results import HEADS
from tests.story import QUICK, lcifr

LEARN = (*QUICK, "--epochs", "3", "--phi", "who.phi")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """People of whom a fifth have ``rare``; ``much`` is a number."""
    random = np.random.default_rng(2)
    table = pd.DataFrame({name: random.standard_normal(60).round(3) for name in ("income", "debt", "much")})
    table = table.assign(sex=random.choice(["f", "m"], 60), rare=np.where(np.arange(60) % 5 == 0, "yes", "no"))
    table.drop(columns="much").to_csv(tmp_path / "people.csv", index=False)
    table.drop(columns="rare").to_csv(tmp_path / "numbers.csv", index=False)
    (tmp_path / "who.phi").write_text("numeric within 0.2 sd\n", encoding="utf-8")
    return tmp_path


def result_of(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def test_weights_reach_the_encoder_and_the_classifier(place: Path) -> None:
    words = ("produce", "people.csv", *LEARN, "--target", "rare", "--no-bundle")
    lcifr(*words, "--out", "plain", cwd=place)
    lcifr(*words, "--class-weight", "balanced", "--decoder-weight", "2", "--out", "weighted", cwd=place)
    plain, weighted = (load_encoder(place / name) for name in ("plain", "weighted"))
    assert (plain.class_weight, plain.decoder_weight, plain.decoder_) == (None, 0.0, None)
    assert (weighted.class_weight, weighted.decoder_weight) == ("balanced", 2.0)
    assert weighted.decoder_ is not None
    assert plain.network_.hash != weighted.network_.hash
    lcifr("consume", "plain/handover", "plain/labels.csv", "--out", "c", cwd=place)
    lcifr("consume", "plain/handover", "plain/labels.csv", "--class-weight", "balanced", "--out", "cw", cwd=place)
    found = [RobustClassifier.load(place / name / "model.safetensors") for name in ("c", "cw")]
    assert [one.class_weight for one in found] == [None, "balanced"]
    assert found[0].network_.hash != found[1].network_.hash


@pytest.mark.parametrize("command", ["produce", "tune", "consume"])
def test_numbers_have_no_class_weights(place: Path, command: str) -> None:
    words = ("produce", "numbers.csv", *LEARN, "--target", "much", "--no-bundle")
    more = ("--class-weight", "balanced", "--out", "x")
    if command == "consume":
        lcifr(*words, "--out", "p", cwd=place)
        words = ("consume", "p/handover", "p/labels.csv", "--tolerance", "1")
    if command == "tune":
        words = ("tune", *words[1:], "--required", "0", "--tolerance", "1")
    said = lcifr(*words, *more, cwd=place, expect=2)
    assert "the labels are numbers" in said.err
    assert "Fix: leave it out" in said.err


def test_estimators_refuse_class_weights_for_numbers_too(place: Path) -> None:
    table = pd.read_csv(place / "numbers.csv")
    encoder = FairEncoder("numeric within 0.2 sd", class_weight="balanced", epochs=1)
    with pytest.raises(LearningError, match="the labels are numbers"):
        encoder.fit(table.drop(columns="much"), table["much"])


def test_a_search_among_numbers_needs_a_tolerance_and_knows_no_balance(place: Path) -> None:
    words = ("tune", "numbers.csv", *LEARN, "--target", "much", "--required", "0", "--out", "x")
    said = lcifr(*words, cwd=place, expect=2)
    assert "--tolerance" in said.err
    assert "--task" not in said.err  # which tune does not have
    assert (
        "--by balanced is for classes" in lcifr(*words, "--tolerance", "1", "--by", "balanced", cwd=place, expect=2).err
    )


def test_the_unaware_model_does_not_read_what_phi_leaves_free(place: Path) -> None:
    words = ("produce", "people.csv", *LEARN, "--target", "rare", "--unaware")
    said = lcifr(*words, "--out", "unaware", cwd=place)
    assert "the unaware model" in said.out
    assert "ignores what φ leaves free: sex" in said.out
    result = result_of(place / "unaware")
    assert (result["unaware"], result["unread"]) == (True, ["sex"])
    encoder = load_encoder(place / "unaware")
    assert encoder.unread_ == ("sex",)
    assert (encoder.gamma, encoder.tie_free) == (0.0, True)
    table = pd.read_csv(place / "people.csv").drop(columns="rare")
    other = table.assign(sex=table["sex"].map({"f": "m", "m": "f"}))
    np.testing.assert_allclose(encoder.transform(table), encoder.transform(other), atol=1e-6)
    lcifr("consume", "unaware/handover", "unaware/labels.csv", "--out", "consumer", cwd=place)
    lcifr("audit", "unaware", "consumer", "--out", "audit", cwd=place, expect=None)
    lcifr("check", "unaware/bundle", cwd=place)
    lcifr("check", "audit/bundle", cwd=place)
    assert not any("unaware" in text for text in result_of(place / "audit")["warnings"])  # it is that one


def test_unaware_is_refused_where_it_means_nothing(place: Path) -> None:
    words = ("produce", "people.csv", *LEARN, "--target", "rare", "--unaware", "--out", "x")
    for option in ("--gamma", "--stretch"):
        said = lcifr(*words, option, "2", cwd=place, expect=2)
        assert f"{option} has no effect" in said.err
    (place / "who.phi").write_text("same(categorical) and numeric within 0.2 sd\n", encoding="utf-8")
    assert "mentions every attribute" in lcifr(*words, cwd=place, expect=2).err


def test_a_task_names_the_estimator_of_its_head() -> None:
    assert {task: head_for(task).__name__ for task in HEADS} == HEADS
