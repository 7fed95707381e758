"""Generated ensembles and regions: numbers, whole numbers, categories, linear rows, several cells and outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lcifr.models.trees import CategoryNode, NumberNode, TreeLeaf, TreeNode, Trees
from lcifr.regions.region import Region, WholeColumn

NUMBERS, CHOICES = 3, ((3, 3), (6, 2))
"""Columns 0 … 2 are numbers, the second of them whole; categories have three and two values."""
WIDTH = 8
STEP = 0.25
"""Between the encodings of two whole numbers."""


@dataclass(frozen=True)
class Case:
    """An ensemble, and what is asked of it."""

    trees: Trees
    region: Region
    directions: np.ndarray


def whole_column() -> WholeColumn:
    """Column 1 holds whole numbers k as k / 4."""
    return WholeColumn("age", 1, -40, 40, lambda values: np.asarray(values) * STEP)


def random_tree(rng: np.random.Generator, depth: int, outputs: int) -> TreeNode:
    """Thresholds on a grid, so that trees share some; weights that tie now and then."""
    if depth == 0 or rng.random() < 0.08:
        return TreeLeaf(tuple(np.round(rng.normal(size=outputs), 1 if rng.random() < 0.3 else 6).tolist()))
    first, second = random_tree(rng, depth - 1, outputs), random_tree(rng, depth - 1, outputs)
    if rng.random() < 0.3:
        start, count = CHOICES[rng.integers(2)]
        chosen = rng.permutation(count)[: rng.integers(1, count)] + start
        return CategoryNode(range(start, start + count), frozenset(chosen.tolist()), first, second)
    return NumberNode(int(rng.integers(NUMBERS)), float(np.round(rng.normal(), 1)), first, second)


def random_case(seed: int, *, rows: bool = False, whole: bool = False, cells: int = 1, people: int = 3) -> Case:
    """A few trees of depth 1 to 6 on the boxes of a few people."""
    rng = np.random.default_rng(seed)
    outputs = int(rng.integers(1, 4))
    trees = [random_tree(rng, int(rng.integers(1, 7)), outputs) for _ in range(rng.integers(1, 6))]
    scale = [1, 0.5, 0.1][rng.integers(3)]
    made = Trees.of(WIDTH, rng.normal(size=outputs), trees, scale)
    region = Region.union([_region(rng, people, rows, whole) for _ in range(cells)])
    if whole:
        region = replace(region, whole=(whole_column(),))
    directions = np.concatenate([np.eye(outputs), -np.eye(outputs)[:1], rng.normal(size=(1, outputs))])
    return Case(made, region, np.broadcast_to(directions, (people, *directions.shape)))


def _region(rng: np.random.Generator, people: int, rows: bool, whole: bool) -> Region:
    middle, reach = rng.normal(size=(people, NUMBERS)), rng.choice([0.0, 0.3, 1.0], size=(people, NUMBERS))
    lower, upper = np.zeros((people, WIDTH)), np.ones((people, WIDTH))
    lower[:, :NUMBERS], upper[:, :NUMBERS] = middle - reach, middle + reach
    if whole:
        lower[:, 1] = np.floor(lower[:, 1] / STEP) * STEP
        upper[:, 1] = np.ceil(upper[:, 1] / STEP) * STEP
    choices = []
    for start, count in CHOICES:
        allowed = rng.random((people, count)) < 0.6
        allowed[np.arange(people), rng.integers(count, size=people)] = True
        choices.append((range(start, start + count), allowed))
    if not rows:
        return Region.from_arrays(lower, upper, choices)
    G = np.zeros((2, WIDTH))
    G[:, :NUMBERS] = np.round(rng.normal(size=(2, NUMBERS)), 1)
    # Through a point of the box or a little beside it, so that some regions are cut and few are empty.
    inside = middle + rng.uniform(-1, 1, size=(people, NUMBERS)) * reach
    g = inside @ G[:, :NUMBERS].T + rng.choice([0.05, 0.3], size=(people, 2))
    return Region.from_arrays(lower, upper, choices, (G, g))
