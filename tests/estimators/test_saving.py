"""Saved models come back bit for bit, and whatever is not one is refused with words."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr.errors import LcifrError, LearningError
from lcifr.estimators import FairEncoder, RobustClassifier, RobustRegressor
from tests.learn.populations import FORMULA, SCHEMA, latent, population

pytestmark = pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")
QUICK: dict[str, Any] = {"epochs": 3, "batch_size": 32, "latent_dim": 3}


@pytest.mark.parametrize("kind", ["binary", "classes", "number", "none"])
def test_encoders_come_back(tmp_path: Path, kind: str) -> None:
    X, y = population(60, kind=kind)
    encoder = FairEncoder(
        FORMULA, schema=SCHEMA, decoder_weight=0.5, class_weight=None if kind == "number" else "balanced", **QUICK
    )
    encoder.fit(X, None if kind == "none" else y)
    encoder.save(tmp_path / "f")
    again = FairEncoder.load(tmp_path / "f")
    np.testing.assert_array_equal(again.transform(X), encoder.transform(X))
    np.testing.assert_array_equal(again.reach(X).radius, encoder.reach(X).radius)
    assert again.similarity_.hash == encoder.similarity_.hash
    assert again.decoder_.hash == encoder.decoder_.hash
    assert again.get_params()["gamma"] == encoder.gamma
    assert len(again.history_) == len(encoder.history_)
    assert again.history_[0].loss == encoder.history_[0].loss
    again.save(tmp_path / "g")
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()


def test_matrix_encoders_come_back(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    encoder = FairEncoder("all within 0.1 sd", **QUICK).fit(X, (X[:, 0] > 0).astype(int))
    encoder.save(tmp_path / "f")
    np.testing.assert_array_equal(FairEncoder.load(tmp_path / "f").transform(X), encoder.transform(X))


def test_formulas_with_ranks_ask_for_the_training_people(tmp_path: Path) -> None:
    X, y = population(60)
    text = """same(categorical) and age within 1 sd and income' = income and
        |rank(age' by sex' = "male") - rank(age by sex = "male")| < 5"""
    encoder = FairEncoder(text, schema=SCHEMA, **QUICK).fit(X, y)
    encoder.save(tmp_path / "f")
    with pytest.raises(LcifrError):
        FairEncoder.load(tmp_path / "f")
    with pytest.raises(LearningError, match="does not mean what it meant"):
        FairEncoder.load(tmp_path / "f", training=population(60, seed=8)[0])
    again = FairEncoder.load(tmp_path / "f", training=X)
    np.testing.assert_array_equal(again.reach(X).radius, encoder.reach(X).radius)


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_heads_come_back(tmp_path: Path, kind: str) -> None:
    z, y, radius = latent(80, kind=kind)
    head = RobustRegressor(tolerance=2.0) if kind == "number" else RobustClassifier((4,), epochs=3)
    head.fit(z, y, radius=radius)
    head.save(tmp_path / "h")
    again = type(head).load(tmp_path / "h")
    np.testing.assert_array_equal(again.predict(z), head.predict(z))
    np.testing.assert_array_equal(again.certified(z, radius), head.certified(z, radius))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    z, y, radius = latent(80)
    path = tmp_path / "h"
    RobustClassifier().fit(z, y, radius=radius).save(path)
    return path


def test_every_truncation_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    for length in [0, 1, 7, 8, 9, *range(10, len(whole), 97), len(whole) - 1]:
        saved.write_bytes(whole[:length])
        with pytest.raises(LearningError, match="damaged, or not a saved model"):
            RobustClassifier.load(saved)


def test_every_flipped_byte_is_noticed(saved: Path) -> None:
    whole = saved.read_bytes()
    for place in range(0, len(whole), 13):
        damaged = bytearray(whole)
        damaged[place] ^= 0x04
        saved.write_bytes(bytes(damaged))
        with pytest.raises(LearningError):
            RobustClassifier.load(saved)


def _rewrite(path: Path, **changes: Any) -> None:
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    about = json.loads(header["__metadata__"]["lcifr"]) | changes
    header["__metadata__"]["lcifr"] = json.dumps(about)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


def test_the_future_and_the_foreign_are_refused(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    for changes, words in (
        ({"version": 1}, "version 1"),
        ({"version": 3}, "(?s)version 3.*learn"),
        ({"version": 5}, "(?s)version 5.*update"),
        ({"format": "other"}, "not a saved model"),
    ):
        saved.write_bytes(whole)
        _rewrite(saved, **changes)
        with pytest.raises(LearningError, match=words):
            RobustClassifier.load(saved)
    saved.write_bytes(whole)
    with pytest.raises(LearningError, match="holds a RobustClassifier"):
        FairEncoder.load(saved)
    with pytest.raises(LearningError, match="cannot be read"):
        RobustClassifier.load(tmp_path / "nowhere")
