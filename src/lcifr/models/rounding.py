"""Networks in floating point: what machines round at most, at points and over regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.data.encoding import FeatureColumns
from lcifr.models.arithmetic import FORMATS, Arithmetic, FloatFormat
from lcifr.models.function import REFUSED, Deployed, Evaluation
from lcifr.models.network import (
    FLOOR,
    Layer,
    Network,
    chain_of,
    compose,
    evaluate,
    gamma,
    is_affine,
    largest_sizes,
    merge,
    merging_error,
    passed_on,
)
from lcifr.regions.region import Cell, Region

# Layers in floating point: how far from exact arithmetic their values can be, given those of their inputs.
#
# One step of the recursion of docs/design/arithmetic.md, with every rounding error of its own on the safe side.

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

LOST = 16.0
"""Smallest normal numbers that underflow and flushing can lose at an operand or a result, at most."""
ROUND_UP = 1.0 + 1e-9
"""The sums below have fewer than 10⁶ terms, so float64 computes them within a relative 10⁻⁹ …"""
TINIEST = 1e-290
"""… and loses less than this to underflow."""


@dataclass(frozen=True)
class ValueBounds:
    """What the values of a layer can be, in exact arithmetic and on a machine.

    Parameters
    ----------
    lower, upper : (people, width) hold the exact values of everybody in a cell.
    error : (people, width) how far a machine's values can be from them; infinite where overflow is possible.
    """

    lower: FloatArray
    upper: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class ProductSums:
    """Sums of products before the bias: their ends, Σ |w|·(e + γ·s + 16·N) (people, neurons), and Σ s (people, 1)."""

    lower: FloatArray
    upper: FloatArray
    lost: FloatArray
    size: FloatArray


def cast_inputs(values: ValueBounds, kind: FloatFormat) -> ValueBounds:
    """The outputs of one network as the inputs of the next."""
    size = np.maximum(np.abs(values.lower), np.abs(values.upper)) + values.error
    error = values.error + kind.cast * size + 2 * LOST * kind.smallest
    return ValueBounds(values.lower, values.upper, error * ROUND_UP)


def rounding_share(kind: FloatFormat, terms: int) -> float:
    """γ of a sum of so many products: the roundings of a weight, its product, every sum, and the end of a wider sum."""
    share = (terms + 3) * kind.unit
    return np.inf if share > 0.5 else share / (1.0 - share) * ROUND_UP


def through_layer(layer: Layer, values: ValueBounds, kind: FloatFormat) -> ValueBounds:
    terms = values.lower.shape[1]
    share = rounding_share(kind, terms)
    lower, upper, far = bound_products(layer.weight, values.lower, values.upper)
    size = far + values.error
    lost = (values.error + share * size + LOST * kind.smallest) @ np.abs(layer.weight).T
    return bound_neurons(layer, ProductSums(lower, upper, lost, size.sum(1, keepdims=True)), share, terms, kind)


def bound_products(
    weight: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The ends of Σ w·a (people, neurons) for a between ends (people, width), and the largest |a|."""
    if lower is upper:
        middle = lower @ weight.T
        return middle, middle, np.abs(lower)
    middle = 0.5 * lower + 0.5 * upper
    reach = (np.maximum(upper - middle, middle - lower) * ROUND_UP) @ np.abs(weight).T * ROUND_UP
    middle = middle @ weight.T
    return middle - reach, middle + reach, np.maximum(np.abs(lower), np.abs(upper))


def bound_neurons(layer: Layer, sums: ProductSums, share: float, terms: int, kind: FloatFormat) -> ValueBounds:
    """Intervals and errors of neurons; where error / γ, which no partial sum exceeds, is too large, it is infinite.

    What float64 rounds in the intervals here is less than what the format, which is no finer, may round there.
    """
    absolute = LOST * kind.smallest * (terms + 1 + sums.size)
    error = (sums.lost + share * np.abs(layer.bias) + absolute) * ROUND_UP + TINIEST
    error = np.where(2.0 * error < share * kind.largest, error, np.inf)
    return ValueBounds(sums.lower + layer.bias - 2.0 * error, sums.upper + layer.bias + 2.0 * error, error)


def allowed_extremes(weight: FloatArray, allowed: BoolArray) -> tuple[FloatArray, FloatArray]:
    """(people, neurons) the least and the largest of the allowed weights (values, neurons); 0 where none is."""
    if (np.count_nonzero(allowed, axis=1) == 1).all():
        only = weight[allowed.argmax(1)]
        return only, only
    patterns, which = _patterns(allowed)
    some = patterns[:, :, None] & np.ones(weight.shape, np.bool_)
    low = np.where(some, weight, np.inf).min(1)
    high = np.where(some, weight, -np.inf).max(1)
    none = ~patterns.any(1)
    low[none] = high[none] = 0.0
    return low[which], high[which]


