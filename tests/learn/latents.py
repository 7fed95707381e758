"""Latent vectors with labels and radii, drawn at random."""

from __future__ import annotations

import numpy as np


def latent(people: int, *, kind: str = "binary", seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, labels, radii. The first coordinate tells most; the second is a lure with a large radius behind it."""
    draw = np.random.default_rng(seed)
    z = draw.normal(size=(people, 4))
    drive = 2 * z[:, 0] + z[:, 1] - 0.5 * z[:, 2] + 0.3 * draw.normal(size=people)
    radius = draw.uniform(0.05, 0.4, people)
    if kind == "number":
        return z, 10 * drive + 100, radius
    if kind == "classes":
        return z, np.array(["a", "b", "c"])[np.digitize(drive, [-1, 1])], radius
    return z, (drive > 0).astype(int), radius
