"""Program: how a library turns one number of the table into one number of a model, step by step in floats.

Every step is monotone in floats as it is in numbers (rounding never reverses an order), so the image of an interval has
the images of its ends as ends, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import LcifrError

Floats = NDArray[np.float64]

EXTREME = 1e150
"""A program that stretches or shrinks by more is refused: its inverse could not be bounded in float64."""


class StepFormat(StrEnum):
    """What a step rounds its result to."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"

    @property
    def unit(self) -> float:
        """The relative error of one rounding."""
        return float(np.finfo(self.value).eps) / 2

    @property
    def smallest(self) -> float:
        """The smallest normal number: more is never lost where a result underflows."""
        return float(np.finfo(self.value).smallest_normal)


class Operation(StrEnum):
    """What a step does to the value; its constant comes second."""

    CAST = "cast"
    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    CLIP = "clip"


_CONSTANTS = {Operation.CAST: 0, Operation.CLIP: 2}
_FLOAT_OPERATIONS: dict[Operation, Callable[..., Any]] = {
    Operation.CAST: np.positive,
    Operation.ADD: np.add,
    Operation.SUBTRACT: np.subtract,
    Operation.MULTIPLY: np.multiply,
    Operation.DIVIDE: np.divide,
    Operation.CLIP: np.clip,
}


@dataclass(frozen=True)
class ProgramStep:
    """One operation on a number: operands are cast to the format, and the result is rounded to it.

    Parameters
    ----------
    constants : none for a cast, lower and upper end for a clip, one number for the rest; each a number of the format.
    """

    operation: Operation
    format: StepFormat
    constants: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        count = _CONSTANTS.get(self.operation, 1)
        kind = np.dtype(self.format.value)
        with np.errstate(over="ignore"):
            good = [np.isfinite(c) and float(np.asarray(c).astype(kind)) == c for c in self.constants]
        if len(good) != count or not all(good):
            raise LcifrError(f"{self.operation} needs {count} finite numbers of {self.format}, found {self.constants}")
        if self.operation in (Operation.MULTIPLY, Operation.DIVIDE) and self.constants[0] == 0:
            raise LcifrError(f"{self.operation} by 0 is no step of a program")
        if self.operation is Operation.CLIP and not self.constants[0] < self.constants[1]:
            raise LcifrError(f"clip needs a lower end below its upper one, found {self.constants}")

    def __call__(self, values: Floats) -> Floats:
        kind = np.dtype(self.format.value)
        with np.errstate(over="ignore", under="ignore"):
            computed = _FLOAT_OPERATIONS[self.operation](
                values.astype(kind, copy=False), *(kind.type(constant) for constant in self.constants)
            )
        return np.asarray(computed, dtype=np.float64)

    def __str__(self) -> str:
        return " ".join([self.operation, *(f"{constant:g}" for constant in self.constants), f"in {self.format}"])

    def to_list(self) -> list[Any]:
        """``[operation, format, constant, …]``, as files hold it."""
        return [self.operation.value, self.format.value, *self.constants]

    @classmethod
    def from_list(cls, values: list[Any]) -> ProgramStep:
        """What :meth:`to_list` wrote, checked."""
        return cls(Operation(values[0]), StepFormat(values[1]), tuple(float(constant) for constant in values[2:]))


@dataclass(frozen=True)
class UnroundedLine:
    """x ↦ slope · x + shift, exactly: what a program would compute without rounding and clips."""

    slope: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)

    def after(self, step: ProgramStep) -> UnroundedLine:
        """This map with one more step behind it."""
        if step.operation in (Operation.CAST, Operation.CLIP):
            return self
        constant = Fraction(step.constants[0])
        if step.operation in (Operation.ADD, Operation.SUBTRACT):
            return UnroundedLine(self.slope, self.shift + (constant if step.operation is Operation.ADD else -constant))
        by = constant if step.operation is Operation.MULTIPLY else 1 / constant
        return UnroundedLine(self.slope * by, self.shift * by)

    def back(self, value: Fraction) -> Fraction:
        """Where ``value`` comes from."""
        return (value - self.shift) / self.slope


