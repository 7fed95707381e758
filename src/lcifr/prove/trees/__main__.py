"""Compile the search over trees ahead of the first proof: ``python -m lcifr.prove.trees``."""

from __future__ import annotations

import numpy as np

from lcifr.models.trees import NumberNode, TreeLeaf, Trees
from lcifr.prove import maximize
from lcifr.regions.region import Region

if __name__ == "__main__":
    one = np.ones((1, 1))
    trees = Trees.of(1, [0.0], [NumberNode(0, 0.0, TreeLeaf((0.0,)), TreeLeaf((1.0,)))])
    maximize(trees, one, Region.from_arrays(-one, one), method="branch")
