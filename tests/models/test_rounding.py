"""Deployed arithmetic: no machine is farther from exact arithmetic than the bound, which is that of the page."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from lcifr.data.encoding import flushing_error
from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import REFUSED
from lcifr.models.network import DeployedNetworks, Network, Stage
from lcifr.regions.region import Region
from tests.models.cells import CATEGORIES, NUMBERS, groups_of, region
from tests.models.exact import exactly
from tests.models.machines import Machine
from tests.models.rational_bound import Overflow, bound

FLOATS = (Arithmetic.FLOAT64, Arithmetic.FLOAT32)
SCALES = {
    "ordinary": 1.0,
    "small": 1e-30,
    "large": 1e8,
    "denormal in float32": 1e-41,
    "denormal in float64": 1e-310,
    "zero": 0.0,
}


def network(rng: np.random.Generator, sizes: list[int], scale: float) -> Network:
    """Weights of this size, a few of them ordinary all the same, so that sums mix both."""
    layers = []
    for inputs, outputs in pairwise(sizes):
        ordinary = rng.random((outputs, inputs)) < 0.3
        weight = rng.normal(size=(outputs, inputs)) * np.where(ordinary, 1.0, scale)
        layers.append((weight, rng.normal(size=outputs) * rng.choice([1.0, scale, 0.0], outputs)))
    return Network.from_arrays(layers)


@dataclass(frozen=True)
class Case:
    deployment: DeployedNetworks
    region: Region


def case(seed: int, scale: float, first: Arithmetic, second: Arithmetic, people: int = 3) -> Case:
    rng = np.random.default_rng(seed)
    f = network(rng, [NUMBERS + sum(CATEGORIES), 5, 3], scale)
    h = network(rng, [3, 4, 2] if seed % 2 else [3, 2], scale)
    stages = (Stage(f, first), Stage(h, second))
    return Case(DeployedNetworks(stages, NUMBERS + len(CATEGORIES), 1e-30 * scale), region(rng, people))


def computed(found: DeployedNetworks, point: list[float], rng: np.random.Generator) -> list[Fraction]:
    """What some machine makes of a point, stage after stage."""
    values = [Fraction(v) for v in point]
    for stage in found.stages:
        values = Machine.drawn(stage.arithmetic, rng).outputs(stage.network, values)
    return values


def exact_outputs(found: DeployedNetworks, point: list[float]) -> list[Fraction]:
    values = [Fraction(v) for v in point]
    for stage in found.stages:
        values = exactly(stage.network, values)
    return values


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("second", FLOATS)
@pytest.mark.parametrize("first", FLOATS)
def test_no_machine_is_farther_off_than_the_bound(first: Arithmetic, second: Arithmetic, scale: float) -> None:
    rng = np.random.default_rng(5)
    for seed in range(4):
        one = case(seed, scale, first, second)
        everywhere, points = one.deployment.error_over(one.region), one.region.sample(6, seed=seed)
        for person, drawn in enumerate(points):
            here = one.deployment.error_at(drawn)
            for point, own in zip(drawn.tolist(), here, strict=True):
                true, found = exact_outputs(one.deployment, point), computed(one.deployment, point, rng)
                for output, (y, machine) in enumerate(zip(true, found, strict=True)):
                    assert abs(machine - y) <= Fraction(float(own[output]))
                    assert abs(machine - y) <= Fraction(float(everywhere[person, output]))


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("second", FLOATS)
@pytest.mark.parametrize("first", FLOATS)
def test_the_bound_is_that_of_the_page_and_never_below_it(first: Arithmetic, second: Arithmetic, scale: float) -> None:
    for seed in range(6):
        one = case(seed, scale, first, second)
        stages = [(stage.network.rows(), str(stage.arithmetic)) for stage in one.deployment.stages]
        found = one.deployment.error_over(one.region)
        for person in range(one.region.people):
            page = bound(stages, groups_of(one.region, person), Fraction(one.deployment.flushing_error))
            for engine, true in zip(found[person].tolist(), page, strict=True):
                assert true <= Fraction(engine) <= true * Fraction(1001, 1000) + Fraction(10) ** -280


@pytest.mark.parametrize("arithmetic", FLOATS)
def test_possible_overflow_is_refused_wherever_the_page_refuses_it(arithmetic: Arithmetic) -> None:
    refused = 0
    for seed, scale in enumerate(10.0 ** np.linspace(5, 12, 15)):
        one = case(seed, float(scale), arithmetic, Arithmetic.FLOAT32, people=1)
        stages = [(stage.network.rows(), str(stage.arithmetic)) for stage in one.deployment.stages]
        found = one.deployment.error_over(one.region)
        try:
            bound(stages, groups_of(one.region, 0), Fraction(one.deployment.flushing_error))
        except Overflow:
            refused += 1
            assert (found == REFUSED).any()
    assert 0 < refused < 15


def test_a_weight_or_an_input_that_a_cast_makes_infinite_is_refused() -> None:
    """Also where its product is 0: infinity times 0 is no number."""
    big = Network.from_arrays([([[1e39, 1.0]], [0.0])])
    zero = Network.from_arrays([([[0.0, 1.0]], [0.0])])
    for f, points in ((big, [[0.0, 1.0]]), (zero, [[1e39, 1.0]])):
        for arithmetic, refused in ((Arithmetic.FLOAT32, True), (Arithmetic.FLOAT64, False)):
            found = DeployedNetworks.on_latents(Stage(f, arithmetic)).error_at(np.array(points))
            assert (found == REFUSED).all() == refused


@pytest.mark.parametrize("sd", [1.0, 1e-300, 1e-307, 5e-324])
def test_flushing_in_the_encoding_is_covered(sd: float) -> None:
    """Values, means and differences that a machine may read as 0; a sd that may be read as 0 is refused."""
    rng, unit = np.random.default_rng(8), 2.0**-1022
    identity = Network.from_arrays([([[1.0]], [0.0])])
    stages = (Stage(identity, Arithmetic.FLOAT64),)
    for _ in range(300):
        value, mean = (float(rng.choice([0.0, 1.0]) * rng.normal() * unit * 2.0 ** rng.integers(-30, 60)) for _ in "vm")
        steps = ("subtract", mean), ("divide", sd)
        program = [ProgramStep(Operation(name), StepFormat.FLOAT64, (constant,)) for name, constant in steps]
        deployment = DeployedNetworks(stages, 1, flushing_error(program))
        point = (value - mean) / sd
        if not np.isfinite(point):
            continue
        room = deployment.error_at(np.array([[point]]))[0, 0]
        if sd < unit:
            assert room == REFUSED
            continue
        machine = Machine(Arithmetic.FLOAT64, rng, flushing=float(rng.choice([0.3, 1.0])))
        (found,) = machine.outputs(identity, [machine.encode(value, program)])
        assert abs(found - Fraction(point)) <= Fraction(float(room))


def test_exact_arithmetic_has_no_error() -> None:
    one = case(1, 1.0, Arithmetic.EXACT, Arithmetic.EXACT)
    assert one.deployment.error_over(one.region).tolist() == [[0.0, 0.0]] * 3
    assert (one.deployment.error_at(one.region.sample(1)[:, 0]) == 0).all()


def test_a_region_without_anybody_has_no_error_and_a_larger_one_no_smaller() -> None:
    rng = np.random.default_rng(3)
    f = network(rng, [NUMBERS + sum(CATEGORIES), 5, 3], 1.0)
    deployment = DeployedNetworks((Stage(f, Arithmetic.FLOAT32),), NUMBERS + len(CATEGORIES))
    narrow, wide = (region(np.random.default_rng(4), 5, width=width) for width in (0.1, 0.5))
    assert (deployment.error_over(narrow) <= deployment.error_over(wide)).all()
    two = Region.union([narrow, wide])
    assert (deployment.error_over(two) == deployment.error_over(wide)).all()
    (cell,) = wide.cells
    nobody = cell.between(cell.upper, cell.lower - 1.0)
    assert (deployment.error_over(Region(5, wide.features, (nobody,))) == 0).all()


@pytest.mark.parametrize("arithmetic", FLOATS)
def test_numpy_and_torch_keep_the_bound(arithmetic: Arithmetic) -> None:
    import torch

    rng = np.random.default_rng(6)
    f, h = _usual(rng, [60, 20, 20]), _usual(rng, [20, 10, 1])
    points = rng.normal(size=(100, 60))
    deployment = DeployedNetworks.on_latents(Stage(f, arithmetic), Stage(h, arithmetic))
    dtype = getattr(torch, str(arithmetic))
    module = torch.nn.Sequential(*_modules(f), *_modules(h)).to(dtype)
    with torch.no_grad():
        by_torch = module(torch.as_tensor(points).to(dtype)).double().numpy()
    by_numpy = _by_numpy(h, _by_numpy(f, points, str(arithmetic)), str(arithmetic)).astype(np.float64)
    for row, (point, room) in enumerate(zip(points.tolist(), deployment.error_at(points), strict=True)):
        (true,) = exact_outputs(deployment, point)
        for found in (by_torch, by_numpy):
            assert abs(Fraction(float(found[row, 0])) - true) <= Fraction(float(room[0]))


@pytest.mark.parametrize("sizes", [[60, 1], [14, 20, 1]])
def test_the_bound_is_not_absurdly_loose(sizes: list[int]) -> None:
    """Within a factor of 100 of what a float32 machine that adds one product after the other loses at most."""
    rng = np.random.default_rng(6)
    f, points = _usual(rng, sizes), rng.normal(size=(3000, sizes[0]))
    room = DeployedNetworks.on_latents(Stage(f, Arithmetic.FLOAT32)).error_at(points)
    value = points.astype(np.float32)
    for index, layer in enumerate(f.layers):
        total = np.tile(layer.bias.astype(np.float32), (len(value), 1))
        for column, weight in enumerate(layer.weight.T.astype(np.float32)):
            total = total + value[:, column : column + 1] * weight
        value = np.maximum(total, 0) if index < f.depth else total
    assert np.median(room) < 100 * np.abs(value - f(points)).max()


def _by_numpy(network: Network, points: Any, dtype: str) -> Any:
    value = points.astype(dtype)
    for index, layer in enumerate(network.layers):
        value = value @ layer.weight.T.astype(dtype) + layer.bias.astype(dtype)
        value = np.maximum(value, 0) if index < network.depth else value
    return value


def _usual(rng: np.random.Generator, sizes: list[int]) -> Network:
    """As layers are initialised."""
    return Network.from_arrays(
        [(rng.uniform(-1, 1, (b, a)) / np.sqrt(a), rng.uniform(-1, 1, b) / np.sqrt(a)) for a, b in pairwise(sizes)]
    )


def _modules(found: Network) -> list[Any]:
    """A torch module of these weights."""
    import torch

    modules: list[Any] = []
    for index, layer in enumerate(found.layers):
        linear = torch.nn.Linear(layer.weight.shape[1], layer.weight.shape[0], dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(torch.tensor(layer.weight))
            linear.bias.copy_(torch.tensor(layer.bias))
        modules += [linear, torch.nn.ReLU()] if index < found.depth else [linear]
    return modules
