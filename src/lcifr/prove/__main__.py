"""Compile all kernels ahead of the first proof: ``python -m lcifr.prove``."""

from __future__ import annotations

import numpy as np

from lcifr.models.network import Network
from lcifr.models.trees import NumberNode, TreeLeaf, Trees
from lcifr.prove import maximize, radius
from lcifr.regions.region import Region

if __name__ == "__main__":
    one = np.ones((1, 1))
    region = Region.from_arrays(-one, one)
    for depth in (1, 2):  # one kernel for one hidden layer, one for more
        network = Network.from_arrays([(one, [0.0])] * (depth + 1))
        radius(network, one, region)
    trees = Trees.of(1, [0.0], [NumberNode(0, 0.0, TreeLeaf((0.0,)), TreeLeaf((1.0,)))])
    maximize(trees, one, region, method="branch")
