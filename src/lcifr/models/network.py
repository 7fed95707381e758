"""Networks of affine layers and ReLU, chains and pairs of them: exact values, canonical bytes, rounding bounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data import Encoding
from lcifr.data.codec import Arrays, TensorFile
from lcifr.data.encoding import FeatureColumns
from lcifr.data.files import write_atomic
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.additive import AdditiveModel
from lcifr.models.arithmetic import FORMATS, Arithmetic, FloatFormat, choose_arithmetic
from lcifr.models.function import REFUSED, Deployed, Evaluation, Function
from lcifr.models.rounding import (
    FLOOR,
    LARGEST,
    LOST,
    ROUND_UP,
    TINIEST,
    ProductSums,
    ValueBounds,
    allowed_extremes,
    bound_neurons,
    bound_products,
    cast_inputs,
    gamma,
    rounding_share,
    through_layer,
)
from lcifr.models.rule import Kind, Rule
from lcifr.regions.region import Cell, Region

if TYPE_CHECKING:
    from torch import nn


# Network: affine layers with ReLU between, frozen in float64.

FloatArray = NDArray[np.float64]

FORMAT = "lcifr-network-2"


@dataclass(frozen=True)
class Layer:
    """x ↦ weight @ x + bias.

    Parameters
    ----------
    weight : (outputs, inputs) float64, read-only.
    bias : (outputs,) float64, read-only.
    """

    weight: FloatArray
    bias: FloatArray


class OfNetworks(Function):
    """What one network and a chain of them have in common: they are continuous, and computed factor by factor."""

    jumps = False
    uses_device = True

    @abstractmethod
    def in_turn(self) -> tuple[Network, ...]:
        """The networks that are applied one after the other."""

    @property
    def inputs(self) -> int:
        """How many columns go in."""
        return int(self.in_turn()[0].layers[0].weight.shape[1])

    @property
    def outputs(self) -> int:
        """How many values come out."""
        return len(self.in_turn()[-1].layers[-1].bias)

    @property
    def widths(self) -> tuple[int, ...]:
        return self.inputs, *(len(layer.bias) for factor in self.in_turn() for layer in factor.layers)

    def deployed(self, arithmetic: Arithmetic, encoding: Encoding | None = None) -> Deployed:
        stages = [Stage(factor, arithmetic) for factor in self.in_turn()]
        if encoding is None:
            return DeployedNetworks.on_latents(*stages)
        return DeployedNetworks.on_people(encoding, *stages)

    def describe(self) -> str:
        return "a network"

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        """The outputs at one point (inputs,), without any rounding: the checker's own evaluation."""
        from lcifr.check.functions import FactorChain, read_network

        chain = FactorChain([[read_network(factor.rows()) for factor in self.in_turn()]], self.inputs)
        return tuple(chain.at({("numeric", 0): [*enumerate(self._points(point).tolist())]}))

    def _points(self, points: ArrayLike) -> FloatArray:
        value = np.asarray(points, dtype=np.float64)
        if value.ndim == 0 or value.shape[-1] != self.inputs:
            raise NetworkError(
                f"points have the shape {value.shape}, the network takes {self.inputs} features in the last axis",
                fix="encode people with the encoding the network was trained on",
            )
        return value

    def reads(self) -> NDArray[np.intp]:
        """The columns with a weight in the first factor that does anything."""
        first = next((one for one in self.in_turn() if not one.is_identity), self.in_turn()[0])
        return np.flatnonzero((first.layers[0].weight != 0).any(0))

    def after_sums(self, found: AdditiveModel) -> AdditiveModel | None:
        """Linear networks keep sums; the terms of the others are mixed."""
        if not is_affine(self.in_turn()):
            return None
        for factor in self.in_turn():
            found = found.followed_by(factor.layers[0].weight, factor.layers[0].bias)
        return found


