"""Graphs of affine maps and ReLUs, and the chains of networks that compute them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.network import Network

# Vectors made of columns by affine maps and ReLU, in any order: the nodes of a dataflow graph.
#
# A graph of affine maps and ReLUs becomes layers one behind the other. What is needed later than in the next layer is
# carried: x is relu(x) − relu(−x) behind a ReLU, and itself behind an affine map. No weight is multiplied with another
# one, added to another one or rounded: every entry of a layer is a weight of the model, its negative, 1, −1 or 0. Two
# affine maps with no ReLU between are two factors of the chain, because a machine rounds between them.

FloatArray = NDArray[np.float64]

WIDEST = 2**11
"""Numbers side by side, at most: a file of a few bytes can ask for as many as it likes."""
LARGEST = 2**24
"""Weights of all layers together, zeros included, at most."""


@dataclass(frozen=True, eq=False)
class FlowVector:
    """Some numbers of a person; ``width`` says how many. It is one of the four kinds below."""

    width: int


@dataclass(frozen=True, eq=False)
class LeafVector(FlowVector):
    """Columns that a model is given, in any order; equal ones are one input of the chain."""

    columns: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Term:
    """weight @ vector, weight (outputs, width) float64."""

    weight: FloatArray
    vector: FlowVector


@dataclass(frozen=True, eq=False)
class AffineVector(FlowVector):
    """Σ weight @ vector + bias, computed as one sum of products for each output.

    Parameters
    ----------
    spare : products that a machine may round more often than a sum with so many terms does; see ``affine``.
    """

    terms: tuple[Term, ...]
    bias: FloatArray
    spare: int = 0


@dataclass(frozen=True, eq=False)
class ReluVector(FlowVector):
    """max(vector, 0)."""

    of: FlowVector


@dataclass(frozen=True, eq=False)
class SignedVector(FlowVector):
    """Components of the three kinds above, each as it is or negated, which no machine rounds.

    Parameters
    ----------
    parts : for each component the vector, its place there, and 1 or −1.
    """

    parts: tuple[tuple[FlowVector, int, int], ...]


def leaf(columns: Sequence[Any]) -> LeafVector:
    """Columns as the inputs of what follows."""
    return LeafVector(checked_width(len(columns)), tuple(columns))


def affine(*terms: tuple[ArrayLike, FlowVector], bias: ArrayLike | None = None, spare: int = 0) -> AffineVector:
    """Σ weight @ vector + bias.

    Parameters
    ----------
    spare : the rounding bound of a sum grows with its number of terms. A runtime that rounds a weight a few times more
        (a batch normalisation multiplied into it) is covered by so many terms 0 · 0 more.
    """
    made = tuple(Term(np.asarray(weight, dtype=np.float64), vector) for weight, vector in terms)
    width = made[0].weight.shape[0]
    shift = np.zeros(width) if bias is None else np.asarray(bias, dtype=np.float64)
    if shift.shape != (width,) or any(term.weight.shape != (width, term.vector.width) for term in made):
        raise NetworkError(f"weights {[term.weight.shape for term in made]} and bias {shift.shape} do not fit")
    return AffineVector(checked_width(width), made, shift, spare)


def scaled(vector: FlowVector, factors: ArrayLike, shifts: ArrayLike = 0.0, spare: int = 0) -> AffineVector:
    """factors · vector + shifts, each (width,) or one for all."""
    diagonal = np.diag(np.broadcast_to(np.asarray(factors, dtype=np.float64), (vector.width,)))
    return affine((diagonal, vector), bias=np.broadcast_to(shifts, (vector.width,)), spare=spare)


def relu(vector: FlowVector) -> ReluVector:
    """max(vector, 0)."""
    return ReluVector(vector.width, vector)


def components(vector: FlowVector) -> tuple[tuple[FlowVector, int, int], ...]:
    """Every component as that of a leaf, an affine vector or a ReLU: the vector, the place there, and 1 or −1."""
    return vector.parts if isinstance(vector, SignedVector) else tuple((vector, i, 1) for i in range(vector.width))


def negative(vector: FlowVector) -> SignedVector:
    """−vector, exactly."""
    return SignedVector(vector.width, tuple((base, i, -sign) for base, i, sign in components(vector)))


def chosen(vector: FlowVector, places: Sequence[int]) -> SignedVector:
    """The components at these places."""
    parts = components(vector)
    return SignedVector(checked_width(len(places)), tuple(parts[i] for i in places))


def joined(vectors: Sequence[FlowVector]) -> SignedVector:
    """One behind the other."""
    width = checked_width(sum(vector.width for vector in vectors))
    return SignedVector(width, tuple(part for vector in vectors for part in components(vector)))


def clipped(vector: FlowVector, lower: FloatArray, upper: FloatArray) -> FlowVector:
    """Between ends, each (width,) and perhaps infinite."""
    if not (lower <= upper).all():
        raise NetworkError("a clip leaves no interval: its lower end is above the upper one, or one of them is NaN")
    below, above = np.isfinite(lower), np.isfinite(upper)
    if below.all() and above.all():  # one layer instead of two: lower + relu(x − lower) − relu(x − upper)
        unit = np.eye(vector.width)
        rising = relu(vector) if not lower.any() else relu(scaled(vector, 1.0, -lower))
        return affine((unit, rising), (-unit, relu(scaled(vector, 1.0, -upper))), bias=lower)
    found = at_least(vector, lower) if below.any() else vector
    return negative(at_least(negative(found), -upper)) if above.any() else found


def at_least(vector: FlowVector, lower: FloatArray) -> FlowVector:
    """max(vector, lower) for constants (width,); where one is −∞ the component itself."""
    there = np.isfinite(lower)
    if there.all():
        return relu(vector) if not lower.any() else scaled(relu(scaled(vector, 1.0, -lower)), 1.0, lower)
    places = np.flatnonzero(there)
    part = at_least(chosen(vector, places.tolist()), lower[places])
    order = [int(np.searchsorted(places, i)) + vector.width if there[i] else i for i in range(vector.width)]
    return chosen(joined([vector, part]), order)


def larger(one: FlowVector, other: FlowVector) -> AffineVector:
    """max(one, other), component by component: other + relu(one − other)."""
    unit = np.eye(one.width)
    return affine((unit, other), (unit, relu(affine((unit, one), (-unit, other)))))


def leaky(vector: FlowVector, slopes: ArrayLike) -> AffineVector:
    """x where it is positive, slope · x where it is negative."""
    slope = np.broadcast_to(np.asarray(slopes, dtype=np.float64), (vector.width,))
    return affine((np.eye(vector.width), relu(vector)), (np.diag(-slope), relu(negative(vector))))


def checked_width(width: int) -> int:
    """So many numbers side by side, or an error."""
    if not 0 < width <= WIDEST:
        raise NetworkError(f"{width} numbers side by side", fix=f"between 1 and {WIDEST} can be read")
    return width


def sources(vector: FlowVector) -> Iterator[FlowVector]:
    """The vectors that a leaf, an affine vector or a ReLU is directly made of, without any signs between."""
    read = (
        [term.vector for term in vector.terms]
        if isinstance(vector, AffineVector)
        else [vector.of]
        if isinstance(vector, ReluVector)
        else []
    )
    yield from dict.fromkeys(base for one in read for base, _, _ in components(one))


def vectors_behind(vector: FlowVector, seen: set[FlowVector]) -> Iterator[FlowVector]:
    """The leaves, affine vectors and ReLUs that a vector is made of and that are not in ``seen``; added to it."""
    waiting = [base for base, _, _ in components(vector)]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            yield one
            waiting += sources(one)


def new_weights(vector: FlowVector, seen: set[FlowVector]) -> int:
    """Weights, zeros included, of the affine vectors behind a vector that are not in ``seen``; they are added to it."""
    affine_vectors = (one for one in vectors_behind(vector, seen) if isinstance(one, AffineVector))
    return sum(term.weight.size for one in affine_vectors for term in one.terms)


# Batch normalisation behind training, as affine maps that bound every way in which runtimes compute it.
#
# scale · (x − mean) / √(variance + ε) + shift is computed as x·a + c with a = scale / √(variance + ε) and
# c = shift − mean·a, or as it stands, or a is multiplied into the weights before it. Two affine maps, x − mean and
# a·(…) + shift, with terms to spare for the roundings of a, bound all of these (docs/design/models.md).

ROUNDINGS = 8
"""Of a, and of the weights that a runtime multiplies it into, at most."""
EXTREME = 2.0**100
"""A normalisation that stretches or shrinks by more is refused."""


@dataclass(frozen=True)
class Normalisation:
    """What a batch normalisation has learned: a number of each for every input."""

    scale: FloatArray
    shift: FloatArray
    mean: FloatArray
    variance: FloatArray
    epsilon: float

    def of(self, vector: FlowVector, where: str) -> FlowVector:
        """The normalised vector.

        Raises
        ------
        NetworkError
            If the numbers do not fit the vector, or are too extreme for the bound.
        """
        for numbers in (self.scale, self.shift, self.mean, self.variance):
            if numbers.shape != (vector.width,) or not np.isfinite(numbers).all():
                raise NetworkError(f"{where}: {numbers.shape} numbers for {vector.width} inputs, or NaN and infinity")
        pairs = zip(self.scale.tolist(), self.variance.tolist(), strict=True)
        factors = np.array([self._factor(scale, variance, where) for scale, variance in pairs])
        return scaled(scaled(vector, 1.0, -self.mean, spare=ROUNDINGS), factors, self.shift, spare=ROUNDINGS)

    def _factor(self, scale: float, variance: float, where: str) -> float:
        """scale / √(variance + ε), to the nearest float64."""
        with localcontext() as context:
            context.prec = 60
            total = Decimal(variance) + Decimal(self.epsilon)
            if total <= 0:
                raise NetworkError(f"{where}: a variance that is not positive")
            found = float(Decimal(scale) / total.sqrt())
        if found and not 1 / EXTREME < abs(found) < EXTREME:
            raise NetworkError(f"{where} stretches numbers by {found:.0e}")
        return found


# Rows of a layer while it is put together, and its neurons behind a ReLU.

Component = tuple[FlowVector, int]
"""A leaf, affine vector or ReLU, and a place in it."""
Wires = tuple[tuple[int, int], ...]
"""A component as a sum of ± numbers of the present layer: (place, sign), …"""


@dataclass
class LayerRows:
    """Rows of a layer while they are collected."""

    inputs: int
    weights: list[FloatArray] = field(default_factory=list)
    biases: list[FloatArray] = field(default_factory=list)
    count: int = 0

    def add(self, weight: FloatArray, bias: FloatArray) -> list[int]:
        self.weights.append(weight)
        self.biases.append(bias)
        self.count += len(bias)
        return list(range(self.count - len(bias), self.count))

    def add_wires(self, wires: Wires, sign: int) -> int:
        row = np.zeros((1, self.inputs))
        for place, turned in wires:
            row[0, place] = sign * turned
        return self.add(row, np.zeros(1))[0]

    def pad(self, spare: int) -> None:
        if spare:
            self.add(np.zeros((spare, self.inputs)), np.zeros(spare))

    @property
    def weight(self) -> FloatArray:
        return np.concatenate(self.weights)

    @property
    def bias(self) -> FloatArray:
        return np.concatenate(self.biases)


@dataclass
class Neurons:
    """The neurons of a layer with ReLU: relu(± component), each once."""

    rows: LayerRows
    sums: dict[FlowVector, tuple[FloatArray, FloatArray]]
    known: dict[Component, Wires]
    made: dict[tuple[Component, int], int] = field(default_factory=dict)

    def place(self, component: Component, sign: int) -> int:
        if (component, sign) not in self.made:
            self.made[component, sign] = self._add(component, sign)
        return self.made[component, sign]

    def _add(self, component: Component, sign: int) -> int:
        base, i = component
        if base not in self.sums:
            return self.rows.add_wires(self.known[component], sign)
        weight, bias = self.sums[base]
        return self.rows.add(sign * weight[i : i + 1], sign * bias[i : i + 1])[0]


# Layering: the networks, one behind the other, that compute a vector of a dataflow graph.
#
# Layers are scheduled as early as possible. A layer has a ReLU if some vector needs one there; every other value passes
# through it as a pair relu(x), relu(−x). A collision, where two products with one and the same neuron would have to
# become one weight, is resolved by a layer that holds the two values apart.

DEEPEST = 256
"""Layers, at most."""


@dataclass(frozen=True)
class Layering:
    """Factors that are applied in turn, affine where they touch.

    Parameters
    ----------
    columns : what the first one takes, each once.
    spare : zeros that it takes behind them.
    """

    columns: tuple[Any, ...]
    spare: int
    networks: tuple[Network, ...]


def layer_out(output: FlowVector, arithmetic: Arithmetic) -> Layering:
    """The factors that compute the vector.

    Raises
    ------
    NetworkError
        If it is too large, or holds weights that no network can have.
    """
    end = _as_affine(output)
    apart: dict[FlowVector, AffineVector] = {}
    while True:
        attempt = _Attempt(end, apart)
        found = attempt.layers(arithmetic)
        if not attempt.collided:
            return found
        apart |= {vector: _held_apart(vector) for vector in attempt.collided}


def _as_affine(vector: FlowVector) -> AffineVector:
    """The vector as the rows of a last layer: components of affine vectors are rows that are there already."""
    parts = components(vector)
    bases = list(dict.fromkeys(base for base, _, _ in parts if isinstance(base, AffineVector)))
    if isinstance(vector, AffineVector) or len({base for base, _, _ in parts}) != len(bases):
        return vector if isinstance(vector, AffineVector) else affine((np.eye(vector.width), vector))
    rows = {base: np.zeros((len(parts), base.width)) for base in bases}
    for row, (base, place, sign) in enumerate(parts):
        rows[base][row, place] = sign  # type: ignore[index]
    terms = [Term(rows[base] @ term.weight, term.vector) for base in bases for term in base.terms]
    bias = sum((rows[base] @ base.bias for base in bases), np.zeros(len(parts)))
    return AffineVector(vector.width, tuple(terms), np.asarray(bias), max(base.spare for base in bases))


def _held_apart(vector: AffineVector) -> AffineVector:
    """The same sum, over copies of what it reads: a layer more, in which every value has a neuron of its own."""
    copies = tuple(Term(term.weight, affine((np.eye(term.vector.width), term.vector))) for term in vector.terms)
    return AffineVector(vector.width, copies, vector.bias, vector.spare)


@dataclass
class _Attempt:
    """One attempt: vectors are put into layers, and layers are written down one after the other."""

    end: AffineVector
    apart: dict[FlowVector, AffineVector]
    layer_of: dict[FlowVector, int] = field(default_factory=dict)
    last_use: dict[FlowVector, int] = field(default_factory=dict)
    spare: dict[int, int] = field(default_factory=dict)
    collided: list[AffineVector] = field(default_factory=list)
    size: int = 0

    def layers(self, arithmetic: Arithmetic) -> Layering:
        self._place()
        depth = self.layer_of[self.end]
        if depth > DEEPEST:
            raise NetworkError(f"the model is {depth} layers deep", fix=f"lcifr reads at most {DEEPEST}")
        layers: list[list[FlowVector]] = [[] for _ in range(depth + 1)]
        for vector, at in self.layer_of.items():
            layers[at].append(vector)
        columns, known = self._columns(layers[0])
        width = len(columns) + self.spare.get(1, 0)
        factors: list[list[tuple[FloatArray, FloatArray]]] = [[]]
        for layer, here in enumerate(layers[1:], 1):
            has_relu = any(isinstance(vector, ReluVector) for vector in here)
            make = self._relu_layer if has_relu else self._linear_layer
            rows, known = make(layer, here, known, width)
            rows.pad(0 if layer == depth else self.spare.get(layer + 1, 0))
            width = rows.count
            factors[-1].append((rows.weight, rows.bias))
            if not has_relu and layer < depth:
                factors.append([])
        networks = tuple(Network.from_arrays(one).of_runtime(arithmetic) for one in factors)
        return Layering(columns, self.spare.get(1, 0), networks)

    def _place(self) -> None:
        """The layer of every vector, and the last layer that reads it."""
        for vector in self._in_order():
            bases = list(sources(self._seen(vector)))
            latest = max((self.layer_of[base] for base in bases), default=0)
            layer = 0 if isinstance(vector, LeafVector) else latest + 1
            if isinstance(vector, AffineVector):
                self.spare[layer] = max(self.spare.get(layer, 0), vector.spare)
            elif latest and all(isinstance(base, AffineVector) for base in bases if self.layer_of[base] == latest):
                layer = latest  # a ReLU of sums that are made in this very layer
            self.layer_of[vector] = layer
            for base in bases:
                self.last_use[base] = max(self.last_use.get(base, 0), layer)

    def _in_order(self) -> list[FlowVector]:
        """Each vector behind what it is made of; without recursion, since files may be deep."""
        order: dict[FlowVector, None] = {}
        stack: list[tuple[FlowVector, bool]] = [(self.end, False)]
        while stack:
            vector, ready = stack.pop()
            if ready:
                order[vector] = None
            elif vector not in order:
                stack.append((vector, True))
                stack += [(source, False) for source in sources(self._seen(vector)) if source not in order]
        return list(order)

    def _seen(self, vector: FlowVector) -> FlowVector:
        return self.apart.get(vector, vector)

    def _columns(self, leaves: list[FlowVector]) -> tuple[tuple[Any, ...], dict[Component, Wires]]:
        given = [(one, one.columns) for one in leaves if isinstance(one, LeafVector)]
        columns = tuple(dict.fromkeys(column for _, some in given for column in some))
        place = {column: i for i, column in enumerate(columns)}
        known: dict[Component, Wires] = {
            (one, i): ((place[column], 1),) for one, some in given for i, column in enumerate(some)
        }
        return columns, known

    def _linear_layer(
        self, layer: int, here: list[FlowVector], known: dict[Component, Wires], width: int
    ) -> tuple[LayerRows, dict[Component, Wires]]:
        rows = LayerRows(width)
        after: dict[Component, Wires] = {}
        for vector in here:
            places = rows.add(*self._sum(vector, known, width))
            after |= {(vector, i): ((place, 1),) for i, place in enumerate(places)}
        for component, wires in known.items():
            if self.last_use.get(component[0], 0) > layer:
                after[component] = ((rows.add_wires(wires, 1), 1),)
        self._grow(rows)
        return rows, after

    def _relu_layer(
        self, layer: int, here: list[FlowVector], known: dict[Component, Wires], width: int
    ) -> tuple[LayerRows, dict[Component, Wires]]:
        sums: dict[FlowVector, tuple[FloatArray, FloatArray]] = {
            vector: self._sum(vector, known, width) for vector in here if isinstance(vector, AffineVector)
        }
        neurons = Neurons(LayerRows(width), sums, known)
        after: dict[Component, Wires] = {}
        for vector in (one for one in here if isinstance(one, ReluVector)):
            for i, (base, at, sign) in enumerate(components(vector.of)):
                after[vector, i] = ((neurons.place((base, at), sign), 1),)
        for component in [*((base, i) for base in sums for i in range(base.width)), *known]:
            if self.last_use.get(component[0], 0) > layer:
                signs = (1,) if isinstance(component[0], ReluVector) else (1, -1)
                after[component] = tuple((neurons.place(component, sign), sign) for sign in signs)
        self._grow(neurons.rows)
        return neurons.rows, after

    def _grow(self, rows: LayerRows) -> None:
        self.size += rows.count * rows.inputs
        if self.size > LARGEST:
            raise NetworkError(f"the model has more than {LARGEST} weights as layers", fix="use a smaller model")

    def _sum(self, vector: FlowVector, known: dict[Component, Wires], width: int) -> tuple[FloatArray, FloatArray]:
        """The rows of an affine vector over the numbers of the layer before."""
        seen = self._seen(vector)
        assert isinstance(vector, AffineVector)
        assert isinstance(seen, AffineVector)
        if seen.width * width > LARGEST:
            raise NetworkError(f"a layer of {seen.width} times {width} weights", fix=f"at most {LARGEST} can be read")
        weight, taken = np.zeros((seen.width, width)), np.zeros((seen.width, width), np.bool_)
        collided = False
        for term in seen.terms:
            for i, (base, at, sign) in enumerate(components(term.vector)):
                for place, turned in known[base, at]:
                    there = term.weight[:, i] != 0
                    collided |= bool((taken[:, place] & there).any())
                    taken[:, place] |= there
                    weight[:, place] += sign * turned * term.weight[:, i]
        if collided:
            self.collided.append(vector)
        return weight, seen.bias
