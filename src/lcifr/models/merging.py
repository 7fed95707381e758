"""Merging of factors into the one network that proofs work on, and a bound on what rounding its weights does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import NetworkError
from lcifr.models.chain import passed_on
from lcifr.models.network import FLOOR, Network, compose, gamma
from lcifr.regions.region import Region

FloatArray = NDArray[np.float64]


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