@dataclass(frozen=True)
class Network(OfNetworks):
    """Affine layers with ReLU between them; no ReLU after the last.

    Build it with :meth:`from_arrays` or :meth:`from_torch`, which check the shapes and freeze the numbers.

    Parameters
    ----------
    native : the arithmetic of the runtime that it comes from; EXACT where that computes something else than these
        weights one layer after the other. It is what certificates speak about unless another one is asked for.
    divides : the step of a library that divides where this network multiplies with rounded inverses; empty for none.
        Float arithmetic covers such a division (docs/design/arithmetic.md), exact arithmetic does not.
    """

    engine = "lcifr.prove.networks:NetworkEngine"
    layers: tuple[Layer, ...]
    native: Arithmetic = field(default=Arithmetic.FLOAT64, compare=False, repr=False)
    divides: str = field(default="", compare=False, repr=False)

    @classmethod
    def from_arrays(cls, layers: Iterable[tuple[ArrayLike, ArrayLike]]) -> Network:
        """A network from ``[(weight, bias), …]``, each weight of shape (outputs, inputs)."""
        built = tuple(_layer(index, weight, bias) for index, (weight, bias) in enumerate(layers))
        if not built:
            raise NetworkError("a network needs at least one affine layer", fix="pass [(weight, bias), …]")
        for index, (left, right) in enumerate(pairwise(built)):
            if right.weight.shape[1] != left.weight.shape[0]:
                raise NetworkError(
                    f"layer {index + 1} takes {right.weight.shape[1]} values, "
                    f"layer {index} gives {left.weight.shape[0]}",
                    fix="weights have the shape (outputs, inputs), as in torch",
                )
        network = cls(built)
        _check_range(network.sizes)
        return network

    @classmethod
    def from_torch(cls, module: nn.Module) -> Network:
        """A network from a torch ``Sequential`` of Linear, ReLU, Identity, Flatten and Dropout (evaluation only)."""
        from lcifr.models.loaders.torch import native_arithmetic, read_torch

        return cls.from_arrays(read_torch(module)).of_runtime(native_arithmetic(module))

    def of_runtime(self, native: Arithmetic) -> Network:
        """The same weights, marked as coming from a runtime that computes in this arithmetic."""
        return replace(self, native=native)

    def negated(self) -> Network:
        """The network whose outputs are the negative ones of this, exactly."""
        last = Layer(0.0 - self.layers[-1].weight, 0.0 - self.layers[-1].bias)
        for array in (last.weight, last.bias):
            array.flags.writeable = False
        return replace(self, layers=(*self.layers[:-1], last))

    def in_turn(self) -> tuple[Network, ...]:
        return (self,)

    @property
    def affine(self) -> tuple[FloatArray, FloatArray] | None:
        return None if self.depth else (self.layers[0].weight, self.layers[0].bias)

    @property
    def last_weight(self) -> FloatArray | None:
        return self.layers[-1].weight

    @cached_property
    def is_identity(self) -> bool:
        """Whether what comes out is what goes in."""
        (first, *others), width = self.layers, self.inputs
        return not others and bool(np.array_equal(first.weight, np.eye(width)) and not first.bias.any())

    @property
    def depth(self) -> int:
        """How many hidden ReLU layers there are."""
        return len(self.layers) - 1

    @cached_property
    def sizes(self) -> FloatArray:
        """(layers,) at least the sum of the absolute values of all products along paths that end in the layer.

        Inputs count as 1, and so does every neuron, because the way back begins and ends at any layer. The 4 is that of
        the lines that replace a ReLU, see :class:`lcifr.prove.networks.rounding.RoundingBound`.
        """
        size, sums = np.ones(self.inputs), []
        with np.errstate(over="ignore", invalid="ignore"):  # infinity is beyond all limits, and so is what is no number
            for layer in self.layers:
                size = np.maximum(4.0 * np.abs(layer.weight) @ size + np.abs(layer.bias), 1.0)
                sums.append(size.sum())
        return np.array(sums)

    def __call__(self, points: ArrayLike) -> FloatArray:
        """The outputs at ``points`` (…, inputs) -> (…, outputs), a plain float64 forward pass."""
        value = self._points(points)
        for layer in self.layers[:-1]:
            value = np.maximum(value @ layer.weight.T + layer.bias, 0.0)
        return np.asarray(value @ self.layers[-1].weight.T + self.layers[-1].bias)

    def error(self, points: ArrayLike) -> FloatArray:
        """How far ``self(points)`` can be from exact arithmetic, (…, inputs) -> (…, outputs).

        Every output is a sum of products of weights, biases and inputs along paths of the network (ReLU passes a path
        or drops it, and errs no more than its input). Each product passes through at most Σ(inputs of the layer + 1)
        rounded operations, in any order of summation, so the error is at most γ of that count times the sum of the
        absolute values of all products (Higham, Accuracy and Stability, ch. 3). With X the largest |input| that sum is
        at most ``slope``·X + ``shift``, where slope = |W_L|…|W_0|·1 and shift collects the biases the same way. What
        underflows at a neuron is less than γ·FLOOR, which both have at every layer.
        """
        slope, shift = self.error_rate
        return np.asarray(np.abs(self._points(points)).max(-1, keepdims=True) * slope + shift)

    @cached_property
    def error_rate(self) -> tuple[FloatArray, FloatArray]:
        """(outputs,) twice: :meth:`error` is the largest |input| times the first, plus the second."""
        unit = gamma(2 * sum(layer.weight.shape[1] + 8 for layer in self.layers))
        slope, shift = self._magnitude
        return unit * slope, unit * shift

    @cached_property
    def _magnitude(self) -> tuple[FloatArray, FloatArray]:
        slope, shift = np.ones(self.inputs), np.full(self.inputs, FLOOR)
        for layer in self.layers:
            size = np.abs(layer.weight)
            slope, shift = size @ slope + FLOOR, size @ shift + np.abs(layer.bias) + FLOOR
        return slope, shift

    def rows(self) -> list[list[list[float]]]:
        """The rows of [W b] of every layer."""
        return [np.column_stack([layer.weight, layer.bias]).tolist() for layer in self.layers]

    def to_plain(self) -> list[list[list[float]]]:
        return self.rows()

    def slopes(self, points: FloatArray, directions: FloatArray) -> FloatArray:
        masks, value = [], points
        for layer in self.layers[:-1]:
            value = value @ layer.weight.T + layer.bias
            masks.append(value > 0)
            value = np.maximum(value, 0.0)
        slope = directions @ self.layers[-1].weight
        for layer, mask in zip(reversed(self.layers[:-1]), reversed(masks), strict=True):
            slope = (slope * mask) @ layer.weight
        return np.asarray(slope)

    def twice(self, own: NDArray[np.intp], others: NDArray[np.intp], width: int) -> Network:
        """The outputs at x, then those at x′: two copies side by side; what both share is one column."""
        first, *rest = self.layers
        weight = np.zeros((2, *first.weight.shape[:1], width))
        weight[0][:, own], weight[1][:, others] = first.weight, first.weight
        layers = [(weight.reshape(-1, width), np.tile(first.bias, 2))]
        layers += [(_side_by_side(layer.weight), np.tile(layer.bias, 2)) for layer in rest]
        return Network.from_arrays(layers)

    def to_arrays(self, into: Arrays) -> dict[str, Any]:
        layers = [[into.put(layer.weight), into.put(layer.bias)] for layer in self.layers]
        return {"kind": "network", "layers": layers, "native": str(self.native), "divides": self.divides}

    @classmethod
    def read_arrays(cls, said: Mapping[str, Any], held: Arrays) -> Network:
        """What :meth:`to_arrays` gave."""
        network = cls.from_arrays((held.arrays[weight], held.arrays[bias]) for weight, bias in said["layers"])
        return replace(network, native=Arithmetic(said["native"]), divides=str(said["divides"]))

    def named_tensors(self, before: str = "") -> dict[str, FloatArray]:
        """Weights and biases by the names that files have for them: ``0.weight``, ``0.bias``, ``1.weight``, …"""
        return {
            f"{before}{index}.{part}": np.array(getattr(layer, part))
            for index, layer in enumerate(self.layers)
            for part in ("weight", "bias")
        }

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, ArrayLike], layers: int, before: str = "") -> Network:
        """What :meth:`named_tensors` gave."""
        names = (f"{before}{index}" for index in range(layers))
        return cls.from_arrays((tensors[f"{name}.weight"], tensors[f"{name}.bias"]) for name in names)

    def save(self, path: str | Path) -> None:
        """Write the network as safetensors, its hash in the header; written beside and renamed."""
        header = {"format": FORMAT, "layers": str(len(self.layers)), "hash": self.hash}
        write_atomic(path, TensorFile(self.named_tensors(), header).to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Network:
        """Read what :meth:`save` wrote, and refuse numbers that do not match the hash in the header."""
        data = Path(path).read_bytes()
        try:
            file = TensorFile.from_bytes(data)
            header = file.texts
            network = cls.of_tensors(file.arrays, int(header.get("layers", "0")))
        except NetworkError:
            raise
        except Exception as problem:
            raise NetworkError(f"{path} is not a saved network: {problem}", fix="write it with Network.save") from None
        if header.get("format") != FORMAT or header.get("hash") != network.hash:
            raise NetworkError(f"{path}: its numbers have changed since it was saved", fix="get the file again")
        return network


def identity(width: int) -> Network:
    """The look-up layer of functions that read encoded columns themselves, as trees do."""
    return Network.from_arrays([(np.eye(width), np.zeros(width))])


def as_network(function: Function) -> Network:
    """The function itself, where only networks are supported."""
    if not isinstance(function, Network):
        raise NetworkError(f"{type(function).__name__} is not a network of affine layers and ReLU")
    return function


def compose(encoder: Network, classifier: Network) -> Network:
    """classifier ∘ encoder, the two affine layers that touch merged into one.

    The merged weights are rounded once to float64: the result is its own network with its own hash, and proofs about
    it speak about exactly these merged weights. What rounding and underflow can make of the difference is
    :func:`lcifr.models.network.merging_error`.
    """
    if encoder.outputs != classifier.inputs:
        raise NetworkError(
            f"the encoder gives {encoder.outputs} values, the classifier takes {classifier.inputs}",
            fix="compose(encoder, classifier) in this order, with matching widths",
        )
    last, first = encoder.layers[-1], classifier.layers[0]
    merged = (first.weight @ last.weight, first.weight @ last.bias + first.bias)
    pairs = [(layer.weight, layer.bias) for layer in (*encoder.layers[:-1], *classifier.layers[1:])]
    try:
        return Network.from_arrays([*pairs[: encoder.depth], merged, *pairs[encoder.depth :]])
    except NetworkError as refused:
        raise NetworkError(f"encoder and classifier as one network: {refused}") from None


def _layer(index: int, weight: ArrayLike, bias: ArrayLike) -> Layer:
    matrix = np.array(weight, dtype=np.float64, order="C")
    vector = np.array(bias, dtype=np.float64, order="C")
    if matrix.ndim != 2 or vector.shape != matrix.shape[:1] or 0 in matrix.shape:
        raise NetworkError(
            f"layer {index}: weight {matrix.shape} and bias {vector.shape} do not fit",
            fix="a weight has the shape (outputs, inputs), its bias (outputs,)",
        )
    if not (np.all(np.abs(matrix) <= LARGEST) and np.all(np.abs(vector) <= LARGEST)):
        raise NetworkError(
            f"layer {index} holds NaN, infinity, or a number beyond {LARGEST:g}",
            fix="check the training that produced these weights",
        )
    for array in (matrix, vector):
        array += 0.0  # −0.0 becomes 0.0, so that equal networks have equal hashes
        array.flags.writeable = False
    return Layer(matrix, vector)


def _check_range(sizes: FloatArray) -> None:
    """Refuse a network whose products can become so large that a float64 no longer holds what they lose.

    Up to LARGEST nothing overflows on the way forward or back, and FLOOR covers whatever underflows. Small numbers and
    zeros are never a reason to refuse.
    """
    beyond = np.flatnonzero(~(sizes <= LARGEST))
    if len(beyond):
        raise NetworkError(
            f"layer {beyond[0]}: the products of weights that lead here add up to {sizes[beyond[0]]:.0e}, beyond "
            f"{LARGEST:g}; what rounding loses in them could decide the result",
            fix="check the training that produced these weights, or scale the layers down",
        )


# Chain: networks applied in turn, affine where they touch, each kept as it is stored, and merged for proofs.
#
# The product of two stored matrices is a third one that is stored nowhere: proofs work on the product (:func:`merge`),
# certificates speak about the factors, and what lies between is bounded (:func:`merging_error`).


@dataclass(frozen=True)
class Chain(OfNetworks):
    """Networks applied in turn; build it with :func:`chain_of`.

    Parameters
    ----------
    factors : from the inputs to the outputs, at least two.
    """

    factors: tuple[Network, ...]

    def __post_init__(self) -> None:
        if len(self.factors) < 2:
            raise NetworkError(f"a chain has at least two factors, found {len(self.factors)}")
        for place, (left, right) in enumerate(pairwise(self.factors)):
            if left.outputs != right.inputs:
                raise NetworkError(
                    f"factor {place + 1} takes {right.inputs} values, factor {place} gives {left.outputs}"
                )

    def in_turn(self) -> tuple[Network, ...]:
        return self.factors

    @property
    def native(self) -> Arithmetic:
        """The coarsest of its factors'."""
        return choose_arithmetic(None, *(factor.native for factor in self.factors))

    @property
    def divides(self) -> str:
        """The first step of a factor that does."""
        return next((factor.divides for factor in self.factors if factor.divides), "")

    def __call__(self, points: ArrayLike) -> FloatArray:
        """The outputs at ``points`` (…, inputs) -> (…, outputs), factor after factor in float64."""
        return evaluate(self.factors, points).values

    def error(self, points: ArrayLike) -> FloatArray:
        """How far ``self(points)`` can be from exact arithmetic, (…, inputs) -> (…, outputs)."""
        return evaluate(self.factors, points).error

    def to_plain(self) -> dict[str, Any]:
        return {"kind": "network", "factors": [factor.rows() for factor in self.factors]}

    def to_arrays(self, into: Arrays) -> dict[str, Any]:
        return {"kind": "chain", "factors": [factor.to_arrays(into) for factor in self.factors]}

    @classmethod
    def read_arrays(cls, said: Mapping[str, Any], held: Arrays) -> Chain:
        """What :meth:`to_arrays` gave."""
        return cls(tuple(Network.read_arrays(factor, held) for factor in said["factors"]))


def chain_of(networks: Iterable[Network]) -> Network | Chain:
    """One network, or several as a chain."""
    factors = tuple(networks)
    return factors[0] if len(factors) == 1 else Chain(factors)


def factors_of(function: Function) -> tuple[Network, ...]:
    """The factors of a chain; a network is its own only one. Anything else is an error that names it."""
    return function.in_turn() if isinstance(function, OfNetworks) else (as_network(function),)


def is_affine(factors: Sequence[Network]) -> bool:
    """Whether there is no ReLU in them."""
    return all(factor.depth == 0 for factor in factors)


def evaluate(factors: Sequence[Network], points: ArrayLike) -> Evaluation:
    """A plain forward pass through networks in turn."""
    values = np.asarray(points, dtype=np.float64)
    # An error is the largest input of a factor times what only its weights say: that part is passed on, not each error.
    parts: list[tuple[FloatArray, FloatArray]] = []
    for factor in factors:
        slope, shift = factor.error_rate
        parts = [(largest, passed_on(factor, rate)) for largest, rate in parts]
        parts += [(np.abs(values).max(-1, keepdims=True), slope), (np.ones(1), shift)]
        values = factor(values)
    return Evaluation(values, np.asarray(sum(largest * rate for largest, rate in parts) * (1.0 + 1e-12)))


def passed_on(network: Network, error: FloatArray) -> FloatArray:
    """(…, outputs) what a network makes of an error (…, inputs) of its inputs, at most: ReLU does not enlarge it."""
    for layer in network.layers:
        error = error @ np.abs(layer.weight).T * (1.0 + gamma(layer.weight.shape[1] + 8))
    return error


def choose_for(asked: str | None, factors: Iterable[Function]) -> Arithmetic:
    """The arithmetic that was asked for, else that of the runtime that the factors come from.

    Raises
    ------
    LcifrError
        For exact arithmetic where a factor's weights are not the library's own numbers.
    """
    known = tuple(factors)
    chosen = choose_arithmetic(asked, *(factor.native for factor in known))
    divides = next((factor.divides for factor in known if factor.divides), "")
    if chosen is Arithmetic.EXACT and divides:
        native = next((f.native for f in known if f.native is Arithmetic.FLOAT32), Arithmetic.FLOAT64)
        raise LcifrError(
            f"{divides} divides by numbers whose inverses are not float64 numbers, so nothing can be proved about this "
            "model in exact arithmetic",
            fix=f'use arithmetic="{native}", in which it is computed',
        )
    return chosen


def merge(*factors: Network) -> Network:
    """Networks in turn as one; see :func:`merging_error` for what the rounding of its weights can do."""
    for before, behind in pairwise(factors):
        if before.outputs != behind.inputs:
            raise NetworkError(
                f"the encoder gives {before.outputs} numbers, the model takes {behind.inputs}",
                fix="audit a model that was trained on this encoder's latents",
            )
    return reduce(_compose_once, factors)


def _compose_once(before: Network, behind: Network) -> Network:
    return _composed(_Pair((before.hash, behind.hash), before, behind))


@dataclass(frozen=True)
class _Pair:
    """Two networks by their names: every audit of a chunk of people merges the same two."""

    names: tuple[str, str]
    before: Network = field(compare=False)
    behind: Network = field(compare=False)


@lru_cache(maxsize=8)
def _composed(pair: _Pair) -> Network:
    return compose(pair.before, pair.behind)


def merging_error(factors: Sequence[Network], region: Region) -> FloatArray:
    """(people, outputs) how far merged and unmerged networks can differ at any point of a person's region.

    Factors are merged one after the other. What the last merger rounds is added to what the factor makes of the
    difference before it.
    """
    merged, *others = factors
    if not others:
        return np.zeros((region.people, merged.outputs))
    size = largest_sizes(region)
    error = np.zeros((1, merged.outputs))
    for factor in others:
        error = passed_on(factor, error) + _rounded_in(merged, factor, size)
        merged = _compose_once(merged, factor)
    return np.asarray(error * (1.0 + 1e-9))


def _rounded_in(merged: Network, factor: Network, size: FloatArray) -> FloatArray:
    """(people, outputs) what rounding does in one merger, at inputs of absolute values (people, features).

    The merged layer's weights and biases are rounded sums of products, each off by at most γ·|W₂||W₁| and by what
    underflows, less than γ·FLOOR. That is multiplied by how large the hidden values before it can be (by absolute
    values alone: crude, and still a millionth of any margin), and passes through the rest of the factor. The sums here
    underflow too, which is what FLOOR is for at every layer.
    """
    for layer in merged.layers[:-1]:
        size = (size @ np.abs(layer.weight).T + np.abs(layer.bias) + FLOOR) * (1.0 + 1e-12)
    last, first = merged.layers[-1], factor.layers[0]
    reach = (size @ np.abs(last.weight).T + np.abs(last.bias) + FLOOR) @ np.abs(first.weight).T + np.abs(first.bias)
    unit = 2 * gamma(merged.outputs + 4)
    error = unit * (reach + FLOOR * (1.0 + size.sum(1, keepdims=True)))
    for layer in factor.layers[1:]:
        error = (error @ np.abs(layer.weight).T + unit * FLOOR) * (1.0 + 1e-12)
    return np.asarray(error)


def largest_sizes(region: Region) -> FloatArray:
    """(people, features) the largest absolute value of every feature in the region."""
    size = np.zeros((region.people, region.features))
    for cell in region.cells:
        far = np.where(cell.present[:, None], np.maximum(np.abs(cell.lower), np.abs(cell.upper)), 0.0)
        size[:, cell.numeric] = np.maximum(size[:, cell.numeric], far)
        for choice in cell.choices:
            size[:, choice.columns] = 1.0
    return size


# Two copies of a network on a pair of people, and "one decides yes, the other no" as one output.
#
# With a = s(x) and b = −s(x′), the smaller of the two is above 0 just where x is decided yes and x′ no, and
# min(a, b) = a − relu(a − b) is a network. Nothing is rounded in the copies; what merging them with the crossings
# rounds is :func:`lcifr.models.network.merging_error`.


def _side_by_side(weight: FloatArray) -> FloatArray:
    rows, columns = weight.shape
    found = np.zeros((2 * rows, 2 * columns))
    found[:rows, :columns], found[rows:, columns:] = weight, weight
    return found


def scores_of(rule: Rule) -> FloatArray:
    """(scores, outputs) linear scores such that two decisions differ only where some score changes its side.

    The output itself for two classes; for several, the lead of one class over one of another group: where the first of
    them wins at x and the second at x′, it changes from above the band to below it.
    """
    if rule.kind is Kind.SIGN:
        return np.ones((1, 1))
    group = rule.group_of
    pairs = [(i, j) for i in range(rule.outputs) for j in range(i) if group[i] != group[j]]
    scores = np.zeros((len(pairs), rule.outputs))
    for row, (i, j) in enumerate(pairs):
        scores[row, i], scores[row, j] = 1.0, -1.0
    return scores


def crossings(scores: FloatArray, middle: float = 0.0) -> Network:
    """Outputs at x and at x′ (2 · outputs) to, for each score, min(s(x), −s(x′)) and min(−s(x), s(x′)).

    Here s is the score less ``middle``; relu(s + s′), relu(−s − s′), relu(s), relu(−s) are its neurons.
    """
    here = np.concatenate([scores, np.zeros_like(scores)], axis=1)
    both = np.concatenate([scores, scores], axis=1)
    hidden = np.stack([both, -both, here, -here], axis=1).reshape(-1, here.shape[1])
    smaller = np.array([[-1.0, 0.0, 1.0, -1.0], [0.0, -1.0, -1.0, 1.0]])
    last = np.kron(np.eye(len(scores)), smaller)
    bias = np.tile(np.array([-2.0, 2.0, -1.0, 1.0]) * middle, len(scores))
    return Network.from_arrays([(hidden, bias), (last, np.zeros(len(last)))])


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
    """What merging rounds: :func:`merging_error`, with the sizes of the numbers left open."""
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
        """(people, numbers) the same anywhere in a person's region."""
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
                kind, layer = FORMATS[stage.arithmetic], stage.network.layers[0]
                entering = through_layer(layer.weight, layer.bias, cast_inputs(values, kind), kind)
                values = _stage(stage, entering)
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
        return bound_neurons(layer.bias, sums, share, self.groups, kind)

    def _flushed(self, kind: FloatFormat) -> float:
        """ν: what encoding and cast can lose by underflow and flushing."""
        return 2.0 * (LOST * kind.smallest + self.flushing_error) * ROUND_UP


def _stage(stage: Stage, values: ValueBounds) -> ValueBounds:
    """The outputs of a network, given the values of its first layer."""
    for layer in stage.network.layers[1:]:
        positive = ValueBounds(np.maximum(values.lower, 0.0), np.maximum(values.upper, 0.0), values.error)
        values = through_layer(layer.weight, layer.bias, positive, FORMATS[stage.arithmetic])
    return values
