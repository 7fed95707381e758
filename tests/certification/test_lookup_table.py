"""A new kind of function in one module, with an engine of its own: audited, swept, refuted, and kept off bundles."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import lcifr
from lcifr.certification.bundle import write_bundle
from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.sweep.bundle import write_sweep_bundle
from lcifr.certification.sweep.result import CellStatus
from lcifr.data import Encoding
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.function import Function
from lcifr.models.rounding import gamma
from lcifr.models.rule import Rule
from lcifr.prove.question import Answer, Engine, Question
from lcifr.regions.region import Cell
from tests.certification.sweep.tiny import FORMULAS, SCHEMA, TinyUniverse, everybody

FloatArray = NDArray[np.float64]

# The kind of function: all that there is to it, and its engine.


@dataclass(frozen=True, eq=False)
class LookupTable(Function):
    """Piecewise constant over a grid: a column's bin b is from above its threshold b − 1 up to its threshold b.

    Parameters
    ----------
    columns : which of the ``width`` inputs are looked up; at most one of each attribute.
    borders : rising thresholds of each of these columns. values : (bins of the first column, …, outputs).
    """

    engine = f"{__name__}:TableEngine"

    width: int
    columns: tuple[int, ...]
    borders: tuple[FloatArray, ...]
    values: FloatArray

    @property
    def inputs(self) -> int:
        return self.width

    @property
    def outputs(self) -> int:
        return self.values.shape[-1]

    def __call__(self, points: ArrayLike) -> FloatArray:
        at = np.asarray(points, dtype=np.float64)
        bins = (np.searchsorted(t, at[..., c], side="left") for c, t in zip(self.columns, self.borders, strict=True))
        return self.values[tuple(bins)]

    def error(self, points: ArrayLike) -> FloatArray:
        return np.zeros((*np.shape(points)[:-1], self.outputs))

    def exactly(self, point: Sequence[float]) -> tuple[Fraction, ...]:
        return tuple(map(Fraction, self(point).tolist()))

    @cached_property
    def hash(self) -> str:
        parts = (np.array([self.width, *self.columns, *self.values.shape]), *self.borders, self.values)
        return hashlib.sha256(b"|".join(part.tobytes() for part in parts)).hexdigest()

    def points_in(self, cell: Cell, person: int) -> Iterator[FloatArray]:
        """One point of every bin that a person's cell meets, its linear rows aside."""
        base, turns = np.zeros(self.width), list[list[dict[int, float]]]()
        base[cell.numeric] = cell.lower[person]
        for column, borders in zip(self.columns, self.borders, strict=True):
            if column in cell.numeric:
                place = int(np.searchsorted(cell.numeric, column))
                low, high = float(cell.lower[person, place]), float(cell.upper[person, place])
                inside = borders[(borders >= low) & (borders < high)]
                ends = np.array([low, *inside, high])
                turns.append([{column: float(middle)} for middle in (ends[:-1] + ends[1:]) / 2])
        for choice in cell.choices:
            codes = np.flatnonzero(choice.allowed[person])
            turns.append([{int(c): float(c == choice.columns[code]) for c in choice.columns} for code in codes])
        for some in product(*turns):
            point = base.copy()
            for change in some:
                point[list(change)] = list(change.values())
            yield point


class TableEngine(Engine):
    """Tries every bin; linear rows are left out of the bound, and obeyed by the witness."""

    functions = LookupTable
    writes_proofs = False
    any_device = False

    def answer(self, question: Question) -> Answer:
        table, region = question.function, question.region
        assert isinstance(table, LookupTable)
        upper = np.full(question.directions.shape[:2], -np.inf)
        witness, best = np.full((*upper.shape, region.features), np.nan), upper.copy()
        for person in range(region.people):
            own = region.take([person])
            for cell in (cell for cell in own.cells if cell.present[0]):
                for point in table.points_in(cell, 0):
                    value = question.directions[person] @ table(point)
                    room = gamma(table.outputs + 2) * (np.abs(question.directions[person]) @ np.abs(table(point)))
                    upper[person] = np.maximum(upper[person], value + room)
                    better = (value > best[person]) & own.contains(point[None, None])[0]
                    witness[person, better], best[person, better] = point, value[better]
        return Answer.claimed(question, upper, witness)


