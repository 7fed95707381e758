"""Compile the kernels ahead of the first proof: ``python -m lcifr.prove.networks.kernel``."""

from __future__ import annotations

import numpy as np

from lcifr.models.network import Network
from lcifr.prove import radius
from lcifr.regions.region import Region

if __name__ == "__main__":
    one = np.ones((1, 1))
    for depth in (1, 2):  # one kernel for one hidden layer, one for more
        network = Network.from_arrays([(one, [0.0])] * (depth + 1))
        radius(network, one, Region.from_arrays(-one, one))
