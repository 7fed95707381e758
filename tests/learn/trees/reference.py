"""A slow reference of robust losses, by enumeration of everybody's reachable bins; and populations to try it on."""

from __future__ import annotations

from itertools import product

import numpy as np

from lcifr.data import Encoding
from lcifr.learn.encoder_training import EncodedPeople
from lcifr.learn.target import Target
from lcifr.learn.trees.additive import AdditiveModel
from lcifr.models.rule import Kind
from lcifr.regions.region import Cell, Region
from lcifr.similarity.similarity import Similarity
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


def reachable(model: AdditiveModel, cell: Cell, person: int) -> list[list[int]]:
    """For each shape function the bins that somebody in the cell can be in: tried one by one."""
    found = []
    for shape in model.shapes:
        bins = shape.bins
        if bins.thresholds is None:
            allowed = next(c.allowed[person] for c in cell.choices if c.columns[0] == bins.columns.start)
            found.append([b for b in range(bins.count) if allowed[b]])
            continue
        place = list(cell.numeric).index(bins.columns.start)
        low, high = cell.lower[person, place], cell.upper[person, place]
        ends = [-np.inf, *bins.thresholds, np.inf]
        found.append(
            [b for b in range(bins.count) if max(ends[b], np.nextafter(low, -np.inf)) < min(ends[b + 1], high)]
        )
    return found


def all_scores(model: AdditiveModel, region: Region, person: int) -> np.ndarray:
    """(points, outputs) the scores of every combination of bins that the person's region holds."""
    scores = [
        model.base + sum(shape.values[b] for shape, b in zip(model.shapes, bins, strict=True))
        for cell in region.cells
        if cell.present[person]
        for bins in product(*reachable(model, cell, person))
    ]
    return np.array(scores).reshape(-1, model.outputs)


def slow_loss(target: Target, model: AdditiveModel, people: EncodedPeople, gamma: float) -> float:
    """The mean of (plain + γ · worst) / (1 + γ), with the worst value of each direction over all combinations."""
    assert people.label is not None
    total, size = 0.0, people.weight.sum()
    for person, (label, weight) in enumerate(zip(people.label, people.weight, strict=True)):
        own = model(people.x[person : person + 1])
        total += weight * _loss(target, own, label) / (1 + gamma)
        others = all_scores(model, people.region, person)
        if gamma and len(others):
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
