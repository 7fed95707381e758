"""Regions over numbers and categories, and chains of networks over them, drawn by seed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from lcifr.models.network import Network
from lcifr.regions.region import Region
from tests.models.rational_bound import Group

NUMBERS, CATEGORIES = 3, (2, 4)


def region(rng: np.random.Generator, people: int, size: float = 3.0, width: float = 0.3) -> Region:
    """Numbers between ends, and categories of which some are free; two cells."""
    features = NUMBERS + sum(CATEGORIES)
    middle = rng.normal(size=(people, features)) * size
    lower, upper = middle - width, middle + width
    choices, start = [], NUMBERS
    for count in CATEGORIES:
        allowed = rng.random((people, count)) < rng.choice([0.0, 0.7])
        allowed[np.arange(people), rng.integers(count, size=people)] = True
        choices.append((np.arange(start, start + count), allowed))
        start += count
    lower[:, NUMBERS:], upper[:, NUMBERS:] = 0.0, 1.0
    return Region.from_arrays(lower, upper, choices)


def groups_of(found: Region, person: int) -> list[Group]:
    """The corners of the one cell of a person."""
    (cell,) = found.cells
    numbers = [
        [(int(j), float(end[person, place])) for end in (cell.lower, cell.upper)]
        for place, j in enumerate(cell.numeric)
    ]
    chosen = [[(int(j), 1.0) for j in choice.columns[choice.allowed[person]]] for choice in cell.choices]
    return numbers + chosen


def factors(rng: np.random.Generator, widths: list[list[int]], scale: float = 1.0) -> tuple[Network, ...]:
    """Networks of these widths, one behind the other, whose weights differ in size."""
    found = []
    for sizes in widths:
        layers = []
        for inputs, outputs in pairwise(sizes):
            size = scale ** rng.integers(-1, 2, (outputs, inputs))
            layers.append((rng.normal(size=(outputs, inputs)) * size, rng.normal(size=outputs)))
        found.append(Network.from_arrays(layers))
    return tuple(found)
