"""Rows of a layer while it is put together, and its neurons behind a ReLU."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lcifr.models.dataflow.vectors import FloatArray, FlowVector

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
