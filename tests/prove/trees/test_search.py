"""The search over trees: bounds equal to those of slow oracles, points inside, proofs that show what is claimed."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.prove import maximize
from lcifr.prove.question import Status
from tests.effort import spread
from tests.prove.trees.ensembles import Case, random_case
from tests.prove.trees.exact_proofs import shown
from tests.prove.trees.oracles import largest_by_cells, largest_by_milp

KINDS = [{}, {"whole": True}, {"rows": True}, {"cells": 2}, {"rows": True, "cells": 2, "whole": True}]


def check_case(case: Case, *, proofs: bool = True) -> int:
    """Everything that is claimed about a case; how many answers were compared with an oracle."""
    answer = maximize(case.trees, case.directions, case.region, method="branch", budget=3000, proof=proofs)
    compared = 0
    for person, direction in np.ndindex(answer.upper.shape):
        upper, best = answer.upper[person, direction], answer.best[person, direction]
        if proofs:
            check_proof(case, answer, person, direction)
        truth = largest_by_cells(case.trees, case.region, person, case.directions[person, direction])
        if np.isnan(truth):
            continue
        compared += 1
        assert upper >= truth - 1e-9
        if answer.status[person, direction] == Status.EXACT:
            assert abs(best - truth) <= 2e-6 * (1 + abs(truth))
        else:
            assert answer.status[person, direction] in (Status.EMPTY, Status.BUDGET, Status.BOUNDED)
            assert np.isneginf(truth) or any(cell.rows is not None for cell in case.region.cells)
    return compared


def check_proof(case: Case, answer, person: int, direction: int) -> None:
    """The proof of every cell shows no more than what the answer says."""
    proofs = answer.proof[person][direction]
    assert len(proofs) == sum(bool(cell.present[person]) for cell in case.region.cells)
    wanted = tuple((o, float(v)) for o, v in enumerate(case.directions[person, direction]) if v)
    for proof in proofs:
        for key, bound in shown(case.trees, case.region, person, proof).items():
            assert key == wanted
            assert bound is None or bound <= answer.upper[person, direction]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_all_cells(seed, kind):
    assert check_case(random_case(seed, **kind)) > 0


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("start", spread(range(100, 500, 20), quick=0, long=6))
def test_agrees_with_all_cells_on_many(start, kind):
    compared = sum(check_case(random_case(seed, **kind), proofs=seed % 4 == 0) for seed in range(start, start + 20))
    assert compared > 100


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_a_mixed_integer_program(seed):
    case = random_case(1000 + seed, people=2)
    answer = maximize(case.trees, case.directions, case.region, method="branch")
    for person, direction in np.ndindex(answer.upper.shape):
        truth = largest_by_milp(case.trees, case.region, person, case.directions[person, direction])
        assert abs(answer.upper[person, direction] - truth) <= 1e-5 * (1 + abs(truth))


@pytest.mark.parametrize("seed", range(12))
def test_verdicts_against_a_target(seed):
    """Just above the maximum everything stays below the target, just below it somebody is found above."""
    case = random_case(2000 + seed)
    exact = maximize(case.trees, case.directions, case.region, method="branch", tolerance=1e-9).upper
    for shift in (1e-6, -1e-6):
        target = exact + shift * (1 + np.abs(exact))
        answer = maximize(case.trees, case.directions, case.region, method="branch", target=target, proof=True)
        if shift > 0:
            assert (answer.upper < target).all()
            for person, direction in np.ndindex(exact.shape):
                check_proof(case, answer, person, direction)
        else:
            assert (answer.best > target).all()
            assert case.region.contains(answer.witness).all()


def test_budget_of_one_node_bounds_and_says_so():
    case = random_case(7, people=3)
    one = maximize(case.trees, case.directions, case.region, method="branch", budget=1, proof=True)
    full = maximize(case.trees, case.directions, case.region, method="branch")
    assert (one.upper >= full.upper - 1e-9).all()
    assert (one.nodes <= 1).all()
    for person, direction in np.ndindex(one.upper.shape):
        check_proof(case, one, person, direction)
