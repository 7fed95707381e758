"""Tuning: the frontier of score and certified share."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from lcifr.errors import LcifrError
from lcifr.estimators import FairEncoder, tune
from tests.estimators.quick import QUICK, quiet
from tests.learn.populations import FORMULA, population


@quiet
def test_tune_returns_the_frontier_goes_on_where_it_stopped_and_draws_it(tmp_path: Path) -> None:
    X, y = population(200)
    validation = population(150, seed=4)
    encoder = FairEncoder(FORMULA, **QUICK)
    options: dict[str, Any] = {"validation": validation, "required": 0.75, "folder": tmp_path / "search"}
    frontier = tune(encoder, X, y, gammas=(0.3, 3.0), **options)
    assert [point.gamma for point in frontier.points] == [0.3, 3.0][: len(frontier.points)]
    assert frontier.chosen is not None
    assert frontier.chosen.score >= 0.75
    able = [point for point in frontier.points if point.score >= 0.75]
    assert all(point.certified <= frontier.chosen.certified + point.certified_error for point in able)
    assert frontier.chosen.certified > frontier.plain.certified
    again = tune(encoder, X, y, gammas=(0.3, 3.0), **options)
    assert again.points == frontier.points
    assert again.encoder is not None
    assert frontier.encoder is not None
    np.testing.assert_array_equal(again.encoder.transform(X), frontier.encoder.transform(X))
    frontier.plot(tmp_path / "frontier.svg")
    drawing = ElementTree.parse(tmp_path / "frontier.svg").getroot()
    assert len(drawing.findall("{http://www.w3.org/2000/svg}circle")) == len(frontier.points) + 2
    with pytest.raises(LcifrError, match="other people or other settings"):
        tune(encoder, X, 1 - y, gammas=(0.3,), **options)


@quiet
def test_tune_stops_where_accuracy_falls_and_says_when_nothing_will_do() -> None:
    X, y = population(120)
    encoder = FairEncoder(FORMULA, **{**QUICK, "epochs": 2})
    frontier = tune(encoder, X, y, validation=population(80, seed=4), required=1.01, gammas=(1.0, 10.0))
    assert len(frontier.points) == 1
    assert frontier.chosen is None
    assert frontier.encoder is None
    assert dataclasses.asdict(frontier.points[0])["gamma"] == 1.0
