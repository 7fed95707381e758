"""Columns of the encoded matrix: whose they are, and the programs that make them of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.data.schema import Categorical, Schema
from lcifr.errors import LcifrError


@dataclass(frozen=True)
class Feature:
    """One column of the matrix: a whole numeric attribute, or one value of a categorical one."""

    attribute: str
    value: str | None = None

    def __str__(self) -> str:
        return self.attribute if self.value is None else f"{self.attribute}={self.value}"


@dataclass(frozen=True)
class FeatureColumns:
    """One column for a number, one for each value of a category, in the order of the schema."""

    schema: Schema

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """What each column of the matrix is."""
        return tuple(
            Feature(attribute.name, value)
            for attribute in self.schema
            for value in (attribute.values if isinstance(attribute, Categorical) else (None,))
        )

    @cached_property
    def _slices(self) -> dict[str, slice]:
        slices, start = {}, 0
        for attribute in self.schema:
            width = len(attribute.values) if isinstance(attribute, Categorical) else 1
            slices[attribute.name] = slice(start, start + width)
            start += width
        return slices

    def columns(self, attribute: str) -> slice:
        """The feature columns of one attribute."""
        return self._slices[self.schema[attribute].name]

    @cached_property
    def numeric_columns(self) -> NDArray[np.intp]:
        """(numeric attributes,) the feature column of each, in the order of ``schema.numeric``."""
        return np.array([self.columns(attribute.name).start for attribute in self.schema.numeric], dtype=np.intp)

    @cached_property
    def category_starts(self) -> NDArray[np.intp]:
        """(categorical attributes,) the first feature column of each, in the order of ``schema.categorical``."""
        return np.array([self.columns(attribute.name).start for attribute in self.schema.categorical], dtype=np.intp)


Floats = NDArray[np.float64]
UNIT_ROUNDOFF = 2.0**-53


class BoundPair(NamedTuple):
    """lower, upper : the same shape, one interval each."""

    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class ColumnPrograms:
    """One program for each numeric attribute; values are (…, numeric attributes) throughout."""

    programs: tuple[Program, ...]

    @classmethod
    def standardising(cls, means: Sequence[float] | Floats, sds: Sequence[float] | Floats) -> ColumnPrograms:
        """(value − mean) / sd in float64, attribute by attribute."""
        return cls(tuple(Program.standardising(mean, sd) for mean, sd in zip(means, sds, strict=True)))

    def encode(self, values: Floats) -> Floats:
        """Values of the table to encoded ones; monotone in every value."""
        if not self.programs:
            return values
        return np.stack([program(values[..., j]) for j, program in enumerate(self.programs)], axis=-1)

    def decode(self, encoded: Floats) -> Floats:
        """Encoded values to those of the table, within :meth:`inverse_error` where no program clips."""
        return np.asarray(encoded * self.factors + self.origins)

    @cached_property
    def factors(self) -> Floats:
        """(numeric attributes,) with ``origins``: value ≈ factor · encoded + origin."""
        return np.array([program.factor for program in self.programs])

    @cached_property
    def origins(self) -> Floats:
        """(numeric attributes,) see ``factors``."""
        return np.array([program.origin for program in self.programs])

    @cached_property
    def falling(self) -> NDArray[np.bool_]:
        """(numeric attributes,) whether larger values are encoded as smaller ones."""
        return np.array([program.decreasing for program in self.programs], dtype=np.bool_)

    def ordered(self, first: Floats, second: Floats) -> BoundPair:
        """The images of lower and upper ends as lower and upper ends: those of falling programs change places."""
        if not self.falling.any():
            return BoundPair(first, second)
        return BoundPair(np.where(self.falling, second, first), np.where(self.falling, first, second))

    def inverse_error(self, values: ArrayLike) -> Floats:
        """How far the decoded can be from ``values`` where no program clips."""
        sizes = np.abs(np.asarray(values, dtype=np.float64))
        if not self.programs:
            return sizes
        return np.stack([program.inverse_error(sizes[..., j]) for j, program in enumerate(self.programs)], axis=-1)

    @cached_property
    def flushing_error(self) -> float:
        """The largest of the programs' own (:func:`flushing_error`); 0 where there are none."""
        return max((flushing_error(program) for program in self.programs), default=0.0)

    def beyond(self, j: int, lower: Floats, upper: Floats) -> BoundPair:
        """How far decoded numbers can be from values in [lower, upper] of attribute ``j``, both ways, clips included.

        Where a program clips, everybody beyond is encoded as the last value that it does not clip: decoded they are
        there, short of their own value by the distance.
        """
        program = self.programs[j]
        first, last = program.unclipped
        size = np.maximum(np.abs(lower), np.abs(upper))
        for end in program.unclipped:
            if np.isfinite(end):
                size = np.maximum(size, abs(end))
        error = program.inverse_error(size)
        room = 4 * UNIT_ROUNDOFF * size  # of the differences below
        short = np.maximum(first - lower, 0.0) if np.isfinite(first) else np.zeros_like(size)
        over = np.maximum(upper - last, 0.0) if np.isfinite(last) else np.zeros_like(size)
        return BoundPair(-(short + error + room), over + error + room)

    def check_fits(self, attributes: int) -> None:
        """Refuse another number of programs than of attributes."""
        if len(self.programs) != attributes:
            raise LcifrError(f"{len(self.programs)} programs for {attributes} numeric attributes")


def standardising_error(values: Floats, means: Floats, sds: Floats) -> Floats:
    """How far sd · ((x − mean) / sd) + mean in float64 may be from x, attribute by attribute.

    Each of −, /, ·, + rounds by a factor within 1 ± u, u = 2⁻⁵³, so the result is off by at most
    3u(1+u)³·|x − m| + u·|x| ≤ 5u·(|x| + |m|), plus one underflow of the quotient (2⁻¹⁰⁷⁴) scaled back by the sd.
    """
    return np.asarray(5 * UNIT_ROUNDOFF * (np.abs(values) + np.abs(means)) + sds * 2.0**-1074)


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
