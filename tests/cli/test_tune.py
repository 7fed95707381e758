"""``lcifr tune``: it chooses nothing useless, its folder is a producer's, and what it prints next can be pasted."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from lcifr.workflows.producing import load_encoder
from tests.story import QUICK, lcifr, write_made_up

LEARN = (*QUICK, "--epochs", "25", "--target", "paid", "--phi", "who.phi")


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with ``my frontier``, whose last line on stderr is in ``next``."""
    place = tmp_path_factory.mktemp("my tune")
    write_made_up(place, signal=3.0, share=0.5)
    words = ("tune", "some people.csv", *LEARN, "--required", "0.6", "--gammas", "0.3,3", "--decoder-weight", "0.1")
    said = lcifr(*words, "--out", "my frontier", cwd=place)
    (place / "next").write_text(said.err.strip().splitlines()[-1], encoding="utf-8")
    (place / "said").write_text(said.out, encoding="utf-8")
    return place


def result_of(folder: Path) -> dict:
    return json.loads((folder / "result.json").read_text(encoding="utf-8"))


def test_it_says_why_and_shows_standard_errors(tuned: Path) -> None:
    said, result = (tuned / "said").read_text(encoding="utf-8"), result_of(tuned / "my frontier")
    assert result["why"][1:] in said
    assert "±: one standard error" in said
    assert result["chosen"] in [point["name"] for point in result["points"]]


def test_the_next_command_can_be_pasted_and_the_folder_audited(tuned: Path) -> None:
    words = shlex.split((tuned / "next").read_text(encoding="utf-8").removeprefix("Next: "))
    assert words[0] == "lcifr"
    said = lcifr(*words[1:], cwd=tuned)
    then = shlex.split(said.err.strip().splitlines()[-1].split("folder: ")[1])
    lcifr(*then[1:], cwd=tuned, expect=None)
    assert result_of(tuned / "audit")["people"] == 32
    lcifr("check", "my frontier/bundle", cwd=tuned)


def test_its_own_model_can_be_audited_and_used(tuned: Path) -> None:
    """Producer and consumer in one: the figures are of the very model that was chosen."""
    lcifr("audit", "my frontier", "my frontier", "--no-baselines", "--out", "own", cwd=tuned, expect=None)
    own, result = result_of(tuned / "own"), result_of(tuned / "my frontier")
    assert own["hashes"]["model"] == result["model"]
    assert own["hashes"]["encoder"] == result["encoder"]
    lcifr("represent", "my frontier", "some people.csv", "--out", "new", cwd=tuned)
    lcifr("certify", "my frontier", "new/handover", "--out", "certified", cwd=tuned)
    assert result_of(tuned / "certified")["people"] == 160


def test_produce_with_the_same_options_learns_the_same_encoder(tuned: Path) -> None:
    gamma = result_of(tuned / "my frontier")["gamma"]
    words = ("produce", "some people.csv", *LEARN, "--gamma", gamma, "--decoder-weight", "0.1", "--no-bundle")
    lcifr(*words, "--out", "again", cwd=tuned)
    assert result_of(tuned / "again")["encoder"] == result_of(tuned / "my frontier")["encoder"]
    assert load_encoder(tuned / "my frontier").decoder_weight == 0.1
    handed = [(tuned / name / "handover/train/ids.json").read_text() for name in ("again", "my frontier")]
    assert handed[0] == handed[1]


def test_where_every_model_decides_the_same_none_is_chosen(tmp_path: Path) -> None:
    """The labels cannot be told from the attributes, and one is rare: the majority is all there is to learn."""
    write_made_up(tmp_path, signal=0.0, share=0.05)
    words = ("tune", "some people.csv", *LEARN, "--required", "0.5", "--gammas", "1,30", "--out", "frontier")
    said = lcifr(*words, cwd=tmp_path, expect=3)
    assert "← chosen" not in said.out
    assert "No model is useful: each decides the same for everybody" in said.out
    assert "--class-weight balanced" in said.err
    assert "Next:" not in said.err
    result = result_of(tmp_path / "frontier")
    assert result["chosen"] is None
    assert all(point["certified"] == 1 for point in result["points"])  # which is why the most certified is no rule
    assert not (tmp_path / "frontier/encoder.safetensors").exists()
    said = lcifr("audit", "frontier", "frontier", "--out", "audit", cwd=tmp_path, expect=2)
    assert "`lcifr tune` chose none" in said.err


def test_a_score_that_nobody_reaches(tmp_path: Path) -> None:
    write_made_up(tmp_path, signal=1.0, share=0.5)
    words = ("tune", "some people.csv", *LEARN, "--required", "1", "--gammas", "1,30", "--out", "frontier", "--json")
    result = lcifr(*words, cwd=tmp_path, expect=3).json
    assert result["chosen"] is None
    assert "the required 1" in result["why"]


def test_by_balanced_accuracy_with_class_weights(tmp_path: Path) -> None:
    write_made_up(tmp_path, signal=1.5, share=0.15, people=240)
    words = ("tune", "some people.csv", *LEARN, "--by", "balanced", "--class-weight", "balanced", "--gammas", "0.3,1")
    result = lcifr(*words, "--required", "0.55", "--out", "frontier", "--no-bundle", "--json", cwd=tmp_path).json
    chosen = next(point for point in result["points"] if point["name"] == result["chosen"])
    assert (result["by"], result["class_weight"]) == ("balanced", "balanced")
    assert chosen["balanced"] >= 0.55
    assert load_encoder(tmp_path / "frontier").class_weight == "balanced"
