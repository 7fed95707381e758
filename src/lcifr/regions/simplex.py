"""Euclidean projection onto the probability simplex of the allowed categories, batched, on any torch device."""

from __future__ import annotations

import torch
from torch import Tensor


def project_onto_simplex(values: Tensor, allowed: Tensor) -> Tensor:
    """Each row's projection onto {p ≥ 0, Σp = 1, p = 0 where not allowed}, by sorting (Held et al. 1974).

    Parameters
    ----------
    values, allowed : (rows, categories), floats and booleans; every row allows at least one category.
    """
    masked = torch.where(allowed, values, -torch.inf)
    descending = masked.sort(1, descending=True).values
    finite = torch.where(torch.isinf(descending), 0.0, descending)
    counts = torch.arange(1, values.shape[1] + 1, dtype=values.dtype, device=values.device)
    shifts = (finite.cumsum(1) - 1.0) / counts
    last = ((descending - shifts > 0).sum(1) - 1).clamp(min=0)
    return torch.where(allowed, values - shifts.gather(1, last[:, None]), 0.0).clamp(min=0)
