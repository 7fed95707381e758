"""``--stretch``, ``--whole-numbers``: they reach the encoder that is learned, by ``produce`` and by ``tune``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lcifr.certification.handover import Representation
from lcifr.estimators import FairEncoder
from lcifr.workflows.producing import load_encoder
from tests.story import QUICK, lcifr, write_german, write_made_up

LEARN = ("people.csv", "--phi", "people.phi", "--target", "repaid", *QUICK, "--epochs", "3")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_german(tmp_path, 30)
    return tmp_path


def test_a_stretched_encoder_is_another_one(place: Path) -> None:
    """The default is the proved radius itself; asked for more, the label has to survive more."""
    weights = {}
    for name, more in {"plain": (), "one": ("--stretch", "1"), "four": ("--stretch", "4")}.items():
        lcifr("produce", *LEARN, *more, "--no-bundle", "--out", name, cwd=place)
        learned = load_encoder(place / name)
        weights[name] = learned.network_.hash
        assert learned.stretch == (4.0 if name == "four" else 1.0)
    assert weights["plain"] == weights["one"] != weights["four"]


def test_a_search_keeps_to_the_stretch_and_whole_numbers(place: Path) -> None:
    write_made_up(place, signal=3.0, share=0.5, people=80)
    words = ("tune", "some people.csv", "--phi", "who.phi", "--target", "paid", *QUICK, "--epochs", "25")
    options = ("--required", "0.1", "--gammas", "1", "--stretch", "3", "--whole-numbers", "--no-bundle")
    lcifr(*words, *options, "--out", "frontier", cwd=place)
    chosen = FairEncoder.load(place / "frontier/encoder.safetensors")
    assert (chosen.gamma, chosen.stretch, chosen.whole_numbers) == (1.0, 3.0, True)
    result = json.loads((place / "frontier/result.json").read_text(encoding="utf-8"))
    assert (result["stretch"], result["whole_numbers"]) == (3.0, True)


def test_what_is_handed_over_later_is_about_the_same_people(place: Path) -> None:
    """Whole numbers when it was learned, whole numbers for new people; and the checker confirms both."""
    lcifr("produce", *LEARN, "--whole-numbers", "--out", "producer", cwd=place)
    assert load_encoder(place / "producer").whole_numbers
    lcifr("represent", "producer", "people.csv", "--bundle", "--out", "new", cwd=place)
    for folder in ("producer/handover/held-out", "new/handover"):
        assert Representation.read(place / folder).provenance.whole_numbers
    lcifr("consume", "producer/handover", "producer/labels.csv", "--out", "consumer", cwd=place)
    lcifr("audit", "producer", "consumer", "--out", "audit", cwd=place, expect=None)
    certified = json.loads((place / "consumer/result.json").read_text(encoding="utf-8"))["share"]
    assert json.loads((place / "audit/result.json").read_text(encoding="utf-8"))["modularity"]["ball"] == certified
    for folder in ("producer/bundle", "new/bundle"):
        assert "every claim about them is confirmed" in lcifr("check", folder, cwd=place).out
