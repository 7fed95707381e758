"""auto_LiRPA's CROWN on the same weights and people, where it is installed: a plain linear bound on the box alone.

It knows no one-hot choices: a free category becomes the interval [0, 1] for each of its columns.
"""

from __future__ import annotations

import importlib
import time

import numpy as np
import torch
from benchmarks.engine.recipe import Case
from torch import nn


def missing() -> str | None:
    """Why the package cannot be used, or None; it is no dependency of ours, and old releases need an old torch."""
    try:
        importlib.import_module("auto_LiRPA")
    except ImportError as problem:
        return str(problem)
    return None


def seconds(case: Case, index: np.ndarray) -> float:
    """Seconds per person for upper and lower bounds of all outputs."""
    from auto_LiRPA import BoundedModule, BoundedTensor  # type: ignore[import-not-found]
    from auto_LiRPA.perturbations import PerturbationLpNorm  # type: ignore[import-not-found]

    x = torch.tensor(case.x[index])
    (cell,) = case.region.take(index).cells
    lower, upper = x.clone(), x.clone()
    lower[:, cell.numeric], upper[:, cell.numeric] = torch.tensor(cell.lower), torch.tensor(cell.upper)
    for choice in cell.choices:
        allowed = torch.tensor(choice.allowed.astype(np.float64))
        lower[:, choice.columns] = allowed * (allowed.sum(1, keepdim=True) == 1)
        upper[:, choice.columns] = allowed
    parts: list[nn.Module] = []
    for layer in case.encoder.layers:
        linear = nn.Linear(layer.weight.shape[1], layer.weight.shape[0]).double()
        linear.weight.data, linear.bias.data = torch.tensor(layer.weight), torch.tensor(layer.bias)
        parts += [linear, nn.ReLU()]
    bounded = BoundedModule(nn.Sequential(*parts[:-1]), x[:2])
    start = time.perf_counter()
    bounded.compute_bounds(x=(BoundedTensor(x, PerturbationLpNorm(norm=np.inf, x_L=lower, x_U=upper)),), method="CROWN")
    return (time.perf_counter() - start) / len(index)
