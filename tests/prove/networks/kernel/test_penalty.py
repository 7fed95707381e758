"""Linear rows as penalties: no strength proves too much, enough of it is exact, and what it leaves open is answered."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from lcifr.prove import Radius, Status, maximize, radius
from lcifr.prove.networks.kernel.call import covers
from lcifr.prove.question import Answer
from lcifr.regions.region import Region
from tests.certification.scenes import people as somebody
from tests.certification.scenes import similarity
from tests.effort import spread
from tests.prove.instances import Instance, largest_sampled, random_instance, random_network

TOLERANCE = 1e-6
SEEDS = spread(range(30), quick=3, long=15)


@cache
def instances(block: int) -> tuple[Instance, ...]:
    """Ten questions about one hidden layer whose regions have rows; some regions and some cells are empty."""
    found, seed = [], 1000 * block
    while len(found) < 10:
        one = random_instance(seed, people=2, hidden=[3 + seed % 4])
        if any(cell.rows is not None for cell in one.region.cells):
            found.append(one)
        seed += 1
    return tuple(found)


@cache
def truths(block: int) -> tuple[np.ndarray, ...]:
    return tuple(ask(one, "enumerate").upper for one in instances(block))


def ask(one: Instance, method: str, **options: object) -> Answer:
    return maximize(one.network, one.directions, one.region, method=method, tolerance=TOLERANCE, **options)  # type: ignore[arg-type]


def close(a: np.ndarray, b: np.ndarray) -> bool:
    there = np.isfinite(b)
    return bool((there == np.isfinite(a)).all() and (abs(a[there] - b[there]) <= TOLERANCE * (1 + abs(b[there]))).all())


@pytest.mark.parametrize("block", SEEDS)
def test_exact_like_enumeration(block: int) -> None:
    for one, truth in zip(instances(block), truths(block), strict=True):
        assert covers(one.network, one.region)
        found = ask(one, "branch")
        assert (found.upper >= truth).all()
        assert close(found.upper, truth)
        there = np.isfinite(truth)
        assert (found.best[there] <= truth[there] + 1e-8 * (1 + np.abs(truth[there]))).all()
        assert (found.status == np.where(np.isneginf(truth), Status.EMPTY, Status.EXACT)).all()
        assert (found.upper >= largest_sampled(one, block, 100) - 1e-12).all()
        bounds = ask(one, "bounds").upper
        assert (bounds >= truth).all()


@pytest.mark.parametrize("start", [0.0, 1e-9, 0.1, 1e4])
def test_no_strength_proves_too_much_and_what_is_too_weak_is_asked_of_the_engine(
    start: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lcifr.prove.networks.kernel.call.START", start)
    monkeypatch.setattr("lcifr.prove.networks.kernel.call.ROUNDS", 1)
    for one, truth in zip(instances(0), truths(0), strict=True):
        found = ask(one, "branch")
        assert (found.upper >= truth).all()
        assert close(found.upper, truth)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-6, 1e6, 1e90, 1e200])
def test_rows_of_any_size_mean_the_same(size: float) -> None:
    """Denormals and giants are not scaled, or not asked of the kernel at all; the answer stays."""
    network = random_network(np.random.default_rng(3), [2, 5, 1])
    lower, upper, row = [[-1.0, -1.0]], [[1.0, 1.0]], np.array([[1.0, 0.5]])
    plain = Region.from_arrays(lower, upper, rows=(row, [[0.25]]))
    scaled = Region.from_arrays(lower, upper, rows=(row * size, [[0.25 * size]]))
    directions = np.array([[1.0], [-1.0]])
    exact = maximize(network, directions, plain, method="enumerate").upper
    found = maximize(network, directions, scaled, method="branch").upper
    assert (found >= exact - 1e-9).all()  # denormal rows are themselves rounded
    if 1e-300 < size < 1e100:
        assert close(found, exact)


@pytest.mark.parametrize("level", [-1e30, -5.0, 5.0, 1e30])
def test_rows_out_of_reach(level: float) -> None:
    """A row that never binds costs nothing, whatever it says; one that nobody keeps to leaves nobody."""
    network = random_network(np.random.default_rng(4), [2, 5, 1])
    region = Region.from_arrays([[-1.0, -1.0]], [[1.0, 1.0]], rows=([[1.0, 0.5]], [[level]]))
    free = maximize(network, np.array([[1.0]]), Region.from_arrays([[-1.0, -1.0]], [[1.0, 1.0]]), method="branch")
    found = maximize(network, np.array([[1.0]]), region, method="branch")
    assert found.status[0, 0] == (Status.EXACT if level > 0 else Status.EMPTY)
    if level > 0:
        assert close(found.upper, free.upper)


FORMULAS = (
    "same(job) and |age - age'| + 2*|income - income'| <= 3",
    "0.5*age' + income' <= 3 + 0.5*age + income and age within 4 and income within 4",
    "0.1*age' + |income' - income| = 0.1*age + 2",  # equations: cells without any inside
    "same(sex) and 2*age' - income' = 2*age - income and age within 10 or income' + age' = 60 and same(job)",
)


@cache
def radii(formula: str) -> tuple[Radius, Radius]:
    """Six people, by the kernel and by a solver."""
    similar, frame = similarity(formula), somebody(6, 11)
    network = random_network(np.random.default_rng(8), [len(similar.encoding.features), 6, 2])
    x, region = similar.encoding.encode(frame), similar.region(frame)
    assert {cell.rows is not None for cell in region.cells} == {True}
    return radius(network, x, region), radius(network, x, region, method="milp")


@pytest.mark.parametrize("formula", FORMULAS)
def test_radii_of_formulas_with_sums(formula: str) -> None:
    found, by_solver = radii(formula)
    assert found.exact.all()
    assert np.allclose(found.radius, by_solver.radius, atol=5e-6)
    assert (found.nodes <= 500).all()  # thousands where the points of an equation were not found


def steep(seed: int) -> Instance:
    """Two rows that are nearly parallel or nearly an equation, of very different sizes, over numbers and a choice."""
    rng = np.random.default_rng(seed)
    columns = 2 + 3
    row = rng.normal(size=columns) * np.where(np.arange(columns) < 2, 1.0, rng.random() < 0.5)
    other = row * rng.choice([1, -1]) + rng.normal(size=columns) * 10.0 ** -rng.integers(0, 9)
    G = np.stack([row, other]) * 10.0 ** rng.integers(-4, 4, size=(2, 1))
    middle = np.zeros((1, columns))
    middle[0, :2], middle[0, 2 + rng.integers(3)] = rng.normal(size=2), 1.0
    room = 10.0 ** -rng.integers(0, 15, size=(1, 2)) * rng.choice([1, 1, 1, -1], size=(1, 2))
    g = middle @ G.T + np.abs(middle) @ np.abs(G).T * room
    lower, upper = middle - 1.0, middle + 1.0
    lower[:, 2:], upper[:, 2:] = 0.0, 1.0
    region = Region.from_arrays(lower, upper, [(range(2, columns), np.ones((1, 3), bool))], (G, g))
    return Instance(random_network(rng, [columns, 4, 1], bool(seed % 2)), region, np.array([[1.0], [-1.0]]))


@pytest.mark.parametrize("proof", [False, True])
def test_nearly_parallel_rows(proof: bool) -> None:
    """Never below the exact maximum; and nearly always at it, within a few nodes."""
    exact = []
    for seed in range(20):
        one = steep(seed)
        found, truth = ask(one, "branch", proof=proof, budget=300), ask(one, "enumerate").upper
        assert (found.upper >= truth).all(), seed
        exact.append(close(found.upper, truth))
    assert np.mean(exact) >= 0.9