def _patterns(allowed: BoolArray) -> tuple[BoolArray, NDArray[np.intp]]:
    """The different rows, and for each person which of them is theirs."""
    if (allowed == allowed[0]).all():
        return allowed[:1], np.zeros(len(allowed), np.intp)
    packed = np.ascontiguousarray(np.packbits(allowed, axis=1))
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return allowed[first], which


# Bounds of affine chains as linear functions of how large the numbers are: one small product for each person.
#
# Without a ReLU the recursions of merging and of deployed arithmetic are sums of absolute values all the way. With the
# sizes of the numbers left open they need to be gone through once for a model, instead of once for every person. Where
# the recursion has an interval, here stands the sum of absolute values, so the bound is never below it.

LARGEST_SIZE = 1e50
"""Of a number: products of weights add up to 1e100 at most, so nothing is near the end of float64."""
KIND = FORMATS[Arithmetic.FLOAT64]


@dataclass(frozen=True)
class LinearBound:
    """(outputs, numbers + 1) coefficients of the sizes of the numbers, and the constant."""

    coefficients: FloatArray

    def at(self, sizes: FloatArray) -> FloatArray:
        """(people, outputs) the bound for people whose numbers are at most this large, (people, numbers)."""
        return np.asarray((sizes @ self.coefficients[:, :-1].T + self.coefficients[:, -1]) * ROUND_UP)


def linear_rounding(factors: Sequence[Network], columns: FeatureColumns, flushing_error: float) -> LinearBound:
    """What a machine rounds in float64: the recursion of docs/design/arithmetic.md over the factors in turn."""
    first, *others = (factor.layers[0] for factor in factors)
    numbers, groups = len(columns.numeric_columns), len(columns.schema.names)
    share, flushed = rounding_share(KIND, groups), 2.0 * (LOST * KIND.smallest + flushing_error)
    size = _largest(first.weight, columns)
    error = share * size
    error[:, -1] += (flushed * (1.0 + share) + LOST * KIND.smallest) * np.abs(first.weight).sum(1)
    inputs = np.ones(numbers + 1)  # Σ s: the numbers' sizes, and 1 for each category
    inputs[-1] = groups - numbers + groups * flushed
    error = _with_bias(error, first, share, groups, inputs)
    size[:, -1] += np.abs(first.bias)
    for layer in others:
        terms = layer.weight.shape[1]
        share = rounding_share(KIND, terms)
        error[:, -1] += 2.0 * LOST * KIND.smallest
        largest, weight = size + error, np.abs(layer.weight)
        lost = error + share * largest
        lost[:, -1] += LOST * KIND.smallest
        error = _with_bias(weight @ lost, layer, share, terms, largest.sum(0))
        size = weight @ size
        size[:, -1] += np.abs(layer.bias)
    return LinearBound(error)


def _largest(weight: FloatArray, columns: FeatureColumns) -> FloatArray:
    """(neurons, numbers + 1) the size of Σ w·x: by those of the numbers, and a constant for the categories."""
    size = np.abs(weight)
    of_categories = (size[:, columns.columns(name)].max(1) for name in columns.schema.names_categorical)
    return np.column_stack([size[:, columns.numeric_columns], sum(of_categories, np.zeros(len(size)))])


def _with_bias(error: FloatArray, layer: Layer, share: float, terms: int, inputs: FloatArray) -> FloatArray:
    found = error + LOST * KIND.smallest * inputs
    found[:, -1] += share * np.abs(layer.bias) + LOST * KIND.smallest * (terms + 1)
    found = found * ROUND_UP
    found[:, -1] += TINIEST
    return found


def linear_merging(factors: Sequence[Network], columns: FeatureColumns) -> LinearBound:
    """What merging rounds: :func:`lcifr.models.network.merging_error`, with the sizes of the numbers left open."""
    merged, *others = factors
    numbers = len(columns.numeric_columns)
    error = np.zeros((merged.outputs, numbers + 1))
    inputs = np.ones(numbers + 1)
    inputs[-1] = 1.0 + len(columns.schema.names_categorical)
    for factor in others:
        last, first = merged.layers[0], factor.layers[0]
        size = _largest(last.weight, columns)
        size[:, -1] += np.abs(last.bias) + FLOOR
        reach = np.abs(first.weight) @ size + FLOOR * inputs
        reach[:, -1] += np.abs(first.bias)
        rounded = 2 * gamma(merged.outputs + 4) * reach
        error = (np.abs(first.weight) @ error + rounded) * (1.0 + 1e-9)
        merged = compose(merged, factor)
    return LinearBound(error)


