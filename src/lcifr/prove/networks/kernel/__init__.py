"""Bounds, search and branch-and-bound as machine code: here for one hidden layer, in :mod:`deep` for any number.

Networks without hidden layers come here by way of :mod:`lcifr.prove.networks.affine`. numba is imported with the first
question, not before: that takes a good part of a second.
"""

from __future__ import annotations

import numpy as np

from lcifr.models.network import LARGEST, Network
from lcifr.regions.region import LinearRows, Region

CHUNK = 500_000
"""People × (directions + features) of one chunk: a few MB, so that memory does not grow with the people."""


def covers(network: Network, region: Region, device: str | None) -> bool:
    """Whether the kernel can answer: hidden layers, on the CPU, no giants in linear rows."""
    shape = network.depth >= 1 and device in (None, "cpu")
    rows = [cell.rows for cell in region.cells if cell.rows is not None]
    return shape and all(_fit(network, part) for part in rows)


def _fit(network: Network, rows: LinearRows) -> bool:
    """Whether the network with these rows as further neurons (:mod:`penalty`) is one that is not refused."""
    small = np.abs(rows.G).sum() + len(rows.G) <= LARGEST / 128 and network.sizes.max() <= LARGEST / 2
    return bool(small and (np.abs(rows.g) <= LARGEST).all())
