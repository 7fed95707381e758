"""Torch modules: what is read computes the same, what is not is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from lcifr.errors import NetworkError
from lcifr.models.network import Network


def test_a_torch_module_is_read_and_affine_layers_without_relu_are_merged() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Flatten(), nn.Linear(4, 6), nn.Dropout(0.5), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))
    module.double().eval()
    network = Network.from_torch(module)
    points = np.random.default_rng(0).normal(size=(10, 4))
    assert network.depth == 1
    assert np.allclose(network(points), module(torch.tensor(points)).detach().numpy(), atol=1e-12)


@pytest.mark.parametrize(
    ("module", "word"),
    [
        (nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1)), "Tanh"),
        (nn.Sequential(nn.ReLU(), nn.Linear(2, 1)), "ReLU"),
        (nn.Sequential(nn.Linear(2, 2), nn.ReLU()), "last layer"),
        (nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.ReLU(), nn.Linear(2, 1)), "BatchNorm1d"),
    ],
)
def test_what_cannot_be_represented_is_refused_by_name(module: nn.Module, word: str) -> None:
    with pytest.raises(NetworkError, match=word):
        Network.from_torch(module)
