"""Counterexamples of trees differ in as few attributes as any similar person who is decided otherwise."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lcifr.certification.counterexample import CounterexampleChecker, differing, held_at
from lcifr.certification.subject import Subject
from lcifr.data import Individuals
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.trees import NUMBER
from tests.certification import explained_models


def everybody_around(made: explained_models.TreeScene, row: int) -> Individuals:
    """Somebody in each piece between thresholds, at each whole age and each category: all that trees can tell apart."""
    person, nodes = made.people.take([row]), made.trees.nodes
    age, income = person.numbers[0]
    column = made.encoding.columns("income").start
    used = np.unique(nodes.threshold[(nodes.kind == NUMBER) & (nodes.column == column)])
    j = made.encoding.schema.names_numeric.index("income")
    cuts = used * made.encoding.numbers.factors[j] + made.encoding.numbers.origins[j]
    low, high = max(income - 5, 0.0), min(income + 5, 90.0)
    edges = np.array([low, *(cut for cut in cuts if low < cut < high), high])
    incomes = [income, *(edges[:-1] / 2 + edges[1:] / 2)]
    ages = [float(a) for a in range(int(age) - 6, int(age) + 7) if 18 <= a <= 90]
    job = int(person.code("job")[0])
    some = list(product(ages, incomes, range(2)))
    numbers = np.array([[a, i] for a, i, _ in some])
    codes = np.array([[sex, job] for _, _, sex in some], np.int32)
    return Individuals(person.schema, numbers, codes)


@pytest.mark.parametrize("seed", [0, 2])
def test_no_similar_person_who_is_decided_otherwise_differs_in_fewer(seed):
    made, found = explained_models.audited(seed, together=3)
    checker = CounterexampleChecker(Subject(made.encoder, made.model, Arithmetic.FLOAT64), made.people)
    changed = differing(found.people, found.others).sum(1)
    for row in np.flatnonzero(found.violated):
        others = everybody_around(made, int(row))
        rows = np.full(len(others), row)
        counted = checker.is_counterexample(rows, others)
        fewest = differing(made.people.take(rows), others).sum(1)[counted].min()
        assert changed[row] == fewest


def test_everything_else_is_held_at_the_persons_own_values():
    made = explained_models.scene(3)
    region = made.encoder.similarity.region(made.people)
    part = held_at(region, made.x, made.encoding, ["age"])
    sampled = part.sample(20)
    people = part.decode(sampled).individuals
    differ = differing(made.people.take(np.repeat(np.arange(len(made.people)), 20)), people)
    names = made.encoding.schema.names
    assert differ[:, names.index("age")].any()
    assert not np.delete(differ, names.index("age"), axis=1).any()
