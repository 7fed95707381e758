"""Warm start: the model that boosting goes on from is written down exactly, whatever the new bins are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lcifr.learn.boosting.boosting import boost
from lcifr.learn.parameters import BoostingSettings
from tests.learn.boosting.reference import FORMULAS, encoded

SETTINGS: dict[str, Any] = {"rounds": 15, "max_bins": 12, "min_people": 2, "learning_rate": 0.3, "gamma": 0.3}


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_boosting_goes_on_where_it_ended(kind: str) -> None:
    encoding, target, people = encoded(60, FORMULAS["noise and a free category"], kind=kind)
    first = boost(encoding, people, people, target, BoostingSettings(**SETTINGS, interactions=2))
    assert first.model.pairs
    # With other bins, and steps that cannot lower the loss by anything: what is found is what it began with.
    idle = BoostingSettings(**{**SETTINGS, "max_bins": 7, "rounds": 1, "learning_rate": 1e-12}, interactions=2)
    same = boost(encoding, people, people, target, idle, first.model).model
    np.testing.assert_allclose(same(people.x), first.model(people.x), rtol=1e-9)
    assert [pair.bins.attributes for pair in same.pairs] == [pair.bins.attributes for pair in first.model.pairs]
    again = boost(encoding, people, people, target, BoostingSettings(**SETTINGS, interactions=2), first.model)
    assert again.history[0].loss < first.history[-1].loss
    assert len(again.model.pairs) <= 2


def test_another_promise_takes_fewer_rounds_from_a_model_of_its_neighbour() -> None:
    encoding, target, people = encoded(200, FORMULAS["noise and a free category"])
    near, far = (BoostingSettings(**{**SETTINGS, "gamma": gamma, "rounds": 60}) for gamma in (1.0, 2.0))
    first = boost(encoding, people, people, target, near)
    warm, cold = (boost(encoding, people, people, target, far, start) for start in (first.model, None))
    assert warm.history[5].loss < cold.history[5].loss


def test_what_must_not_be_read_any_more_is_forgotten() -> None:
    encoding, target, people = encoded(100, FORMULAS["noise and a free category"])
    plain = {**SETTINGS, "gamma": 0.0, "rounds": 30}
    first = boost(encoding, people, people, target, BoostingSettings(**plain, interactions=6)).model
    assert "sex" in first.attributes
    fair = BoostingSettings(**plain, unread=("sex",), interactions=6)
    assert "sex" not in boost(encoding, people, people, target, fair, first).model.attributes
