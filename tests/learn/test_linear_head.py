"""Linear heads: the optimum of the problem that is stated, on many generated hand-overs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from lcifr.estimators import RobustClassifier
from lcifr.learn import heads
from lcifr.learn.heads import LatentPeople, LinearProblem, solve_linear_head
from lcifr.learn.target import Target
from tests.effort import sampled

FloatArray = NDArray[np.float64]
KINDS = ("binary", "classes", "number")


def hand_over(
    seed: int,
    kind: str,
    *,
    people: int = 150,
    width: int = 5,
    reach: float = 0.3,
    gamma: float = 1.0,
    boxes: bool = False,
) -> LinearProblem:
    """A made-up hand-over: some latent numbers tell something, some nothing, two are nearly the same."""
    draw = np.random.default_rng(seed)
    z = draw.normal(size=(people, width)) @ np.diag(draw.uniform(0.3, 2.0, width))
    z[:, -1] = z[:, 0] + 0.05 * draw.normal(size=people)
    drive = z @ draw.normal(size=width) * (draw.uniform(size=width) < 0.6).any() + draw.normal(size=people)
    y = {
        "binary": (drive > np.quantile(drive, 0.7)).astype(int),
        "classes": np.digitize(drive, np.quantile(drive, [0.3, 0.7])),
        "number": 50 + 7 * drive,
    }[kind]
    target = Target.of(y, "regression" if kind == "number" else "classification")
    around = reach * draw.lognormal(sigma=0.7, size=(people, width if boxes else 1))
    middle = z + around * draw.uniform(-1, 1, size=z.shape) if boxes else z
    latent = LatentPeople(z, middle, around, target.encode(y), np.ones(people))
    return LinearProblem(latent.tensors, target, gamma, 1e-4)


def steepest_descent_left(problem: LinearProblem, matrix: torch.Tensor, shift: torch.Tensor, seed: int) -> float:
    """How much the convex objective still falls along many lines through the point: nothing at an optimum."""
    draw = torch.Generator().manual_seed(seed)
    here, best = problem.exact_objective(matrix, shift), 0.0
    moves = [(-matrix, torch.zeros_like(shift)), (matrix, torch.zeros_like(shift))]
    for place in range(matrix.numel()):
        one = torch.zeros(matrix.numel(), dtype=torch.float64)
        one[place] = 1.0
        moves += [(one.view_as(matrix), torch.zeros_like(shift)), (-one.view_as(matrix), torch.zeros_like(shift))]
    for _ in range(60):
        moves.append(tuple(torch.randn(part.shape, generator=draw, dtype=torch.float64) for part in (matrix, shift)))
    for by, along in moves:
        for step in (1.0, 0.1, 0.01, 1e-3):
            best = max(best, here - problem.exact_objective(matrix + step * by, shift + step * along))
    return best


@given(
    st.integers(0, 10**6),
    st.sampled_from(KINDS),
    st.sampled_from([0.0, 0.02, 0.3, 3.0]),
    st.sampled_from([0.3, 1, 30]),
    st.booleans(),
)
@sampled(40)
def test_no_line_leads_further_down(seed: int, kind: str, reach: float, gamma: float, boxes: bool) -> None:
    problem = hand_over(seed, kind, reach=reach, gamma=gamma, boxes=boxes)
    matrix, shift = solve_linear_head(problem)
    assert steepest_descent_left(problem, matrix, shift, seed) <= 2e-5


@pytest.mark.parametrize("seed", range(12))
def test_two_classes_reach_the_optimum_of_an_independent_solver(seed: int) -> None:
    """Written in numpy with its own gradient, and solved by a method of another family from another start."""
    problem = hand_over(seed, "binary", people=120, width=4, reach=0.2 + 0.1 * (seed % 4), gamma=1 + seed % 3)
    z, radius, label = problem.people.z.numpy(), problem.people.reach[:, 0].numpy(), problem.people.label.numpy()
    sign = 1 - 2 * label

    def objective(v: FloatArray) -> tuple[float, FloatArray]:
        plus, minus, shift = v[:4], v[4:8], v[8]
        weight = plus - minus
        plain = sign * (z @ weight + shift)
        worst = plain + radius * (plus + minus).sum()
        value = (np.logaddexp(0, plain).mean() + problem.gamma * np.logaddexp(0, worst).mean()) / (1 + problem.gamma)
        first, second = expit(plain) / len(z), problem.gamma * expit(worst) / len(z)
        pull = ((first + second) * sign) @ np.column_stack([z, np.ones(len(z))]) / (1 + problem.gamma)
        size = second @ radius / (1 + problem.gamma)
        decay = 2e-4 * weight
        return value + 1e-4 * weight @ weight, np.concatenate(
            [pull[:4] + size + decay, -pull[:4] + size - decay, pull[4:]]
        )

    other = minimize(
        objective,
        np.full(9, 0.5),
        jac=True,
        method="trust-constr",
        bounds=[(0, None)] * 8 + [(None, None)],
        options={"maxiter": 2000, "gtol": 1e-9},
    )
    assert problem.exact_objective(*solve_linear_head(problem)) <= other.fun + 1e-6


@pytest.mark.parametrize("seeds", [range(5), pytest.param(range(5, 20), marks=pytest.mark.long)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_kink_at_zero_is_left_where_that_pays(kind: str, seeds: range) -> None:
    """Where ε‖w‖₁ pulls to zero, and the data pulls harder, the head is not zero."""
    stuck = []
    for seed in seeds:
        problem = hand_over(seed, kind, people=300, reach=0.1)
        matrix, shift = solve_linear_head(problem)
        nothing = torch.zeros_like(matrix)
        slope = problem.exact_objective(nothing, shift) - problem.exact_objective(matrix, shift)
        stuck.append(slope > 1e-6 and not matrix.abs().max() > 1e-3)
        assert slope >= -1e-9
    assert not any(stuck)


def test_a_head_that_can_only_lose_is_zero() -> None:
    """Radii so large that every weight costs more than it brings: the optimum is the constant head."""
    problem = hand_over(1, "binary", reach=1e3, gamma=1e9)
    matrix, shift = solve_linear_head(problem)
    assert matrix.abs().max() < 1e-6
    share = float(problem.people.label.mean())
    assert shift.item() == pytest.approx(np.log(share / (1 - share)), abs=1e-3)


def test_the_scale_and_place_of_z_do_not_matter() -> None:
    problem = hand_over(3, "binary")
    people = problem.people
    z, radius, y = people.z.numpy(), people.reach[:, 0].numpy(), people.label.numpy().astype(int)
    near = RobustClassifier().fit(z, y, radius=radius).decision_function(z)
    far = RobustClassifier().fit(1e4 * z + 1e6, y, radius=1e4 * radius).decision_function(1e4 * z + 1e6)
    np.testing.assert_allclose(near, far, atol=1e-4)


def test_a_solver_that_stops_early_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads, "ITERATIONS", 1)
    with pytest.warns(ConvergenceWarning, match="before its optimum"):
        solve_linear_head(hand_over(0, "binary", reach=0.1))


def test_an_ordinary_fit_does_not_warn() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        for kind in KINDS:
            solve_linear_head(hand_over(5, kind, people=2000, width=20))
    assert not caught
