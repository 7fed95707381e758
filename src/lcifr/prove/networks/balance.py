"""Networks balanced by powers of two, so that no layer's values drown in the tolerances of a program.

ReLU passes a positive factor on: a layer may be multiplied by a power of two and the next one divided by it. Nothing is
rounded, so it is the same function, and bounds on it are bounds on the network that was asked about. Layers of ordinary
size stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.network import LARGEST, Network
from lcifr.prove.answer import FloatArray
from lcifr.regions.region import LinearRows

SMALL = 2.0**-10
"""Layers whose values are below this for inputs of size 1 are made larger."""


@dataclass(frozen=True, eq=False)
class Balanced:
    """A network that equals the one asked about, and (neurons,) by how much its hidden neurons are larger."""

    network: Network
    factor: FloatArray


@dataclass(frozen=True)
class _Named:
    """A network by its hash."""

    hash: str
    network: Network = field(compare=False)


def balance(network: Network) -> Balanced:
    """The network with layers of tiny values made larger; kept for the next chunk or call."""
    return _balanced(_Named(network.hash, network))


@lru_cache(maxsize=16)
def _balanced(named: _Named) -> Balanced:
    network, hidden = named.network, named.network.layers[:-1]
    factors = _factors(network)
    each = np.concatenate([np.full(len(layer.bias), factor) for layer, factor in zip(hidden, factors, strict=True)])
    before, behind = [1.0, *factors], [*factors, 1.0]
    scaled = [
        (layer.weight * (after / left), layer.bias * after)
        for layer, left, after in zip(network.layers, before, behind, strict=True)
    ]
    same = all(
        np.array_equal(weight / (after / left), layer.weight) and np.array_equal(bias / after, layer.bias)
        for (weight, bias), layer, left, after in zip(scaled, network.layers, before, behind, strict=True)
    )
    as_it_is = Balanced(network, np.ones(len(each)))
    if (each == 1.0).all() or not same:  # where something underflows it would be another function
        return as_it_is
    try:
        return Balanced(Network.from_arrays(scaled), each)
    except NetworkError:  # weights beyond what a network may have
        return as_it_is


def _factors(network: Network) -> list[float]:
    """The power of two for each hidden layer that brings its largest values to about 1; 1 for ordinary layers."""
    size, factors = np.ones(network.inputs), []
    for layer in network.layers[:-1]:
        size = np.abs(layer.weight) @ size + np.abs(layer.bias)
        top = float(size.max())
        factors.append(2.0 ** -np.floor(np.log2(top)) if 2.0**-200 < top < SMALL else 1.0)
    return factors


def to_size(rows: LinearRows) -> LinearRows:
    """The same rows with largest coefficients between 1 and 2: multiplied by powers of two, which rounds nothing."""
    size = np.abs(rows.G).max(1, initial=0.0)
    shift = np.where(size > 0, 1 - np.frexp(np.where(size > 0, size, 1.0))[1], 0)
    matrix, level = np.ldexp(rows.G, shift[:, None]), np.ldexp(rows.g, shift)
    same = (np.ldexp(matrix, -shift[:, None]) == rows.G).all(1) & (np.ldexp(level, -shift) == rows.g).all(0)
    fine = same & (np.abs(level) <= LARGEST).all(0)  # denormals and giants stay as they are
    return LinearRows(np.where(fine[:, None], matrix, rows.G), np.where(fine, level, rows.g))
