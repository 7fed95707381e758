"""A slow reference of robust losses, by enumeration of everybody's reachable bins; and populations to try it on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from lcifr.data import Encoding
from lcifr.learn.boosting.boosting import places_of
from lcifr.learn.boosting.losses import Directions, RobustLoss
from lcifr.learn.target import EncodedPeople, Target
from lcifr.models.additive import AdditiveModel, AttributeBins, PairBins, TreeCut
from lcifr.models.rule import Kind
from lcifr.phi.similarity import Similarity
from lcifr.regions.region import Cell, Region
from tests.learn.populations import SCHEMA, population

FORMULAS = {
    "noise and a free category": "same(categorical except sex) and numeric within 0.3 sd",
    "several cells": "same(sex) and ((age <= 45 and age' <= 45 and numeric within 0.6 sd and same(job)) "
    'or (age > 40 and age\' > 40 and numeric within 0.2 sd and job\' in {"cook", "nurse"}))',
    "a set of categories": 'same(sex) and numeric within 0.1 sd and (same(job) or job in {"cook", "nurse"} '
    'and job\' in {"cook", "nurse"})',
    "nobody else": "same(all)",
}


def encoded(
    people: int, formula: str, *, kind: str = "binary", seed: int = 0, weighted: bool = False
) -> tuple[Encoding, Target, EncodedPeople]:
    """A population with its regions, encoded."""
    X, y = population(people, seed=seed, kind=kind)
    encoding = Encoding.fit(X, SCHEMA)
    similarity = Similarity(formula, SCHEMA, encoding)
    target = Target.of(y)
    weight = np.random.default_rng(seed).uniform(0.2, 1.8, people) if weighted else np.ones(people)
    return encoding, target, EncodedPeople(encoding.encode(X), similarity.region(X), target.encode(y), weight)


def loss_of(
    bins: Sequence[AttributeBins | PairBins], people: EncodedPeople, target: Target, gamma: float, base: np.ndarray
) -> RobustLoss:
    """A robust loss with these terms."""
    loss = RobustLoss(people, Directions(target.kind, target.outputs), gamma, base)
    for one in bins:
        loss.add(places_of(loss.places, one))
    return loss


def reachable(bins: AttributeBins, cell: Cell, person: int) -> list[int]:
    """The bins that somebody in the cell can be in: tried one by one."""
    if bins.thresholds is None:
        allowed = next(c.allowed[person] for c in cell.choices if c.columns[0] == bins.columns.start)
        return [b for b in range(bins.count) if allowed[b]]
    place = list(cell.numeric).index(bins.columns.start)
    low, high = cell.lower[person, place], cell.upper[person, place]
    ends = [-np.inf, *bins.thresholds, np.inf]
    return [b for b in range(bins.count) if max(ends[b], np.nextafter(low, -np.inf)) < min(ends[b + 1], high)]


def term_values(model: AdditiveModel, cell: Cell, person: int) -> list[np.ndarray]:
    """For each term (values, outputs) what it can add in the cell."""
    found = [shape.values[reachable(shape.bins, cell, person)] for shape in model.shapes]
    for pair in model.pairs:
        rows, columns = (reachable(axis, cell, person) for axis in pair.bins.axes)
        found.append(pair.values[np.ix_(rows, columns)].reshape(-1, model.outputs))
    for tree in model.trees:
        ways = product(*(reachable(axis, cell, person) for axis in tree.bins.axes))
        found.append(tree.values[sorted({leaf_of(tree.bins.root, bins) for bins in ways})])
    return found


def leaf_of(node: TreeCut | int, bins: tuple[int, ...]) -> int:
    """The leaf of somebody who is in these bins of a tree's axes, cut after cut."""
    while not isinstance(node, int):
        node = node.first if bins[node.axis] in node.chosen else node.second
    return node


def all_scores(model: AdditiveModel, region: Region, person: int) -> np.ndarray:
    """(points, outputs) the scores of every combination of what terms can add: each term by itself."""
    scores = [
        model.base + sum(values)
        for cell in region.cells
        if cell.present[person]
        for values in product(*term_values(model, cell, person))
    ]
    return np.array(scores).reshape(-1, model.outputs)


def slow_loss(target: Target, model: AdditiveModel, people: EncodedPeople, gamma: float) -> float:
    """The mean of (plain + γ · worst) / (1 + γ), with the worst value of each direction over all combinations."""
    assert people.label is not None
    total, size = 0.0, people.weight.sum()
    for person, (label, weight) in enumerate(zip(people.label, people.weight, strict=True)):
        own = model(people.x[person : person + 1])
        total += weight * _loss(target, own, label) / (1 + gamma)
        others = all_scores(model, people.region, person) if gamma else ()
        if len(others):
            total += weight * gamma * _loss(target, others, label) / (1 + gamma)
    return float(total / size)


def _loss(target: Target, scores: np.ndarray, label: float) -> float:
    """Of directions at their worst among these scores (points, outputs)."""
    if target.kind is Kind.SIGN:
        return float(np.logaddexp(0, ((1 - 2 * label) * scores[:, 0]).max()))
    if target.kind is Kind.NUMBER:
        return float(0.5 * max(np.abs(scores[:, 0] - label)) ** 2)
    leads = (scores - scores[:, [int(label)]]).max(0)
    return float(np.log(np.exp(leads).sum()))
