"""Deployed: how far a model that is computed in floating point can be from exact arithmetic, over whole regions.

The recursion of docs/design/arithmetic.md, in float64 with every rounding error on the safe side: what is returned is
never below the bound that the checker computes in rational numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.data.encoding import FeatureColumns
from lcifr.models.arithmetic import FORMATS, Arithmetic, FloatFormat
from lcifr.models.chain import Evaluation, evaluate, is_affine, largest_sizes, merge, merging_error
from lcifr.models.layer_rounding import (
    LOST,
    ROUND_UP,
    ProductSums,
    ValueBounds,
    allowed_extremes,
    bound_neurons,
    bound_products,
    cast_inputs,
    rounding_share,
    through_layer,
)
from lcifr.models.linear_bounds import LARGEST_SIZE, LinearBound, linear_merging, linear_rounding
from lcifr.models.network import Network
from lcifr.regions.region import Cell, Region

FloatArray = NDArray[np.float64]

AT_ONCE = 1024
"""People whose numbers stay in the cache together."""
REFUSED = 1e300
"""Stands for an infinite bound, where overflow is possible: beyond every output, and 0 times it is 0."""


@dataclass(frozen=True)
class Stage:
    """A network, and the arithmetic in which it is computed."""

    network: Network
    arithmetic: Arithmetic

    @cached_property
    def may_overflow(self) -> bool:
        """Whether some weight is too large for the format."""
        largest = FORMATS[self.arithmetic].largest
        parts = (part for layer in self.network.layers for part in (layer.weight, layer.bias))
        return any(bool((np.abs(part) >= largest).any()) for part in parts)


@dataclass(frozen=True)
class Deployment:
    """A chain of networks, each in its arithmetic, behind an encoding or on latent points.

    Parameters
    ----------
    stages : from the input to the decision.
    groups : attributes that the columns of the input belong to: of each, one column at most is not 0.
    flushing_error : F, how far flushing to zero can move an encoded number; infinite where it is not known.
    columns : of encoded people; None on latents.
    """

    stages: tuple[Stage, ...]
    groups: int
    flushing_error: float = 0.0
    columns: FeatureColumns | None = field(default=None, repr=False, compare=False)

    @classmethod
    def on_people(cls, encoding: Encoding, *stages: Stage) -> Deployment:
        """From the table's values on, through the steps of its encoding."""
        groups = len(encoding.schema.names)
        return cls(stages, groups, encoding.numbers.flushing_error, encoding)

    @classmethod
    def on_latents(cls, *stages: Stage) -> Deployment:
        """From stored numbers on."""
        return cls(stages, stages[0].network.inputs)

    @property
    def is_exact(self) -> bool:
        """Whether it is said of real numbers: then nothing is rounded."""
        return any(stage.arithmetic is Arithmetic.EXACT for stage in self.stages)

    @property
    def outputs(self) -> int:
        """How many values come out at the end."""
        return self.stages[-1].network.outputs

    @property
    def factors(self) -> tuple[Network, ...]:
        """The networks, from the input to the decision."""
        return tuple(stage.network for stage in self.stages)

    def evaluate(self, points: FloatArray) -> Evaluation:
        """A plain forward pass, and how far it can be from exact arithmetic."""
        return evaluate(self.factors, points)

    def merging_error(self, region: Region) -> FloatArray:
        """(people, outputs) how far the merged network can be from the factors one after the other, in the region."""
        return merging_error(self.factors, region)

    @cached_property
    def merged(self) -> Network:
        """All of them as the one network that proofs work on; :meth:`room_over` has what that differs by."""
        return merge(*self.factors)

    def asked_over(self, region: Region) -> Region:
        """Where the merged network is asked: on the region itself."""
        return region

    def room_over(self, region: Region) -> FloatArray:
        """(people, outputs) how far machines can be from the merged network in exact arithmetic, in the region."""
        if self._linear_merging is None:
            return merging_error(self.factors, region) + self.error_over(region)
        return self._linear_merging.at(self._sizes_in(region)) + self.error_over(region)

    def room_anywhere(self, region: Region) -> FloatArray:
        """(outputs,) what :meth:`room_over` is for nobody above; one evaluation, however many people there are."""
        return np.asarray(self.room_over(region.hull())[0])

    @cached_property
    def _linear_merging(self) -> LinearBound | None:
        if self.columns is None or not is_affine(self.factors):
            return None
        return linear_merging(self.factors, self.columns)

    @cached_property
    def _linear_rounding(self) -> LinearBound | None:
        double = all(stage.arithmetic is Arithmetic.FLOAT64 for stage in self.stages)
        if self.columns is None or not double or not is_affine(self.factors):
            return None
        if not np.isfinite(self.flushing_error):  # 0 times it would be NaN
            return None
        return linear_rounding(self.factors, self.columns, self.flushing_error)

    def _sizes(self, values: FloatArray) -> FloatArray:
        """(people, numbers) how large the numbers among encoded people (people, features) are."""
        return np.abs(values if self.columns is None else values[:, self.columns.numeric_columns])

    def _sizes_in(self, region: Region) -> FloatArray:
        """(people, numbers) the same of everybody in a person's region."""
        if self.columns is None or not all(
            np.array_equal(cell.numeric, self.columns.numeric_columns) for cell in region.cells
        ):
            return self._sizes(largest_sizes(region))
        sizes = np.zeros((region.people, len(self.columns.numeric_columns)))
        for cell in region.cells:
            far = np.maximum(np.abs(cell.lower), np.abs(cell.upper))
            np.maximum(sizes, far, out=sizes, where=cell.present[:, None])
        return sizes

    def error_at(self, points: FloatArray) -> FloatArray:
        """(people, outputs) how far the outputs at points (people, inputs) can be from exact ones, at most REFUSED."""
        if self.is_exact:
            return np.zeros((len(points), self.outputs))
        if self._linear_rounding is not None and (sizes := self._sizes(points)).max(initial=0.0) <= LARGEST_SIZE:
            return np.minimum(self._linear_rounding.at(sizes), REFUSED)
        everywhere = np.ones(len(points), np.bool_)
        return self._error(Cell(np.arange(points.shape[1]), points, points, (), None, everywhere))

    def error_among(self, points: FloatArray) -> FloatArray:
        """(outputs,) what :meth:`error_at` is at none of these points above; one evaluation, however many there are."""
        if self.is_exact or len(points) == 0:
            return np.zeros(self.outputs)
        ends = points.min(0, keepdims=True), points.max(0, keepdims=True)
        return np.asarray(self._error(Cell(np.arange(points.shape[1]), *ends, (), None, np.ones(1, np.bool_)))[0])

    def error_over(self, region: Region) -> FloatArray:
        """(people, outputs) the same for everybody in a person's region; 0 where nobody is."""
        worst = np.zeros((region.people, self.outputs))
        if self._linear_rounding is not None:
            sizes = self._sizes_in(region)
            if sizes.max(initial=0.0) <= LARGEST_SIZE:
                found = np.minimum(self._linear_rounding.at(sizes), REFUSED)
                return np.where(region.nonempty[:, None], found, worst)
        if not self.is_exact:
            for cell in region.cells:
                worst = np.maximum(worst, np.where(cell.present[:, None], self._error(cell), 0.0))
        return worst

    def _error(self, cell: Cell) -> FloatArray:
        found = np.full((len(cell.present), self.outputs), REFUSED)
        if not any(stage.may_overflow for stage in self.stages):
            for start in range(0, len(found), AT_ONCE):
                rows = slice(start, start + AT_ONCE)
                found[rows] = self._error_of_some(cell.take(rows))
        return found

    def _error_of_some(self, cell: Cell) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            first, *others = self.stages
            values = _stage(first, self._first_layer(cell))
            for stage in others:
                kind = FORMATS[stage.arithmetic]
                values = _stage(stage, through_layer(stage.network.layers[0], cast_inputs(values, kind), kind))
            return np.where(values.error < REFUSED, values.error, REFUSED)

    def _first_layer(self, cell: Cell) -> ValueBounds:
        """That of the groups of a cell: numbers between their ends, categories at one of their columns.

        At a corner of value v the error is c·|v| + ν, so that e + γ·s + 16·N is ``rate``·|v| + ``least``.
        """
        layer, kind = self.stages[0].network.layers[0], FORMATS[self.stages[0].arithmetic]
        share, flushed = rounding_share(kind, self.groups), self._flushed(kind)
        rate = (kind.cast + share * (1.0 + kind.cast)) * ROUND_UP
        least = (flushed * (1.0 + share) + LOST * kind.smallest) * ROUND_UP
        weight = layer.weight[:, cell.numeric]
        lower, upper, far = bound_products(weight, cell.lower, cell.upper)
        size = far.sum(1, keepdims=True)
        lost = far @ np.abs(weight).T
        for choice in cell.choices:
            low, high = allowed_extremes(layer.weight[:, choice.columns].T, choice.allowed)
            lower, upper = lower + low, upper + high
            lost = lost + (np.abs(low) if low is high else np.maximum(np.abs(low), np.abs(high)))
        lost = lost * rate + least * np.abs(layer.weight).sum(1)  # of all columns: more than of one in each group
        size = (size + len(cell.choices)) * (1.0 + kind.cast) + self.groups * flushed
        sums = ProductSums(lower, upper, lost, np.where(size < kind.largest, size, np.inf))
        return bound_neurons(layer, sums, share, self.groups, kind)

    def _flushed(self, kind: FloatFormat) -> float:
        """ν: what encoding and cast can lose by underflow and flushing."""
        return 2.0 * (LOST * kind.smallest + self.flushing_error) * ROUND_UP


def _stage(stage: Stage, values: ValueBounds) -> ValueBounds:
    """The outputs of a network, given the values of its first layer."""
    for layer in stage.network.layers[1:]:
        positive = ValueBounds(np.maximum(values.lower, 0.0), np.maximum(values.upper, 0.0), values.error)
        values = through_layer(layer, positive, FORMATS[stage.arithmetic])
    return values
