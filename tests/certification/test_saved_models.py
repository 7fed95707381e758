"""Saved models of before: what is read and written again is the same file, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from lcifr.certification.saved_models import BOOSTERS, SavedBooster, SavedEncoder, SavedHead, read_kind
from lcifr.workflows.results import HEADS
from tests.golden.make import unpack


@pytest.mark.parametrize("name", ["produce-network", "produce-trees"])
def test_an_encoder_or_booster_is_written_as_it_was(name: str, tmp_path: Path) -> None:
    path, again = unpack(name, tmp_path) / "encoder.safetensors", tmp_path / "again.safetensors"
    kind = read_kind(path)
    saved = SavedBooster.read(path, kind) if kind in BOOSTERS else SavedEncoder.read(path)
    saved.write(again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["consume-network", "produce-trees"])
def test_a_head_is_written_as_it_was(name: str, tmp_path: Path) -> None:
    path, again = unpack(name, tmp_path) / "model.safetensors", tmp_path / "again.safetensors"
    SavedHead.read(path, HEADS["classification"]).write(again)
    assert again.read_bytes() == path.read_bytes()
