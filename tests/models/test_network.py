"""The network: what it accepts and refuses, and that its error bound holds in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from lcifr.errors import NetworkError
from lcifr.models.network import Network, compose
from tests.models.exact import exactly, random_network


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6, 1e-160])
@pytest.mark.parametrize("sizes", [[3, 2], [4, 6, 2], [3, 5, 4, 2]])
def test_the_error_bound_covers_exact_arithmetic(sizes: list[int], scale: float) -> None:
    network = random_network(1, sizes, scale)
    points = np.random.default_rng(2).normal(size=(20, sizes[0])) * 10
    values, errors = network(points), network.error(points)
    for point, value, error in zip(points, values, errors, strict=True):
        for found, true, bound in zip(value, exactly(network, point), error, strict=True):
            assert abs(Fraction(float(found)) - true) <= Fraction(float(bound))


@pytest.mark.parametrize("sizes", [[3, 2], [4, 6, 2], [3, 5, 4, 2]])
def test_exact_evaluation_rounds_nothing(sizes: list[int]) -> None:
    network = random_network(7, sizes)
    for point in np.random.default_rng(8).normal(size=(5, sizes[0])) * 10.0 ** np.arange(-2, 3)[:, None]:
        assert list(network.exactly(point.tolist())) == exactly(network, point)
    with pytest.raises(NetworkError, match="the network takes"):
        network.exactly([0.0] * (sizes[0] + 1))


def test_composition_is_the_composition() -> None:
    encoder, classifier = random_network(3, [5, 7, 4]), random_network(4, [4, 6, 2])
    both = compose(encoder, classifier)
    points = np.random.default_rng(5).normal(size=(30, 5))
    assert both.depth == 2
    assert np.allclose(both(points), classifier(encoder(points)), rtol=0, atol=1e-12)
    with pytest.raises(NetworkError, match="gives 4 values"):
        compose(encoder, encoder)


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
    with pytest.raises(NetworkError, match="changed since it was saved"):
        Network.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(NetworkError, match="not a saved network"):
        Network.load(path)


def test_equal_networks_have_equal_hashes_also_with_negative_zero() -> None:
    assert Network.from_arrays([([[0.0]], [1.0])]).hash == Network.from_arrays([([[-0.0]], [1.0])]).hash
