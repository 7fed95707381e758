"""Generated questions of every kind for the ladder: a world is a few small numbers, printed where a law is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from lcifr.models.network import Network
from tests.prove.instances import Instance, random_network, random_region

Arrays = list[tuple[np.ndarray, np.ndarray]]


def _dead(rng: np.random.Generator, layers: Arrays) -> None:
    """Neurons that are never on, neurons that are always on, and some that nobody listens to."""
    for (_, bias), (after, _) in pairwise(layers):
        bias += rng.choice([0.0, -100.0, 100.0], size=bias.shape, p=[0.6, 0.2, 0.2])
        after[:, rng.random(after.shape[1]) < 0.2] = 0.0


def _zeros(rng: np.random.Generator, layers: Arrays) -> None:
    for weight, bias in layers:
        weight *= rng.random(weight.shape) < 0.5
        bias *= rng.random(bias.shape) < 0.5


def _twins(rng: np.random.Generator, layers: Arrays) -> None:
    """Neurons that are copies of their neighbour, or its opposite: bounds tie, and kinks meet."""
    for weight, bias in layers[:-1]:
        for j in range(1, len(bias)):
            if rng.random() < 0.5:
                sign = rng.choice([-1.0, 1.0])
                weight[j], bias[j] = sign * weight[j - 1], sign * bias[j - 1]


def _sizes(rng: np.random.Generator, layers: Arrays) -> None:
    """Every weight and bias a millionth to a million times as large."""
    for part in (part for pair in layers for part in pair):
        part *= 10.0 ** rng.uniform(-6, 6, size=part.shape)


def _scaled(rng: np.random.Generator, layers: Arrays) -> None:
    """Layers of one size each, a millionth to a million; the values that come out are ordinary again."""
    total = 1.0
    for weight, bias in layers[:-1]:
        size = 10.0 ** rng.uniform(-6, 6)
        total *= size
        weight *= size
        bias *= total
    layers[-1][0][:] /= total


TRAITS: dict[str, Callable[[np.random.Generator, Arrays], None]] = {
    "plain": lambda rng, layers: None,
    "ties": lambda rng, layers: None,  # coarse numbers: see :meth:`World.build`
    "dead": _dead,
    "zeros": _zeros,
    "twins": _twins,
    "scaled": _scaled,
    "sizes": _sizes,
}
"""What is special about the weights."""


@dataclass(frozen=True)
class World:
    """What a question looks like.

    Parameters
    ----------
    hidden : neurons of each hidden layer. trait : one of :data:`TRAITS`.
    numerics, groups : numbers, and categories of each choice. rows, cells : linear rows of each cell, and cells.
    """

    seed: int
    hidden: tuple[int, ...]
    trait: str = "plain"
    numerics: int = 2
    groups: tuple[int, ...] = ()
    rows: int = 0
    cells: int = 1
    people: int = 1

    def build(self) -> Instance:
        """Network, region and two directions; the same ones whenever it is asked."""
        rng = np.random.default_rng([self.seed, len(self.hidden), *map(ord, self.trait)])
        coarse, outputs = self.trait == "ties", 2
        drawn = random_network(rng, [self.numerics + sum(self.groups), *self.hidden, outputs], coarse)
        layers = [(layer.weight.copy(), layer.bias.copy()) for layer in drawn.layers]
        TRAITS[self.trait](rng, layers)
        region = random_region(rng, self.people, self.numerics, list(self.groups), self.rows, self.cells, coarse)
        directions = np.round(rng.normal(size=(2, outputs)) * 2) / 2
        return Instance(Network.from_arrays(layers), region, directions)


WIDTHS = {1: 6, 2: 4, 3: 3, 4: 2}
"""The widest layers that enumeration takes in its stride, by depth."""


@st.composite
def tiny_worlds(draw: st.DrawFn, depth: int) -> World:
    """Small enough for enumeration: a few hundred patterns of ReLUs."""
    numerics = draw(st.integers(0, 3))
    groups = draw(st.lists(st.integers(1, 3), min_size=0 if numerics else 1, max_size=2))
    return World(
        seed=draw(st.integers(0, 10**6)),
        hidden=tuple(draw(st.lists(st.integers(1, WIDTHS[depth]), min_size=depth, max_size=depth))),
        trait=draw(st.sampled_from(sorted(TRAITS))),
        numerics=numerics,
        groups=tuple(groups),
        rows=draw(st.sampled_from([0, 0, 1, 2])),
        cells=draw(st.sampled_from([1, 1, 2])),
        people=draw(st.integers(1, 2)),
    )
