"""Every method on the same generated questions: exact ones agree, bounds are ordered, nothing is beaten by a sample."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from lcifr.prove.gate import ask, build_question
from lcifr.prove.maximize import METHODS, find_method
from lcifr.prove.question import Answer, Status
from tests.effort import spread
from tests.prove.confirming import refusals
from tests.prove.instances import Instance, Known, corpus, largest_sampled, random_instance

TOLERANCE = 1e-6
EXACT = [name for name in METHODS if name in ("branch", "cascade", "enumerate", "milp")]
LADDER = [name for name in ("enumerate", "lp", "bounds", "interval") if name in METHODS]
"""From tight to loose: what is proved higher up is never above what is proved further down."""
BLOCK = 5
BLOCKS = spread(range(60), quick=6, long=25)
"""Blocks of seeds: some for every run, a hundred for the long one, the rest for the nightly one."""


@cache
def instance(seed: int) -> Instance:
    return random_instance(seed, people=2)


@cache
def answer(seed: int, method: str) -> Answer:
    one = instance(seed)
    asked = find_method(method)
    proof = asked.writes_proofs
    question = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE, proof=proof, resources=2000)
    return ask(asked, question)


def seeds(block: int) -> range:
    return range(block * BLOCK, (block + 1) * BLOCK)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("known", corpus(), ids=lambda known: known.name)
def test_hand_computed_answers(known: Known, method: str) -> None:
    one = known.instance
    asked = find_method(method)
    question = build_question(one.network, one.directions, one.region, tolerance=TOLERANCE, proof=asked.writes_proofs)
    found = ask(asked, question)
    assert found.upper[0, 0] >= known.answer
    if method in EXACT and np.isfinite(known.answer):
        assert found.upper[0, 0] <= known.answer + TOLERANCE * (1 + abs(known.answer))
    assert found.best[0, 0] <= known.answer
    assert not refusals(one.network, question.directions, one.region, found)


def check_answer(seed: int, method: str) -> None:
    """Not below the exact maximum or a sample, not above it if the method is exact, confirmed by the exact checker."""
    one, found, truth = instance(seed), answer(seed, method), answer(seed, "enumerate").upper
    assert (found.upper >= truth).all(), seed
    assert (found.upper >= largest_sampled(one, seed, 100) - 1e-12).all(), seed
    if method in EXACT:
        there = np.isfinite(truth) & (found.status != Status.BUDGET)  # few: see the last assertion of the test
        excess = found.upper[there] - truth[there]
        assert (excess <= TOLERANCE * (1 + np.abs(truth[there]))).all(), (seed, excess.max())
    directions = np.broadcast_to(one.directions, (one.region.people, *one.directions.shape))
    assert not refusals(one.network, directions, one.region, found), seed


@pytest.mark.parametrize("block", BLOCKS)
def test_every_method_is_sound_and_exact_ones_agree_and_tighter_ones_are_tighter(block: int) -> None:
    """One test for all of it: an answer is then computed once, in whichever process the test runs."""
    for seed in seeds(block):
        for method in METHODS:
            check_answer(seed, method)
        for tight, loose in pairwise(LADDER):
            above = answer(seed, loose).upper
            slack = 1e-7 * (1 + np.abs(np.where(np.isfinite(above), above, 0.0)))
            assert (answer(seed, tight).upper <= above + slack).all(), (seed, tight, loose)
    spent = sum((answer(seed, method).status == Status.BUDGET).sum() for seed in seeds(block) for method in EXACT)
    assert spent <= 0.1 * sum(answer(seed, method).status.size for seed in seeds(block) for method in EXACT)


def test_methods_that_say_they_prove_do() -> None:
    """The relaxation proves everything that it says, solver or not: there is a proof for every bound."""
    for seed in range(12):
        found = answer(seed, "lp")
        assert found.proof is not None
        present = np.stack([cell.present for cell in instance(seed).region.cells])
        for person, proofs in enumerate(found.proof):
            for cells in proofs:
                assert [proof.cell for proof in cells] == np.flatnonzero(present[:, person]).tolist()
