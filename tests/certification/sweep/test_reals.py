"""Sweeps over real numbers against a grid with every border of φ and of the trees on it, and one float to each side."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.subject import Subject
from lcifr.certification.sweep.result import CellStatus, Sweep
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.models.function import Function
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.models.trees import NumberNode, TreeLeaf, Trees
from lcifr.phi.similarity import Similarity
from tests.effort import quartered

SCHEMA = Schema((Numeric("a", lower=0, upper=4), Numeric("b", lower=-1, upper=1), Categorical("s", ("f", "m"))))
ENCODING = Encoding(SCHEMA, np.zeros(2), np.ones(2))
FORMULAS = (
    "same(a, b)",
    "same(a) and |b' - b| < 0.5",
    "same(s) and a within 0.5 and b within 0.25",
    "same(b) and (a <= 1 and a' <= 1 or a > 1 and a' > 1)",
    "same(s) and a + b = a' + b' and numeric within 1",
)


def a_model(rng: np.random.Generator) -> Function:
    """Halves and quarters only, so that outputs are exact and many people stand at a border."""
    width = len(ENCODING.features)
    if rng.random() < 0.5:
        split = NumberNode(1, float(rng.choice([-0.5, 0.0, 0.5])), TreeLeaf((-1.0,)), TreeLeaf((0.5,)))
        return Trees.of(width, [0.25], [NumberNode(0, float(rng.integers(0, 4)), split, TreeLeaf((1.0,)))])
    weight, bias = rng.integers(-2, 3, (1, width)) * 0.5, rng.integers(-3, 4, 1) * 0.5
    return Network.from_arrays([(weight, bias)])


def the_grid() -> Individuals:
    def around(values: np.ndarray, lower: float, upper: float) -> np.ndarray:
        beside = [values, np.nextafter(values, -np.inf), np.nextafter(values, np.inf)]
        return np.unique(np.clip(np.concatenate(beside), lower, upper))

    ends = around(np.arange(0, 4.5, 0.5), 0, 4), around(np.arange(-1, 1.25, 0.25), -1, 1), np.arange(2.0)
    rows = np.stack([axis.ravel() for axis in np.meshgrid(*ends, indexing="ij")], axis=1)
    return Individuals(SCHEMA, rows[:, :2].copy(), rows[:, 2:].astype(np.int32))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(quartered(24)))
def test_what_is_said_of_cells_is_true_on_every_border(seed: int) -> None:
    rng, width = np.random.default_rng(seed), len(ENCODING.features)
    similarity = Similarity(FORMULAS[seed % len(FORMULAS)], SCHEMA, ENCODING)
    identity, model = Network.from_arrays([(np.eye(width), np.zeros(width))]), Model(a_model(rng), Rule.of(1))
    swept = Subject(FrozenEncoder(identity, similarity), model)
    found = Sweeper(swept, whole=False, nodes=20).run(cells=80)
    people = the_grid()
    decision = np.array([swept.deployed.exactly(point.tolist())[0] > 0 for point in ENCODING.encode(people)])
    assert sum(found.share(standing) for standing in CellStatus) == 1
    for row in rng.choice(len(people), 100, replace=False).tolist():
        x = people.take([row])
        similar = similarity.holds(x, people)
        for standing in standings_at(found, x):  # a border belongs to the cells on both sides
            assert standing is not CellStatus.PROVED or (decision[similar] == decision[row]).all()
    for pair in found.pairs:
        assert similarity.holds(pair.x, pair.other).all()
    for one in found.violating:
        rows = np.flatnonzero(one.cell.take(np.zeros(len(people), np.intp)).contains(people))
        assert one.pair is not None
        changed = one.pair.other.codes != one.pair.x.codes
        shifted = people.numbers[rows] + (one.pair.other.numbers - one.pair.x.numbers)
        others = Individuals(SCHEMA, shifted, np.where(changed, one.pair.other.codes, people.codes[rows]))
        assert similarity.holds(people.take(rows), others).all()
        theirs = np.array(
            [swept.deployed.exactly(point.tolist())[0] > 0 for point in ENCODING.encode(others)], np.bool_
        )
        assert (theirs != decision[rows]).all()


def standings_at(found: Sweep, x: Individuals) -> list[CellStatus]:
    """Of all cells that hold one person."""
    cells, standings = found.index.cells, [standing for standing in CellStatus for _ in found.cells(standing)]
    inside = cells.contains(x.take(np.zeros(len(cells), np.intp)))
    assert inside.any()
    return [standings[cell] for cell in np.flatnonzero(inside)]
