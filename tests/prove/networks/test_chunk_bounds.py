"""Bounds of whole chunks: as linear bounds are for each person alone, sound, and honest about whom they leave open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcifr.prove import maximize
from lcifr.prove.gate import build_question
from lcifr.prove.networks import linear_search
from lcifr.prove.networks.linear_search import bound_people
from lcifr.prove.question import Question, SharedAnswer, still_open, values_at
from tests.prove.instances import Instance, largest_sampled
from tests.prove.worlds import World


def question_of(one: Instance, target: float | None = None, together: bool = False) -> Question:
    question = build_question(one.network, one.directions, one.region, target=target, resources=100)
    if not together:
        return question
    people, k, _ = question.directions.shape
    shared = SharedAnswer(np.zeros((people, k)), np.full(people, -np.inf))
    return replace(question, shared=shared, target=None if target is None else np.full((people, 1), target))


WORLDS = [
    World(seed, hidden, numerics=3, groups=(3, 2), rows=seed % 2, cells=1 + seed % 2, people=7)
    for seed, hidden in enumerate([(), (5,), (4, 3), (3, 3, 3)])
]


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_no_sample_passes_a_bound_and_witnesses_are_in_the_region(world: World) -> None:
    one = world.build()
    found = bound_people(question_of(one))
    assert (found.upper >= largest_sampled(one, world.seed)).all()
    there = ~np.isnan(found.witness[..., 0])
    assert there.any()
    assert one.region.contains(np.where(there[..., None], found.witness, 0.0), tolerance=1e-9)[there].all()
    assert (values_at(question_of(one), found.witness) <= found.upper + 1e-9 * (1 + np.abs(found.upper))).all()


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_pieces_change_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one = world.build()
    whole = bound_people(question_of(one))
    monkeypatch.setattr(linear_search, "CACHE", 1)
    pieces = bound_people(question_of(one))
    assert np.allclose(whole.upper, pieces.upper, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_whoever_is_not_open_is_decided(world: World, together: bool) -> None:
    one = world.build()
    truth = maximize(one.network, one.directions, one.region, method="milp").upper
    truth = truth.max(1, keepdims=True) if together else truth
    decided = 0
    for target in np.quantile(truth[np.isfinite(truth)], [0.1, 0.5, 0.9]) + 0.05:
        question = question_of(one, float(target), together)
        found = bound_people(question)
        left = still_open(question, found)
        closed = np.setdiff1d(np.arange(one.region.people), left)
        upper = found.upper.max(1, keepdims=True) if together else found.upper
        below, above = upper < target, values_at(question, found.witness) > target
        assert (below | above)[closed].all()
        assert (truth[closed] < target + 1e-5)[below[closed]].all()
        assert (truth[closed] > target - 1e-5)[above[closed]].all()
        decided += len(closed)
    assert decided > 0


def test_without_a_target_only_what_is_exact_is_not_open() -> None:
    one = World(5, (), numerics=3, people=6).build()  # linear: plain bounds are exact
    question = question_of(one, together=True)
    assert len(still_open(question, bound_people(question))) == 0
    deep = World(5, (6, 6), numerics=3, people=6).build()
    question = question_of(deep, together=True)
    assert len(still_open(question, bound_people(question))) > 0
