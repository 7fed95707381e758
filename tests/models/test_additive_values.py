"""Boosted models as plain values: what was written comes back, and what does not fit is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lcifr.learn.boosting.boosting import boost
from lcifr.learn.parameters import BoostingSettings
from lcifr.models.additive import additive_from_dict, additive_to_dict
from tests.learn.boosting.reference import FORMULAS, encoded

ENCODING, TARGET, PEOPLE = encoded(80, FORMULAS["noise and a free category"], kind="classes")
SETTINGS = BoostingSettings(rounds=6, max_bins=10, min_people=2, gamma=0.1, interactions=2, depth=3)


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    model = boost(ENCODING, PEOPLE, PEOPLE, TARGET, SETTINGS).model
    assert model.shapes
    assert model.pairs
    assert model.trees
    said: dict[str, Any] = json.loads(json.dumps(additive_to_dict(model)))
    again = additive_from_dict(said, ENCODING)
    np.testing.assert_array_equal(again(PEOPLE.x), model(PEOPLE.x))
    return said


def first_cut(said: dict[str, Any]) -> list[Any]:
    root: list[Any] = said["trees"][0]["root"]
    return root


def leaf_twice(said: dict[str, Any]) -> None:
    node = first_cut(said)
    while isinstance(node[2], list):
        node = node[2]
    node[2] = said["trees"][0]["values"].index(said["trees"][0]["values"][-1])


WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "an attribute twice": lambda said: said["shapes"].append(said["shapes"][0]),
    "a cut of nothing": lambda said: first_cut(said).__setitem__(1, []),
    "a cut beyond the bins": lambda said: first_cut(said).__setitem__(1, [0, 999]),
    "a cut of another attribute": lambda said: first_cut(said).__setitem__(0, 7),
    "no cut at all": lambda said: said["trees"][0].__setitem__("root", 0),
    "a leaf twice": leaf_twice,
    "a leaf too many": lambda said: said["trees"][0]["values"].append([0.0, 0.0, 0.0]),
    "a value that is no number": lambda said: said["trees"][0]["values"][0].__setitem__(0, float("nan")),
    "an axis twice": lambda said: said["trees"][0]["axes"].append(said["trees"][0]["axes"][0]),
    "thresholds that fall": lambda said: said["shapes"][0].__setitem__("thresholds", [1.0, 0.0]),
}


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_refused(written: dict[str, Any], spoil: Callable[[dict[str, Any]], Any]) -> None:
    said = copy.deepcopy(written)
    spoil(said)
    with pytest.raises(ValueError, match=r"twice|divide|deep|fit|rise|two shape functions"):
        additive_from_dict(said, ENCODING)


def test_trees_deeper_than_boosting_grows_them_are_refused(written: dict[str, Any]) -> None:
    said = copy.deepcopy(written)
    root = said["trees"][0]["root"]
    for _ in range(5000):  # as deep as a file may try to be
        root = [root[0], root[1], root, 0]
    said["trees"][0]["root"] = root
    with pytest.raises(ValueError, match="deep"):
        additive_from_dict(said, ENCODING)
