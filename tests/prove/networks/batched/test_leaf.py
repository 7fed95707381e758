"""Leaves where gradients stall are closed by a solver's duals, and a solver that lies proves nothing false."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcifr.prove.answer import Answer, Question, Status
from lcifr.prove.method import build_question
from lcifr.prove.networks import kernel as compiled
from lcifr.prove.networks.branch import Branch
from lcifr.prove.oracles.enumerate import Enumerate
from lcifr.prove.proof import Entry, Multipliers, ReluLine
from tests.prove.confirming import refusals
from tests.prove.instances import random_instance

STALLED = 113
"""Two hidden layers and a row: without the solver's point 2,000 nodes do not find the maximum, which is on the row."""


def question(seed: int) -> Question:
    one = random_instance(seed, people=2)
    return build_question(one.network, one.directions, one.region, proof=True, budget=2000)


def confirmed(asked: Question, answer: Answer) -> bool:
    return not refusals(asked.network, asked.directions, asked.region, answer)


def test_a_stalled_tree_is_closed_in_a_few_nodes() -> None:
    asked = question(STALLED)
    found, truth = Branch().maximize(asked), Enumerate().maximize(replace(asked, proof=False)).upper
    assert (found.status == Status.EXACT).all()
    assert (found.nodes < 100).all()
    assert (found.upper >= truth).all()
    assert (found.upper - truth <= 1e-6 * (1 + np.abs(truth))).all()
    assert confirmed(asked, found)


@pytest.mark.parametrize("seed", [101, 112, 119])
def test_multipliers_from_a_liar_prove_nothing_false(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "covers", lambda *_: False)
    asked, rng = question(seed), np.random.default_rng(seed)
    truth, count = Enumerate().maximize(replace(asked, proof=False)).upper, []

    def liar(network: object, intervals: list, rows: int, *_: object) -> Multipliers:
        count.append(1)
        sizes = [len(part.lower) for part in intervals]
        places = [(layer, neuron) for layer, size in enumerate(sizes) for neuron in range(size)]
        lines = tuple(ReluLine(*place, *rng.normal(size=2), float(rng.normal() * 1e3)) for place in places)
        return Multipliers(lines, tuple(Entry(row, float(rng.random())) for row in range(rows)))

    monkeypatch.setattr("lcifr.prove.oracles.lp.multipliers_from_duals", liar)
    found = Branch().maximize(asked)
    assert count
    assert (found.upper >= truth).all()
    assert confirmed(asked, found)
