"""Compile the kernel now, so that the first proof need not wait for it: ``python -m lcifr.prove.networks.kernel``."""

from __future__ import annotations

import numpy as np

from lcifr.models.network import Network
from lcifr.prove import radius
from lcifr.regions.region import Region

if __name__ == "__main__":
    one = np.ones((1, 1))
    radius(Network.from_arrays([(one, [0.0]), (one, [0.0])]), one, Region.from_arrays(-one, one))
