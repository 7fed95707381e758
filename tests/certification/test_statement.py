"""Group metrics beside certificates: fairlearn's own numbers over our predictions."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from lcifr.certification.audit import audit
from lcifr.certification.population import group_metrics, why_no_bound
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


@pytest.mark.parametrize(
    ("not_examined", "trained_on", "said"),
    [
        (0, False, "it was not declared that these people were held out from training and drawn from it"),
        (0, True, "people among these were used for training"),
        (1, False, "1 row was left out because of missing values, so the others are not a random sample of it"),
        (7, True, "7 rows were left out because of missing values, so the others are not a random sample of it"),
    ],
)
def test_why_there_is_no_bound_says_what_is_known_and_no_more(not_examined: int, trained_on: bool, said: str) -> None:
    assert why_no_bound(not_examined, trained_on=trained_on) == said
