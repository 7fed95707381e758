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
from lcifr.prove.networks.linear_bounds.cell_batch import Layers, tensors, view_cell
from lcifr.prove.networks.linear_bounds.linear import backward, hidden_lines
from lcifr.regions.region import FloatArray, Region


@dataclass(frozen=True)
class LatentReach:
    """Latents of people, and bounds on the distance of anybody similar.

    Parameters
    ----------
    latent : (people, outputs) z = f(x). radius : (people,) ε ≥ ‖f(x′) − z‖∞ for every similar x′ and for x itself.
    """

    latent: FloatArray
    radius: FloatArray


def bound_radius(network: Network, x: FloatArray, region: Region) -> LatentReach:
    """z and ε of people ``x`` (people, features), by plain bounds on every cell of their region."""
    latent, rounding_error = network(x), network.error(x)
    layers = tensors(network)
    farthest = np.nextafter(rounding_error.max(1), np.inf)  # f(x) itself in exact arithmetic
    for index in index_chunks(len(x)):
        rows = index.numpy()
        farthest[rows] = np.maximum(farthest[rows], _reach(layers, latent[rows], region.take(rows)))
    return LatentReach(latent, farthest)


@torch.no_grad()
def _reach(layers: Layers, latent: FloatArray, region: Region) -> FloatArray:
    unit = torch.eye(latent.shape[1], dtype=torch.float64)
    signs = torch.cat([unit, -unit])
    center = np.concatenate([latent, -latent], axis=1)
    result = np.zeros(len(latent))
    for cell in region.cells:
        who = np.flatnonzero(cell.present)
        if not len(who):
            continue
        batch = view_cell(layers, cell.take(who)).batch
        directions = signs if batch.rows is None else signs.expand(len(who), -1, -1)
        rows = None if batch.rows is None else row_multipliers(batch, directions)
        upper = backward(batch, directions, hidden_lines(batch), rows=rows).upper.numpy()
        result[who] = np.maximum(result[who], np.nextafter(upper - center[who], np.inf).max(1))
    return result