@dataclass(frozen=True)
class Program:
    """Steps from the table's float64 to the model's number.

    Examples
    --------
    >>> own = Program.standardising(mean=40.0, sd=10.0)
    >>> float(own(55.0))
    1.5
    """

    steps: tuple[ProgramStep, ...] = ()

    def __post_init__(self) -> None:
        size = abs(self._affine.slope)
        if not 1 / Fraction(EXTREME) <= size <= Fraction(EXTREME) or abs(self._affine.shift / size) > EXTREME:
            raise LcifrError(f"the program stretches numbers by {float(size):.0e}, which float64 cannot take back")
        if self.unclipped[0] >= self.unclipped[1]:
            raise LcifrError("the program clips every number to the same one")

    @classmethod
    def standardising(cls, mean: float, sd: float) -> Program:
        """(value − mean) / sd in float64, as this package's own encoders take their numbers."""
        steps = (Operation.SUBTRACT, float(mean)), (Operation.DIVIDE, float(sd))
        return cls(tuple(ProgramStep(operation, StepFormat.FLOAT64, (constant,)) for operation, constant in steps))

    def then(self, *steps: ProgramStep) -> Program:
        """This program with more steps behind it."""
        return Program((*self.steps, *steps))

    def __call__(self, values: ArrayLike) -> Floats:
        """Values of the table to numbers of the model, every bit as the steps say; any shape."""
        found = np.asarray(values, dtype=np.float64)
        for step in self.steps:
            found = step(found)
        return found

    @cached_property
    def _affine(self) -> UnroundedLine:
        affine = UnroundedLine()
        for step in self.steps:
            affine = affine.after(step)
        return affine

    @property
    def decreasing(self) -> bool:
        """Whether larger values become smaller numbers."""
        return self._affine.slope < 0

    @cached_property
    def factor(self) -> float:
        """With ``origin``: value ≈ factor · number + origin, off by at most :meth:`inverse_error` where none clips."""
        return float(1 / self._affine.slope)

    @cached_property
    def origin(self) -> float:
        """See ``factor``."""
        return float(self._affine.back(Fraction(0)))

    @cached_property
    def unclipped(self) -> tuple[float, float]:
        """The values between which no step clips, rounded inward; infinite where there is no clip."""
        lower, upper, affine = -np.inf, np.inf, UnroundedLine()
        for step in self.steps:
            affine = affine.after(step)
            if step.operation is Operation.CLIP:
                ends = sorted(affine.back(Fraction(constant)) for constant in step.constants)
                lower = max(lower, float(np.nextafter(float(ends[0]), np.inf)))
                upper = min(upper, float(np.nextafter(float(ends[1]), -np.inf)))
        return lower, upper

    def inverse_error(self, size: ArrayLike) -> Floats:
        """How far factor · program(x) + origin can be from an x with |x| ≤ size that nothing clips; any shape.

        Rounding a result v errs by at most u·|v| + the smallest normal number, u the format's unit; what was wrong
        before passes through a step as its exact operation says. With E the sum behind the last step, s the slope and
        t the shift, taking it back through s adds the roundings of factor and origin:
        (1 + u)·E/|s| + u·size + 2u·|t/s|. All of it is inflated for its own rounding.
        """
        size = np.asarray(size, dtype=np.float64)
        reach, error, held = size, np.zeros_like(size), StepFormat.FLOAT64
        for step in self.steps:
            if held is StepFormat.FLOAT64 and step.format is StepFormat.FLOAT32:  # the operand is rounded too
                error = error + step.format.unit * (reach + error) + step.format.smallest
            held = step.format
            constant = abs(step.constants[0]) if _CONSTANTS.get(step.operation, 1) == 1 else 0.0
            if step.operation is Operation.MULTIPLY:
                reach, error = reach * constant, error * constant
            elif step.operation is Operation.DIVIDE:
                reach, error = reach / constant, error / constant
            else:
                reach = reach + constant
            error = error + step.format.unit * (reach + error) + step.format.smallest
        unit = StepFormat.FLOAT64.unit
        taken_back = error * abs(self.factor) + unit * size + 2 * unit * abs(self.origin)
        return np.asarray(taken_back * (1.0 + 1e-9) + StepFormat.FLOAT64.smallest)

    def __iter__(self) -> Iterator[ProgramStep]:
        return iter(self.steps)

    def __str__(self) -> str:
        return ", then ".join(map(str, self.steps)) or "as it is"

    def to_list(self) -> list[list[Any]]:
        """ProgramStep by step, as files hold it."""
        return [step.to_list() for step in self.steps]

    @classmethod
    def from_list(cls, steps: Iterable[list[Any]]) -> Program:
        """What :meth:`to_list` wrote, checked."""
        return cls(tuple(ProgramStep.from_list(values) for values in steps))
