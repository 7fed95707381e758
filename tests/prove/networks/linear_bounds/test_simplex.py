"""Few programs by a simplex method, many by an interior point: the same bounds, and equations without any inside."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lcifr.prove import radius
from lcifr.prove.networks import kernel as compiled
from lcifr.prove.networks.linear_bounds import interior
from lcifr.prove.networks.linear_bounds.cell_batch import CellBatch, tensors, view_cell
from lcifr.prove.networks.linear_bounds.interior import NodeProgram, solve
from lcifr.prove.networks.linear_bounds.linear import hidden_lines
from lcifr.prove.networks.linear_bounds.multipliers import emptiness, tighten
from lcifr.prove.networks.linear_bounds.search import CellPoints, repair, satisfies_rows
from lcifr.prove.networks.linear_bounds.simplex import solve_each
from lcifr.regions.region import Region
from tests.prove.instances import random_instance, random_network


def batches(seed: int) -> list[tuple[CellBatch, torch.Tensor]]:
    """Cells with rows under one hidden layer, some of them empty, and a direction for each person."""
    found = []
    for number in range(12 * seed, 12 * seed + 12):
        one = random_instance(number, people=4, hidden=[5])
        for cell in one.region.cells:
            if cell.rows is not None:
                direction = torch.as_tensor(np.resize(one.directions, (4, one.network.outputs)).copy())
                found.append((view_cell(tensors(one.network), cell).batch, direction))
    return found


def bounds(batch: CellBatch, direction: torch.Tensor) -> torch.Tensor:
    lines, phases = hidden_lines(batch), [torch.zeros((len(batch), 5), dtype=torch.int8)]
    return tighten(batch, direction, lines, phases, torch.full_like(batch.largest, -torch.inf)).reach.upper[:, 0]


@pytest.mark.parametrize("seed", range(5))
def test_the_same_bounds_as_the_interior_point(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for batch, direction in batches(seed):
        empty, by_simplex = emptiness(batch)[0], bounds(batch, direction)
        with monkeypatch.context() as many:
            many.setattr(interior, "MOST", 0)
            same, by_newton = emptiness(batch)[0], bounds(batch, direction)
        assert bool((empty == same).all())
        apart = (by_simplex - by_newton)[~empty].abs()
        assert bool((apart <= 1e-6 * (1 + by_newton[~empty].abs())).all())


def test_a_solver_that_fails_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    for batch, direction in batches(0):
        some, before = ~emptiness(batch)[0], bounds(batch, direction)
        with monkeypatch.context() as broken:
            broken.setattr(interior, "solve_each", lambda _: None)
            after = bounds(batch, direction)
        assert bool(torch.allclose(after[some], before[some], rtol=1e-6, atol=1e-6))


@pytest.mark.parametrize("lie", [0.0, 1e3, -1e3, 1e300, np.nan])
def test_a_solver_that_lies_proves_nothing_false(lie: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the multipliers, what they prove is not below what is reached."""

    def liar(scaled: interior.Scaled) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None:
        true = solve_each(scaled)
        return None if true is None else (true[0] + lie, true[1] + lie, true[2])

    for batch, direction in batches(1):
        truth = bounds(batch, direction)
        with monkeypatch.context() as lying:
            lying.setattr(interior, "solve_each", liar)
            told, empty = bounds(batch, direction), emptiness(batch)[0]
        some = ~emptiness(batch)[0]
        assert bool((torch.isnan(told) | (told >= truth - 1e-6 * (1 + truth.abs())))[some].all())
        assert not bool((empty & some).any())


def equation(people: int) -> Region:
    """x + y/3 = 0.1 in a box, as two rows with hardly any room between them."""
    G = np.array([[1.0, 1 / 3], [-1.0, -1 / 3]])
    g = np.tile([0.1 + 1e-15, -0.1 + 1e-15], (people, 1))
    return Region.from_arrays(np.full((people, 2), -1.0), np.full((people, 2), 1.0), rows=(G, g))


def test_points_between_the_two_rows_of_an_equation_are_found() -> None:
    batch = view_cell(tensors(random_network(np.random.default_rng(0), [2, 3, 1])), equation(50).cells[0]).batch
    anywhere = CellPoints(torch.as_tensor(np.random.default_rng(1).uniform(-1, 1, (50, 2))), ())
    assert not bool(satisfies_rows(batch, anywhere).any())
    assert bool(satisfies_rows(batch, repair(batch, anywhere)).all())


@pytest.mark.parametrize("hidden", [[6], [4, 4]])
def test_equations_take_few_nodes(hidden: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "covers", lambda *_: False)
    network = random_network(np.random.default_rng(2), [2, *hidden, 2])
    found = radius(network, np.zeros((3, 2)), equation(3))
    assert found.exact.all()
    assert (found.nodes <= 200).all()


def test_an_objective_without_any_gain_still_shows_an_empty_program() -> None:
    """z + Uξ ≥ 0 twice, with a contradiction: the multipliers prove a value below 0."""
    one = torch.ones((1, 1), dtype=torch.float64)
    program = NodeProgram(
        gain=0 * one,
        offset=torch.tensor([[-0.5, -0.25]], dtype=torch.float64),
        slope=torch.tensor([[[1.0], [-1.0]]], dtype=torch.float64),
        weight=torch.zeros((1, 2), dtype=torch.float64),
        constraint=torch.ones((1, 2), dtype=torch.bool),
        numeric=1,
        allowed=torch.zeros((1, 0), dtype=torch.bool),
        member=torch.zeros((0, 1), dtype=torch.float64),
    )
    assert float(solve(program).value[0]) < 0
