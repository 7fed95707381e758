"""The network: what it accepts and refuses, and that its error bound holds in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from lcifr.errors import NetworkError
from lcifr.models.network import Network, compose


def random_network(seed: int, sizes: list[int], scale: float = 1.0) -> Network:
    rng = np.random.default_rng(seed)
    return Network.from_arrays([(rng.normal(size=(b, a)) * scale, rng.normal(size=b)) for a, b in pairwise(sizes)])


def exactly(network: Network, point: Iterable[float | Fraction]) -> list[Fraction]:
    value = [Fraction(x) for x in point]
    for index, layer in enumerate(network.layers):
        rows = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
        value = [sum((Fraction(w) * v for w, v in zip(row, value, strict=True)), Fraction(b)) for row, b in rows]
        if index < network.depth:
            value = [max(v, Fraction(0)) for v in value]
    return value


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6, 1e-160])
@pytest.mark.parametrize("sizes", [[3, 2], [4, 6, 2], [3, 5, 4, 2]])
def test_the_error_bound_covers_exact_arithmetic(sizes: list[int], scale: float) -> None:
    network = random_network(1, sizes, scale)
    points = np.random.default_rng(2).normal(size=(20, sizes[0])) * 10
    values, errors = network(points), network.error(points)
    for point, value, error in zip(points, values, errors, strict=True):
        for found, true, bound in zip(value, exactly(network, point), error, strict=True):
            assert abs(Fraction(float(found)) - true) <= Fraction(float(bound))


def test_composition_is_the_composition() -> None:
    encoder, classifier = random_network(3, [5, 7, 4]), random_network(4, [4, 6, 2])
    both = compose(encoder, classifier)
    points = np.random.default_rng(5).normal(size=(30, 5))
    assert both.depth == 2
    assert np.allclose(both(points), classifier(encoder(points)), rtol=0, atol=1e-12)
    with pytest.raises(NetworkError, match="gives 4 values"):
        compose(encoder, encoder)


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


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e101])
def test_numbers_beyond_the_analysis_are_refused(bad: float) -> None:
    with pytest.raises(NetworkError, match="layer 0"):
        Network.from_arrays([([[1.0, bad]], [0.0])])


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(NetworkError, match="layer 1 takes 3"):
        Network.from_arrays([(np.ones((2, 2)), np.ones(2)), (np.ones((1, 3)), np.ones(1))])
    with pytest.raises(NetworkError, match="at least one"):
        Network.from_arrays([])


def test_saving_keeps_every_bit_and_a_changed_file_is_refused(tmp_path: Path) -> None:
    network = random_network(6, [3, 4, 2])
    path = tmp_path / "network.safetensors"
    network.save(path)
    again = Network.load(path)
    assert again.hash == network.hash
    assert all((a.weight == b.weight).all() for a, b in zip(network.layers, again.layers, strict=True))
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(NetworkError, match="not those that were saved"):
        Network.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(NetworkError, match="not a saved network"):
        Network.load(path)


def test_equal_networks_have_equal_hashes_also_with_negative_zero() -> None:
    assert Network.from_arrays([([[0.0]], [1.0])]).hash == Network.from_arrays([([[-0.0]], [1.0])]).hash
