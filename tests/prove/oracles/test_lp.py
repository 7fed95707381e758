"""The relaxed linear program: its proofs are as tight as the solver's own optimum, its gaps where theory says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcifr.check.functions import read_network
from lcifr.models.network import Network
from lcifr.prove.gate import ask, build_question
from lcifr.prove.oracles.enumerate import Enumerate
from lcifr.prove.oracles.lp import Lp, RelaxedCell
from lcifr.prove.oracles.solvers import SolverStatus, find_solver
from lcifr.regions.region import Region
from tests.prove.confirming import refusals
from tests.prove.instances import random_instance, wild


@pytest.mark.parametrize("seed", range(40))
def test_multipliers_prove_what_the_solver_found(seed: int) -> None:
    """The exact value of the pass is the optimum of the program: nothing is lost from duals to multipliers."""
    one = random_instance(seed)
    asked = build_question(one.network, one.directions, one.region)
    layers = read_network(one.network.rows())
    for cell in one.region.cells:
        relaxed = RelaxedCell(asked, layers, cell, 0, find_solver())
        if relaxed.empty:
            continue
        model, session = relaxed.session(one.network.depth)
        for direction in one.directions:
            weights = direction @ one.network.layers[-1].weight
            outcome = session.maximize(model.cost(one.network.depth, weights))
            by = relaxed.multipliers(model, outcome, one.network.depth, weights)
            if outcome.status is SolverStatus.OPTIMAL:
                assert by is not None
                proved = relaxed.exact.bound(one.network.depth, direction, by)
                optimum = outcome.bound + direction @ one.network.layers[-1].bias
                assert proved == pytest.approx(optimum, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_wild_numbers_never_give_a_false_bound_and_every_proof_is_confirmed(seed: int) -> None:
    one = random_instance(seed, people=1)
    network = wild(np.random.default_rng(seed), one.network)
    asked = build_question(network, one.directions, one.region, proof=True)
    answer = ask(Lp(), asked)
    assert (answer.upper >= ask(Enumerate(), replace(asked, proof=False)).upper).all()
    assert not refusals(network, asked.directions, one.region, answer)


def test_the_gap_of_the_triangle() -> None:
    """On [−1, 1] the triangle lets relu(x) rise to ½(x + 1): with a cost of c·x beside it, max over x of that."""
    region = Region.from_arrays([[-1.0]], [[1.0]])
    for tilt, truth, relaxed in ((0.0, 1.0, 1.0), (-0.25, 0.75, 0.75), (-0.75, 0.75, 0.75), (-1.0, 1.0, 1.0)):
        # relu(x) + tilt·x, the second through a neuron that is always on: x + 5
        network = Network.from_arrays([([[1.0], [1.0]], [0.0, 5.0]), ([[1.0, tilt]], [-5.0 * tilt])])
        asked = build_question(network, [[1.0]], region)
        assert ask(Enumerate(), asked).upper[0, 0] == pytest.approx(truth)
        assert ask(Lp(), asked).upper[0, 0] == pytest.approx(relaxed)
    # relu(x) − relu(x − ½) never exceeds ½; the triangle of the first alone gives ½(x + 1) − max(0, x − ½) ≤ ¾
    step = Network.from_arrays([([[1.0], [1.0]], [0.0, -0.5]), ([[1.0, -1.0]], [0.0])])
    asked = build_question(step, [[1.0]], region)
    assert ask(Enumerate(), asked).upper[0, 0] == 0.5
    assert ask(Lp(), asked).upper[0, 0] == pytest.approx(0.75)


def test_a_missing_or_foreign_proof_is_named() -> None:
    """Two people, two cells: without its proof a cell is refused, and so is a proof of somebody else's cell."""
    first = Region.from_arrays([[-1.0], [3.0]], [[2.0], [4.0]])
    region = Region.union([first, Region.from_arrays([[5.0], [5.0]], [[6.0], [6.0]])])
    network = Network.from_arrays([([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0]], [0.0])])
    asked = build_question(network, [[1.0]], region, proof=True)
    answer = ask(Lp(), asked)
    assert answer.proof is not None
    mine, other = answer.proof[0][0], answer.proof[1][0]
    assert not refusals(network, asked.directions, region, answer)
    lacking = replace(answer, proof=[[mine[:1]], [other]])
    [refusal] = refusals(network, asked.directions, region, lacking)
    assert (refusal.person, refusal.cell, refusal.reason) == (0, 1, "there is no proof about this cell")
    swapped = replace(answer, proof=[[other], [mine]])
    assert {refusal.person for refusal in refusals(network, asked.directions, region, swapped)} >= {0}
    too_small = replace(answer, upper=answer.upper - 1e-9)
    assert refusals(network, asked.directions, region, too_small)
