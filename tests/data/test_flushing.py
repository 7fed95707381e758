"""Flushing to zero in programs: no machine ends farther from the steps than the bound, which is that of the page."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from lcifr.data.encoding import flushing_error
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.models.arithmetic import Arithmetic
from tests.models.machines import Machine
from tests.models.rational_bound import Overflow, flushing

LINEAR = (Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY, Operation.DIVIDE)


def drawn_steps(rng: np.random.Generator, formats: tuple[StepFormat, ...], size: float) -> list[ProgramStep]:
    """Up to five steps whose constants are near ``size`` or ordinary, so that tiny values meet tiny constants."""
    steps = []
    for _ in range(rng.integers(1, 6)):
        kind = StepFormat(rng.choice(formats))
        operation = Operation(rng.choice([*LINEAR, *LINEAR, Operation.CAST, Operation.CLIP]))
        if operation is Operation.CAST:
            steps.append(ProgramStep(operation, kind))
            continue
        tiny = operation in (Operation.ADD, Operation.SUBTRACT, Operation.CLIP) and rng.random() < 0.8
        scale = size * 2.0 ** rng.integers(-5, 60) if tiny else 2.0 ** rng.integers(-20, 21)
        numbers = [float(np.dtype(kind.value).type(rng.normal() * scale)) for _ in range(2)]
        if operation is Operation.CLIP:
            lower, upper = sorted(numbers)
            steps += [ProgramStep(operation, kind, (lower, upper))] if lower < upper else []
        elif numbers[0] != 0.0 or operation in (Operation.ADD, Operation.SUBTRACT):
            steps.append(ProgramStep(operation, kind, (numbers[0],)))
    return steps


@pytest.mark.parametrize("formats", [(StepFormat.FLOAT64,), (StepFormat.FLOAT32,), tuple(StepFormat)])
def test_no_machine_is_farther_from_the_steps_than_the_bound(formats: tuple[StepFormat, ...]) -> None:
    rng, moved = np.random.default_rng(11), 0
    for _ in range(1500):
        size = float((rng.choice(formats, 1)[0] == "float64" and 2.0**-1022) or 2.0**-126)
        steps = drawn_steps(rng, formats, size)
        value = float(rng.choice([0.0, 1.0, 1.0]) * rng.normal() * size * 2.0 ** rng.integers(-30, 60))
        expected = np.array(value)
        for step in steps:
            expected = step(expected)
        room = flushing_error(steps)
        if not np.isfinite(expected) or room == math.inf:
            continue
        machine = Machine(Arithmetic.FLOAT64, rng, flushing=float(rng.choice([0.3, 1.0])))
        off = abs(machine.encode(value, steps) - Fraction(float(expected)))
        moved += off > 0
        assert off <= Fraction(room), steps
    assert moved > 50


def test_the_bound_is_that_of_the_page() -> None:
    rng, known, refused = np.random.default_rng(12), 0, 0
    for _ in range(500):
        steps = drawn_steps(rng, tuple(StepFormat), float(rng.choice([1.0, 2.0**-130, 2.0**-1030])))
        try:
            page = flushing([step.to_list() for step in steps])
        except Overflow:
            refused += 1
            assert flushing_error(steps) == math.inf
            continue
        known += 1
        assert page <= Fraction(flushing_error(steps)) <= page * Fraction(1001, 1000)
    assert known > 100
    assert refused > 10


def test_rounding_pulls_two_close_numbers_apart() -> None:
    """Flushing moves the first sum by less than 2⁻¹⁰²²; at a tie that becomes 2⁻⁵⁰⁰, not 2⁻⁵²²."""
    numbers = [("add", 2.0**-1001), ("multiply", 2.0**500), ("add", 2.0**-448)]
    steps = [ProgramStep(Operation(name), StepFormat.FLOAT64, (constant,)) for name, constant in numbers]
    value = np.array(2.0**-1023)
    for step in steps:
        value = step(value)
    flushed = Machine(Arithmetic.FLOAT64, np.random.default_rng(0), flushing=1.0).encode(2.0**-1023, steps)
    assert Fraction(float(value)) - flushed == Fraction(2) ** -500
    assert flushing_error(steps) >= 2.0**-500


def test_it_is_far_below_whatever_rounding_does() -> None:
    own = Program.standardising(mean=40.0, sd=10.0)
    assert flushing_error(own) < 1e-270
    steps = [("subtract", 40.0), ("divide", 10.0)]
    narrow = [ProgramStep(Operation(name), StepFormat.FLOAT32, (constant,)) for name, constant in steps]
    assert flushing_error(narrow) < 1e-25
