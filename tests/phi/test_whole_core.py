"""Comparisons of whole numbers without strict ones: the same truth, and regions that hold nobody else."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lcifr.data import Encoding, Individuals, Numeric, Schema
from lcifr.phi.core import Compare, PairedPeople, closed_over_whole_numbers, leaves
from lcifr.phi.holds import evaluate
from lcifr.phi.pairs import PairSpace
from lcifr.phi.similarity import Similarity
from lcifr.regions.universe import UniverseCells

SCHEMA = Schema((Numeric("a", lower=0, upper=4, integer=True), Numeric("b", lower=-2, upper=2, integer=True)))
ENCODING = Encoding(SCHEMA, np.array([1.7, 0.1]), np.array([1.3, 0.7]))
WHOLE = frozenset(SCHEMA.names)
FORMULAS = (
    "a' > 1 and b' < 0.5",
    "a' != a and b within 1",
    "|a' - a| < 2 and |b' - b| < 1.5",
    "2*a' - 4*b < 3 and b' >= b",
    "0.5*a' + 0.25*b' > 0.75 and a within 2",
    "3*a' = 2*a + 1 or |a' - a| + |b' - b| > 3",
    "not (a' <= 2 and b' >= 0.1) and |b' - b| != 1",
    "6*a' + 9*b' = 5 or a' = 2",
)


def all_pairs() -> PairedPeople:
    rows = np.array(list(product(range(5), range(-2, 3), range(5), range(-2, 3))), dtype=np.float64)
    none = np.zeros((len(rows), 0), np.int32)
    return PairedPeople(Individuals(SCHEMA, rows[:, :2], none), Individuals(SCHEMA, rows[:, 2:], none))


@pytest.mark.parametrize("text", FORMULAS)
def test_it_is_true_of_the_same_pairs_and_nothing_is_strict(text: str):
    phi, pairs = Similarity(text, SCHEMA, ENCODING), all_pairs()
    closed = closed_over_whole_numbers(phi.core, WHOLE)
    expected = phi.holds(pairs.x, pairs.other)
    assert expected.any()
    assert not expected.all()
    assert np.array_equal(evaluate(closed, pairs), expected)
    assert {leaf.operator for leaf in leaves(closed) if isinstance(leaf, Compare)} <= {"<=", "="}


@pytest.mark.parametrize("text", FORMULAS)
def test_the_whole_pairs_of_a_region_are_the_similar_ones(text: str):
    phi, pairs = Similarity(text, SCHEMA, ENCODING), all_pairs()
    space, everybody = PairSpace.of(phi), UniverseCells.everybody(ENCODING, whole=True)
    halves = everybody.cut_number(0, 0)
    assert halves is not None
    points = space.encoding.encode(space.join(pairs))
    for part in (everybody, halves.take([0]), halves.take([1])):
        cells = part.take(np.zeros(len(pairs), np.intp))
        inside, expected = (
            space.region(cells).contains(points),
            phi.holds(pairs.x, pairs.other) & cells.contains(pairs.x),
        )
        shared = np.ones(len(pairs), np.bool_)
        for name, other in space.others.items():  # a pair that differs where it must not is no point at all
            shared &= (name != other) | (pairs.x.number(name) == pairs.other.number(name))
        assert np.array_equal(inside & shared, expected)
        written = space.region(cells, as_written=True).contains(points)
        assert (written | ~expected).all()


def test_what_is_not_whole_stays_as_it_is():
    schema = Schema((SCHEMA["a"], Numeric("b", lower=-2, upper=2)))
    encoding = Encoding(schema, ENCODING.means, ENCODING.sds)
    for text in ("b' > 1", "a' + b' < 3", "|b' - a| != 1"):
        core = Similarity(text, schema, encoding).core
        assert closed_over_whole_numbers(core, frozenset({"a"})) == core
