"""Flushing of subnormal numbers to zero in the steps of a program: how far it can move the encoded number."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lcifr.data.program import Operation, ProgramStep, StepFormat

LOST = 4.0
"""Smallest normal numbers that a step can lose by underflow and flushing, at most."""
ROUND_UP = 1.0 + 1e-12


def flushing_error(steps: Iterable[ProgramStep]) -> float:
    """How far a machine that flushes numbers below the smallest normal one to 0 can end from these very steps.

    Infinite where it is not known. Rounding may pull two close numbers apart, but two different numbers of a format are
    never close, so whatever differs is tiny; docs/design/arithmetic.md has the recursion and its proof.
    """
    error, held = StepFormat.FLOAT64.smallest, StepFormat.FLOAT64
    for step in steps:
        if held is StepFormat.FLOAT64 and step.format is StepFormat.FLOAT32:  # the operand is cast
            error = 2.0**31 * error + LOST * step.format.smallest
        held = step.format
        error = (_behind(step, error) + LOST * held.smallest) * ROUND_UP
        if error > 1.0:
            return math.inf
    return error


def _behind(step: ProgramStep, error: float) -> float:
    """What the operation and its rounding make of an error."""
    if step.operation in (Operation.ADD, Operation.SUBTRACT):
        return 8.0 * error / step.format.unit
    if step.operation not in (Operation.MULTIPLY, Operation.DIVIDE):
        return error
    constant = abs(step.constants[0])
    if constant < step.format.smallest:  # may be read as 0
        return math.inf
    return 4.0 * (error * constant if step.operation is Operation.MULTIPLY else error / constant)
