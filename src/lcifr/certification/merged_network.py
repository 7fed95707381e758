"""The merged network h ∘ f, with a bound on the rounding error of merging."""

from __future__ import annotations

import numpy as np

from lcifr.certification.query import FloatArray
from lcifr.errors import NetworkError
from lcifr.models.network import FLOOR, Network, compose, gamma
from lcifr.regions.region import Region


def merge(encoder: Network, model: Network) -> Network:
    """model ∘ encoder as one network; see :func:`merging_error` for what the rounding of its weights can do."""
    if encoder.outputs != model.inputs:
        raise NetworkError(
            f"the encoder gives {encoder.outputs} numbers, the model takes {model.inputs}",
            fix="audit a model that was trained on this encoder's latents",
        )
    return compose(encoder, model)


def merging_error(encoder: Network, model: Network, region: Region) -> FloatArray:
    """(people, outputs) how far merged and unmerged networks can differ at any point of a person's region.

    The merged layer's weights and biases are rounded sums of products, each off by at most γ·|W₂||W₁| and by what
    underflows, less than γ·FLOOR. That is multiplied by how large the hidden values before it can be (by absolute
    values alone: crude, and still a millionth of any margin), and passes through the rest of the model. The sums here
    underflow too, which is what FLOOR is for at every layer.
    """
    size = _sizes(region)
    for layer in encoder.layers[:-1]:
        size = (size @ np.abs(layer.weight).T + np.abs(layer.bias) + FLOOR) * (1.0 + 1e-12)
    last, first = encoder.layers[-1], model.layers[0]
    reach = (size @ np.abs(last.weight).T + np.abs(last.bias) + FLOOR) @ np.abs(first.weight).T + np.abs(first.bias)
    unit = 2 * gamma(encoder.outputs + 4)
    error = unit * (reach + FLOOR * (1.0 + size.sum(1, keepdims=True)))
    for layer in model.layers[1:]:
        error = (error @ np.abs(layer.weight).T + unit * FLOOR) * (1.0 + 1e-12)
    return np.asarray(error * (1.0 + 1e-9))


def _sizes(region: Region) -> FloatArray:
    """(people, features) the largest absolute value of every feature in the region."""
    size = np.zeros((region.people, region.features))
    for cell in region.cells:
        far = np.where(cell.present[:, None], np.maximum(np.abs(cell.lower), np.abs(cell.upper)), 0.0)
        size[:, cell.numeric] = np.maximum(size[:, cell.numeric], far)
        for choice in cell.choices:
            size[:, choice.columns] = 1.0
    return size