# Deployed: how far a model that is computed in floating point can be from exact arithmetic, over whole regions.
#
# The recursion of docs/design/arithmetic.md, in float64 with every rounding error on the safe side: what is returned is
# never below the bound that the checker computes in rational numbers.

AT_ONCE = 1024
"""People whose numbers stay in the cache together."""


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
class DeployedNetworks(Deployed):
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
    def on_people(cls, encoding: Encoding, *stages: Stage) -> DeployedNetworks:
        """From the table's values on, through the steps of its encoding."""
        groups = len(encoding.schema.names)
        return cls(stages, groups, encoding.numbers.flushing_error, encoding)

    @classmethod
    def on_latents(cls, *stages: Stage) -> DeployedNetworks:
        """From stored numbers on."""
        return cls(stages, stages[0].network.inputs)

    def after(self, first: Deployed) -> Deployed:
        """Networks on networks are one chain; on anything else, as every function."""
        if isinstance(first, DeployedNetworks):
            return replace(first, stages=(*first.stages, *self.stages))
        return super().after(first)

    @property
    def is_exact(self) -> bool:
        return any(stage.arithmetic is Arithmetic.EXACT for stage in self.stages)

    @property
    def is_as_asked(self) -> bool:
        return self.is_exact and len(self.stages) == 1

    @property
    def outputs(self) -> int:
        """How many values come out at the end."""
        return self.stages[-1].network.outputs

    @property
    def factors(self) -> tuple[Network, ...]:
        """The networks, from the input to the decision."""
        return tuple(stage.network for stage in self.stages)

    def evaluate(self, points: FloatArray) -> Evaluation:
        return evaluate(self.factors, points)

    def evaluate_around(self, points: FloatArray, off: FloatArray) -> Evaluation:
        found = self.evaluate(points)
        return Evaluation(found.values, found.error + self._passed_on(off))

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        """Of the factors: merged, they would be another function by a little."""
        return chain_of(self.factors).exactly(point)

    def reads(self) -> NDArray[np.intp]:
        return chain_of(self.factors).reads()

    def merging_error(self, region: Region) -> FloatArray:
        return merging_error(self.factors, region)

    @cached_property
    def merged(self) -> Network:
        """All of them as the one network that proofs work on; :meth:`room_over` has what that differs by."""
        return merge(*self.factors)

    def room_over(self, region: Region) -> FloatArray:
        if self._linear_merging is None:
            return merging_error(self.factors, region) + self.error_over(region)
        return self._linear_merging.at(self._sizes_in(region)) + self.error_over(region)

    def room_anywhere(self, region: Region) -> FloatArray:
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
        if self.is_exact:
            return np.zeros((len(points), self.outputs))
        if self._linear_rounding is not None and (sizes := self._sizes(points)).max(initial=0.0) <= LARGEST_SIZE:
            return np.minimum(self._linear_rounding.at(sizes), REFUSED)
        everywhere = np.ones(len(points), np.bool_)
        return self._error(Cell(np.arange(points.shape[1]), points, points, (), None, everywhere))

    def error_among(self, points: FloatArray) -> FloatArray:
        if self.is_exact or len(points) == 0:
            return np.zeros(self.outputs)
        ends = points.min(0, keepdims=True), points.max(0, keepdims=True)
        return np.asarray(self._error(Cell(np.arange(points.shape[1]), *ends, (), None, np.ones(1, np.bool_)))[0])

    def error_around(self, computed: Evaluation, off: FloatArray) -> FloatArray:
        off = off + computed.error
        lower, upper = np.nextafter(computed.values - off, -np.inf), np.nextafter(computed.values + off, np.inf)
        found = self.error_over(Region.from_arrays(lower, upper)) + self._passed_on(off)
        return np.asarray(np.minimum(found, REFUSED))

    def error_within(self, size: FloatArray | None, off: FloatArray) -> FloatArray:
        if size is None:
            return super().error_within(size, off)
        found = self.error_over(Region.from_arrays(-size[None], size[None]))[0] + self._passed_on(off)
        return np.asarray(np.minimum(found, REFUSED))

    def _passed_on(self, error: FloatArray) -> FloatArray:
        """(…, outputs) what the networks make of an error of their inputs (…, inputs), at most."""
        for factor in self.factors:
            error = passed_on(factor, error)
        return np.asarray(error * (1.0 + 1e-9))

    def error_over(self, region: Region) -> FloatArray:
        """(people, outputs) the same for all of a person's region; 0 where that is empty."""
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
