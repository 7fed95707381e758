"""Layering: the networks, one behind the other, that compute a vector of a dataflow graph.

Layers are scheduled as early as possible. A layer has a ReLU if some vector needs one there; every other value passes
through it as a pair relu(x), relu(−x). A collision, where two products with one and the same neuron would have to
become one weight, is resolved by a layer that holds the two values apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.dataflow.layer_rows import Component, LayerRows, Neurons, Wires
from lcifr.models.dataflow.vectors import (
    LARGEST,
    AffineVector,
    FloatArray,
    FlowVector,
    LeafVector,
    ReluVector,
    Term,
    affine,
    components,
    sources,
)
from lcifr.models.network import Network

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
