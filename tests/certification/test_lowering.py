"""Regions are lowered once for each person and use: a verdict, its hand-over and their proofs share them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import freeze, represent
from lcifr.phi import Similarity
from tests.certification.scenes import FORMULAS, people, scene

COUNT = 12


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many people were lowered, call by call."""
    honest, found = Similarity.region, list[int]()

    def region(self: Similarity, x: Any, **options: Any) -> Any:
        made = honest(self, x, **options)
        found.append(made.people)
        return made

    monkeypatch.setattr(Similarity, "region", region)
    return found


def test_an_audit_lowers_everybody_once(lowered: list[int]) -> None:
    one = scene(2, FORMULAS[0])
    lowered.clear()
    found = audit(one.encoder, one.model, people(COUNT, 5))
    assert found.ball is not None
    assert lowered == [COUNT]


def test_shared_regions_change_no_verdict() -> None:
    one, table = scene(2, FORMULAS[0]), people(COUNT, 5)
    own = audit(one.encoder, one.model, table, modular=represent(freeze(one.encoder), table))
    shared = audit(one.encoder, one.model, table)
    assert np.array_equal(own.verdict, shared.verdict)
    assert np.array_equal(own.ball, shared.ball)
    assert np.array_equal(own.box, shared.box)


def test_a_bundle_of_radii_and_verdicts_lowers_everybody_once(lowered: list[int], tmp_path: Path) -> None:
    one, table = scene(2, FORMULAS[0]), people(COUNT, 5)
    handed = represent(one.encoder, table)
    found = audit(one.encoder, one.model, table, modular=handed)
    lowered.clear()
    write_bundle(tmp_path / "bundle", one.encoder, table, handed, found)
    assert lowered == [COUNT]
