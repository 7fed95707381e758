"""Group metrics beside certificates: fairlearn's own numbers over our predictions."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lcifr.certification.auditor import audit
from lcifr.certification.population.statement import group_metrics
from lcifr.errors import LcifrError
from tests.certification.scenes import FORMULAS, scene


def test_group_metrics_are_those_of_each_group() -> None:
    pytest.importorskip("fairlearn", reason="fairlearn, an extra, is not installed")
    from fairlearn.metrics import selection_rate

    one = scene(3, FORMULAS[1], count=20)
    found = audit(one.encoder, one.model, one.people, modular=False)
    y = np.arange(20) % 2
    frame = group_metrics(found, y, one.people["sex"], {"selected": selection_rate})
    for sex in ("female", "male"):
        member = (one.people["sex"] == sex).to_numpy()
        assert frame.by_group.loc[sex, "selected"] == pytest.approx(found.prediction[member].mean())
    assert frame.overall["selected"] == pytest.approx(found.prediction.mean())


def test_without_fairlearn_the_fix_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fairlearn", None)
    monkeypatch.setitem(sys.modules, "fairlearn.metrics", None)
    one = scene(3, FORMULAS[1], count=4)
    found = audit(one.encoder, one.model, one.people, modular=False)
    with pytest.raises(LcifrError, match=r"lcifr\[fairlearn\]"):
        group_metrics(found, [0, 1, 0, 1], one.people["sex"], {})
