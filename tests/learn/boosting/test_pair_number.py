"""The number of pairs found by held-out people: those stay without whom the held-out would be worse off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lcifr.errors import LearningError
from lcifr.learn.boosting.boosting import boost
from lcifr.learn.parameters import STAGES, BoostingSettings
from lcifr.learn.target import EncodedPeople
from tests.learn.boosting.reference import FORMULAS, encoded, slow_loss

QUICK: dict[str, Any] = {"rounds": 40, "max_bins": 16, "min_people": 3, "learning_rate": 0.3, "gamma": 0.5}
FORMULA = FORMULAS["noise and a free category"]


def crossed(people: EncodedPeople, share: float = 0.1) -> EncodedPeople:
    """Labels by exclusive or of two numbers, some of them turned round."""
    turned = np.random.default_rng(len(people.x)).random(len(people.x)) < share
    label = (people.x[:, 0] > 0) ^ (people.x[:, 1] > 0) ^ turned
    return replace(people, label=label.astype(np.float64))


def test_the_pair_that_tells_is_found_and_every_pair_that_stays_helps_the_held_out() -> None:
    encoding, target, people = encoded(300, FORMULA)
    training = crossed(people)
    held = crossed(replace(encoded(150, FORMULA, seed=1)[2]))
    auto, alone = (
        boost(encoding, training, held, target, BoostingSettings(**QUICK, interactions=number)).model
        for number in ("auto", 0)
    )
    assert ("age", "income") in {pair.bins.attributes for pair in auto.pairs}
    loss = slow_loss(target, auto, held, QUICK["gamma"])
    assert loss < slow_loss(target, alone, held, QUICK["gamma"]) - 0.05
    for pair in auto.pairs:
        others = tuple(one for one in auto.pairs if one is not pair)
        assert slow_loss(target, replace(auto, pairs=others), held, QUICK["gamma"]) > loss


def test_labels_by_chance_have_no_pairs_to_speak_of() -> None:
    encoding, target, people = encoded(300, FORMULA)
    draw = np.random.default_rng(3)
    training = replace(people, label=draw.integers(0, 2, 300).astype(np.float64))
    held = encoded(200, FORMULA, seed=1)[2]
    held = replace(held, label=draw.integers(0, 2, 200).astype(np.float64))
    settings = BoostingSettings(**{**QUICK, "gamma": 0.0}, interactions="auto")
    assert len(boost(encoding, training, held, target, settings).model.pairs) < STAGES[0]


@pytest.mark.parametrize("wrong", ["many", -1, 1.5, None])
def test_other_words_are_refused(wrong: Any) -> None:
    with pytest.raises(LearningError, match=r"interactions=[\s\S]*Fix: .*\"auto\""):
        BoostingSettings(interactions=wrong)
