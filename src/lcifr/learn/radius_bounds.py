"""Latent radius of every person by plain linear bounds: sound, rounded outward, fast enough for tuning.

The exact radius is `lcifr.prove`'s; this one is somewhat wider and costs microseconds a person.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from lcifr.learn.region_tensors import row_multipliers
from lcifr.learn.training_loop import index_chunks
from lcifr.models.network import Network
from lcifr.prove.networks.linear_bounds import Layers, backward, hidden_lines, tensors, view_cell
from lcifr.regions.region import FloatArray, Region


@dataclass(frozen=True)
class LatentReach:
    """Latents of people, and bounds on the distance of anybody similar.

    Parameters
    ----------
    latent : (people, outputs) z = f(x). radius : (people,) ε ≥ ‖f(x′) − z‖∞ for every similar x′ and for x itself.
    lower, upper : (people, outputs) the box that holds the same.
    """

    latent: FloatArray
    radius: FloatArray
    lower: FloatArray
    upper: FloatArray

    @classmethod
    def of_box(cls, latent: FloatArray, lower: FloatArray, upper: FloatArray) -> LatentReach:
        """The smallest ball around z that holds the box."""
        farthest = np.nextafter(np.maximum(upper - latent, latent - lower).max(1), np.inf)
        return cls(latent, farthest, lower, upper)


def bound_radius(network: Network, x: FloatArray, region: Region) -> LatentReach:
    """z and ε of people ``x`` (people, features), by plain bounds on every cell of their region."""
    latent, rounding_error = network(x), network.error(x)
    layers = tensors(network)
    ends = np.concatenate([latent, -latent], axis=1) + np.tile(rounding_error, 2)  # f(x) itself in exact arithmetic
    for index in index_chunks(len(x)):
        rows = index.numpy()
        ends[rows] = np.maximum(ends[rows], _ends(layers, region.take(rows)))
    width = network.outputs
    return LatentReach.of_box(latent, -ends[:, width:], ends[:, :width])


@torch.no_grad()
def _ends(layers: Layers, region: Region) -> FloatArray:
    """(people, 2·outputs) upper bounds of every output, then of every negative one; −∞ where nobody is."""
    outputs = len(layers[-1][1])
    unit = torch.eye(outputs, dtype=torch.float64)
    signs = torch.cat([unit, -unit])
    result = np.full((region.people, 2 * outputs), -np.inf)
    for cell in region.cells:
        who = np.flatnonzero(cell.present)
        if not len(who):
            continue
        batch = view_cell(layers, cell.take(who)).batch
        directions = signs if batch.rows is None else signs.expand(len(who), -1, -1)
        rows = None if batch.rows is None else row_multipliers(batch, directions)
        upper = backward(batch, directions, hidden_lines(batch), rows=rows).upper.numpy()
        result[who] = np.maximum(result[who], upper)
    return result
