"""Generated small networks and regions, and tiny ones whose answers were computed by hand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lcifr.models.network import Network
from lcifr.regions.region import Region


@dataclass(frozen=True)
class Instance:
    """A question: directions are (k, outputs), alike for all people of the region."""

    network: Network
    region: Region
    directions: np.ndarray


@dataclass(frozen=True)
class Known:
    """A question about one person and one direction, with its answer; −inf for an empty region."""

    name: str
    instance: Instance
    answer: float


def random_network(rng: np.random.Generator, sizes: list[int], coarse: bool = False) -> Network:
    """Weights of size about 1; coarse ones are multiples of ¼, so that ties, zeros and ReLUs exactly at 0 happen."""
    layers = []
    for inputs, outputs in pairwise(sizes):
        weight = rng.normal(size=(outputs, inputs)) / np.sqrt(max(inputs, 1)) * 1.5
        bias = rng.normal(size=outputs) * 0.5
        if coarse:
            weight, bias = np.round(weight * 4) / 4, np.round(bias * 4) / 4
        layers.append((weight, bias))
    return Network.from_arrays(layers)


def random_region(
    rng: np.random.Generator, people: int, numerics: int, groups: list[int], rows: int, cells: int, coarse: bool
) -> Region:
    """A union of cells over ``numerics`` columns followed by one-hot groups; some columns fixed, some cells empty."""
    return Region.union([_cell(rng, people, numerics, groups, rows, coarse) for _ in range(cells)])


def _cell(rng: np.random.Generator, people: int, numerics: int, groups: list[int], rows: int, coarse: bool) -> Region:
    features = numerics + sum(groups)
    middle = rng.normal(size=(people, features))
    reach = rng.uniform(0.05, 1.0, size=(people, features)) * (rng.random((people, features)) > 0.2)
    if coarse:
        middle, reach = np.round(middle * 2) / 2, np.round(reach * 2) / 2
    lower, upper = middle - reach, middle + reach
    lower[:, numerics:], upper[:, numerics:] = 0.0, 1.0
    choices, start = [], numerics
    for size in groups:
        allowed = rng.random((people, size)) < 0.6
        allowed[np.arange(people), rng.integers(size, size=people)] = True
        choices.append((np.arange(start, start + size), allowed))
        start += size
    cut = None
    if rows:
        G = rng.normal(size=(rows, features))
        G = np.round(G * 2) / 2 if coarse else G
        cut = (G, middle @ G.T + rng.uniform(-0.3, 0.8, size=(people, rows)))
    return Region.from_arrays(lower, upper, choices, cut)


def wild(rng: np.random.Generator, network: Network) -> Network:
    """The same shape with numbers that hurt: huge, tiny, denormal, zero, and neurons that are copies of each other."""
    layers = []
    for layer in network.layers:
        weight, bias = layer.weight.copy(), layer.bias.copy()
        weight *= rng.choice([1.0, 1.0, 1.0, 1e6, 1e-6, 5e-324 / 2.0**-60, 0.0, -1.0], size=weight.shape)
        bias *= rng.choice([1.0, 1.0, 1e6, 1e-6, -0.0], size=bias.shape)
        if len(bias) > 1 and rng.random() < 0.5:
            weight[1], bias[1] = weight[0], bias[0]
        layers.append((weight, bias))
    return Network.from_arrays(layers)


def random_instance(seed: int, *, people: int = 1, hidden: list[int] | None = None, k: int = 2) -> Instance:
    """One of many shapes, chosen by the seed: depth 0 to 3, with and without categories, rows and further cells."""
    rng = np.random.default_rng(seed)
    coarse = bool(rng.random() < 0.4)
    numerics = int(rng.integers(0, 4))
    groups = [int(size) for size in rng.integers(1, 4, size=rng.integers(0 if numerics else 1, 3))]
    if hidden is None:
        hidden = [[], [3], [5], [3, 3], [4, 3], [2, 2, 2]][rng.integers(6)]
    outputs = int(rng.integers(1, 3))
    network = random_network(rng, [numerics + sum(groups), *hidden, outputs], coarse)
    rows, cells = int(rng.choice([0, 0, 1, 2])), int(rng.choice([1, 1, 2]))
    region = random_region(rng, people, numerics, groups, rows, cells, coarse)
    return Instance(network, region, np.round(rng.normal(size=(k, outputs)) * 2) / 2)


def largest_sampled(instance: Instance, seed: int, count: int = 300) -> np.ndarray:
    """(people, k) the largest value at points drawn from boxes and corners, −inf where no point hit the rows."""
    rng = np.random.default_rng(seed)
    best = np.full((instance.region.people, len(instance.directions)), -np.inf)
    for cell in instance.region.cells:
        share = rng.random((instance.region.people, count, len(cell.numeric)))
        share = np.where(rng.random(share.shape[:2])[..., None] < 0.5, np.round(share), share)
        points = np.zeros((instance.region.people, count, instance.region.features))
        low, high = cell.lower[:, None], cell.upper[:, None]
        points[..., cell.numeric] = np.clip(low + share * (high - low), low, high)
        for choice in cell.choices:
            score = np.where(choice.allowed[:, None], rng.random((*points.shape[:2], len(choice.columns))), -1.0)
            points[..., choice.columns] = np.arange(len(choice.columns)) == score.argmax(-1)[..., None]
        inside = instance.region.contains(points) & cell.present[:, None]
        values = np.einsum("pso,ko->pks", instance.network(points), instance.directions)
        best = np.maximum(best, np.where(inside[:, None], values, -np.inf).max(-1))
    return best


def _known(name: str, layers: list, region: Region, direction: list[float], answer: float) -> Known:
    return Known(name, Instance(Network.from_arrays(layers), region, np.array([direction])), answer)


def corpus() -> list[Known]:
    """Answers that can be checked with pencil and paper."""
    box = Region.from_arrays([[-1.0]], [[2.0]])
    square = Region.from_arrays([[-1.0, -1.0]], [[1.0, 1.0]])
    below = Region.from_arrays([[-1.0, -1.0]], [[1.0, 1.0]], rows=([[1.0, 1.0]], [[0.0]]))
    nowhere = Region.from_arrays([[-1.0, -1.0]], [[1.0, 1.0]], rows=([[1.0, 1.0], [-1.0, -1.0]], [[-0.5, 0.25]]))
    colours = Region.from_arrays([[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]], [([0, 1, 2], [[True, False, True]])])
    two = Region.union([Region.from_arrays([[-1.0]], [[0.0]]), Region.from_arrays([[1.0]], [[1.5]])])
    tent = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0]], [0.0])]  # x up to 1, then down again
    absolute = [([[1.0, 1.0], [-1.0, -1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]  # |x + y|
    double = [
        ([[1.0], [-1.0]], [0.0, 0.0]),
        ([[1.0, 1.0], [-1.0, -1.0]], [-1.0, 1.0]),
        ([[1.0, 1.0]], [0.0]),
    ]  # ||x|−1|
    return [
        _known("affine", [([[2.0]], [1.0])], box, [1.0], 5.0),
        _known("affine down", [([[2.0]], [1.0])], box, [-1.0], 1.0),
        _known("tent up", tent, box, [1.0], 1.0),
        _known("tent down", tent, box, [-1.0], 0.0),
        _known("absolute value", absolute, square, [1.0], 2.0),
        _known("absolute value down", absolute, square, [-1.0], 0.0),
        _known("absolute value below a row", absolute, below, [1.0], 2.0),
        _known("sum below a row", [([[1.0, 1.0]], [0.0])], below, [1.0], 0.0),
        _known("no point", absolute, nowhere, [1.0], -np.inf),
        _known("categories", [([[1.0, 9.0, 3.0]], [0.5])], colours, [1.0], 3.5),
        _known("categories through ReLU", [([[1.0, 9.0, -3.0]], [0.5]), ([[-1.0]], [0.0])], colours, [1.0], 0.0),
        _known("two cells", tent, two, [1.0], 1.0),
        _known("two cells down", tent, two, [-1.0], 0.0),
        _known("two hidden layers", double, box, [1.0], 1.0),
        _known("two hidden layers, small box", double, Region.from_arrays([[0.25]], [[1.5]]), [1.0], 0.75),
        _known("a single point", absolute, Region.from_arrays([[0.5, 0.25]], [[0.5, 0.25]]), [1.0], 0.75),
        _known("the zero direction", absolute, square, [0.0], 0.0),
    ]