# What it takes part in, held against trying everybody.

PLAIN = Encoding(SCHEMA, np.zeros(2), np.ones(2))
CASES = [(text, outputs, seed) for seed, text in enumerate(FORMULAS) for outputs in (1, 3)]


def scene(text: str, outputs: int, seed: int) -> TinyUniverse:
    """A table of age, income and sex in which most people of one age are decided alike."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(3, 1, 1, outputs)) + 0.6 * rng.normal(size=(3, 2, 2, outputs))
    columns = (0, 1, PLAIN.columns("sex").start)
    table = LookupTable(len(PLAIN.features), columns, (np.array([0.5, 1.5]), np.array([0.5]), np.array([0.5])), values)
    return TinyUniverse(text, table, Rule.of(outputs), encoding=PLAIN)


@pytest.mark.parametrize(("text", "outputs", "seed"), CASES)
def test_an_audit_certifies_and_refutes_whom_trying_everybody_does(text: str, outputs: int, seed: int) -> None:
    here, people = scene(text, outputs, seed), everybody()
    found = lcifr.audit(FrozenEncoder.identity(here.similarity), here.function, people.to_pandas())
    assert np.array_equal(found.violated, here.violating())
    assert not (found.certified & here.violating()).any()
    if "income' !=" not in text:  # of a strict comparison of numbers, an audit proves what holds at its end, too
        assert np.array_equal(found.certified, ~here.violating())
    rows = np.flatnonzero(found.violated)
    own, others = people.take(rows), found.others.take(rows)
    assert here.similarity.holds(own, others).all()
    decisions = [here.rule.decide(here.function(PLAIN.encode(some))) for some in (own, others)]
    assert (decisions[0] != decisions[1]).all()


def test_the_tables_have_people_of_both_kinds() -> None:
    shares = [scene(*case).share() for case in CASES]
    assert sum(0 < share < 1 for share in shares) >= len(CASES) // 2


@pytest.mark.parametrize(("text", "outputs", "seed"), CASES)
def test_a_sweep_decides_every_cell(text: str, outputs: int, seed: int) -> None:
    here = scene(text, outputs, seed)
    found = lcifr.sweep(FrozenEncoder.identity(here.similarity), here.function, everybody().to_pandas())
    assert found.share(CellStatus.VIOLATING) == here.share()
    assert found.share(CellStatus.PROVED) == 1 - here.share()


def test_no_bundle_is_written_about_a_kind_that_no_checker_knows(tmp_path: Path) -> None:
    here, X = scene(*CASES[0]), everybody().to_pandas()
    encoder = FrozenEncoder.identity(here.similarity)
    with pytest.raises(NetworkError, match="a LookupTable has no form that a checker reads"):
        write_bundle(tmp_path / "audit", encoder, X, decisions=lcifr.audit(encoder, here.function, X))
    with pytest.raises(NetworkError, match="a LookupTable has no form that a checker reads"):
        write_sweep_bundle(tmp_path / "sweep", here.swept, lcifr.sweep(encoder, here.function, X))
    assert not list(tmp_path.iterdir())
    with pytest.raises(LcifrError, match="writes no proofs"):
        lcifr.maximize(here.function, [[1.0]], here.similarity.region(everybody()), proof=True)


def test_on_machines_nothing_is_certified_that_the_kind_does_not_bound() -> None:
    here, X = scene(*CASES[0]), everybody().to_pandas()
    found = lcifr.audit(FrozenEncoder.identity(here.similarity), here.function, X, arithmetic="float64")
    assert not found.certified.any()
    assert not found.violated.any()
