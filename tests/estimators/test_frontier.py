"""Tuning: the frontier of score and certified share."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from lcifr.errors import LcifrError
from lcifr.estimators import FairBooster, FairEncoder, tune
from tests.estimators.quick import QUICK, quiet
from tests.learn.populations import FORMULA, SCHEMA, population


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


@quiet
def test_two_families_are_searched_apart_chosen_of_together_and_go_on_where_they_stopped(tmp_path: Path) -> None:
    X, y = population(160)
    encoder = FairEncoder(FORMULA, **{**QUICK, "epochs": 3})
    booster = FairBooster(FORMULA, schema=SCHEMA, rounds=15, learning_rate=0.3, min_people=5)
    options: dict[str, Any] = {"validation": population(120, seed=4), "required": 0.6, "gammas": (0.3, 3.0)}
    frontier = tune([encoder, booster], X, y, folder=tmp_path / "search", **options)
    assert [point.name for point in frontier.baselines] == [
        f"{family}-{name}" for family in ("network", "trees") for name in ("plain", "unaware")
    ]
    assert [point.learner for point in frontier.points] == sorted(point.learner for point in frontier.points)
    assert {point.on for point in (*frontier.baselines, *frontier.points)} == {"box"}
    chosen = frontier.chosen
    assert chosen is not None
    assert type(frontier.encoder) is (FairBooster if chosen.learner == "trees" else FairEncoder)
    able = [point for point in frontier.points if point.useful and point.score >= 0.6]
    assert max(point.certified for point in able) - chosen.certified <= chosen.certified_error
    alone = tune(booster, X, y, **options)
    apart = [
        dataclasses.replace(p, name=p.name.removeprefix("trees-")) for p in frontier.points if p.learner == "trees"
    ]
    assert [*alone.points] == apart
    again = tune([encoder, booster], X, y, folder=tmp_path / "search", **options)
    assert again.points == frontier.points
    assert again.encoder is not None
    assert frontier.encoder is not None
    np.testing.assert_array_equal(again.encoder.transform(X), frontier.encoder.transform(X))
    with pytest.raises(LcifrError, match="one of each at most"):
        tune([booster, booster], X, y, **options)


@quiet
def test_the_share_of_a_booster_is_that_of_its_own_closed_form() -> None:
    X, y = population(120)
    booster = FairBooster(FORMULA, schema=SCHEMA, rounds=15, learning_rate=0.3, min_people=5)
    frontier = tune(booster, X, y, validation=(X, y), required=0.5, gammas=(1.0,))
    assert frontier.encoder is not None
    assert frontier.head is not None
    assert frontier.points[0].certified == frontier.encoder.certified(X).mean()
    assert frontier.points[0].score == frontier.encoder.score(X, y)
    np.testing.assert_array_equal(frontier.head.predict(frontier.encoder.transform(X)), frontier.encoder.predict(X))
