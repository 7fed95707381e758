"""The counterexample search as one call over a whole region."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike

from lcifr.learn.encoder import find_counterexamples
from lcifr.learn.region_tensors import RegionTensors
from lcifr.models.network import Network
from lcifr.prove.networks.linear_bounds import tensors
from lcifr.regions.region import FloatArray, Region


def similar_people(network: Network, x: ArrayLike, region: Region, *, seed: int = 0) -> FloatArray:
    """(people, features) x* of everybody ``x`` (people, features) of a region; NaN where none was found."""
    index = torch.arange(region.people)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        latent = torch.as_tensor(network(x))
        found = find_counterexamples(RegionTensors.of(region), tensors(network), latent, index, generator)
    return np.where(found.valid.numpy()[:, None], found.points.numpy(), np.nan)
