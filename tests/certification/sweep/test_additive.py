"""Additive models in closed form, against trying everybody and against the search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcifr import FairBooster, RobustClassifier
from lcifr.certification.sweep.additive import AdditiveQuestion, largest_change
from lcifr.certification.sweep.alike import reached_people
from lcifr.certification.sweep.result import CellStatus
from lcifr.certification.sweep.sweeper import Sweeper, sweep
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.rule import Rule
from lcifr.models.trees import CategoryNode, NumberNode, TreeLeaf, TreeNode, Trees
from lcifr.phi.core import PairedPeople
from lcifr.regions.universe import UniverseCells
from tests.certification.sweep.tiny import ENCODING, FORMULAS, SCHEMA, TinyUniverse, everybody


def stump(rng: np.random.Generator, outputs: int) -> TreeNode:
    """A split by one attribute, or two splits by it, with leaves drawn at random."""
    leaves = [TreeLeaf(tuple(rng.normal(size=outputs).tolist())) for _ in range(3)]
    name = str(rng.choice(SCHEMA.names))
    where = ENCODING.columns(name)
    if name in SCHEMA.names_categorical:
        return CategoryNode(
            range(where.start, where.stop), frozenset({int(rng.integers(where.start, where.stop))}), *leaves[:2]
        )
    low, high = np.sort(rng.normal(size=2)).tolist()
    return NumberNode(where.start, low, leaves[0], NumberNode(where.start, high, *leaves[1:]))


def additive(seed: int, outputs: int = 1, tolerance: float | None = None, count: int = 8) -> TinyUniverse:
    rng = np.random.default_rng(seed)
    trees = Trees.of(len(ENCODING.features), rng.normal(size=outputs) / 3, [stump(rng, outputs) for _ in range(count)])
    return TinyUniverse(FORMULAS[seed % len(FORMULAS)], trees, Rule.of(outputs, tolerance=tolerance))


@pytest.mark.parametrize(("seed", "outputs", "tolerance"), [(0, 1, None), (1, 1, None), (4, 3, None), (6, 1, 1.5)])
def test_sweeps_are_what_trying_everybody_finds(seed: int, outputs: int, tolerance: float | None):
    universe = additive(seed, outputs, tolerance)
    assert universe.swept.terms is not None
    violating = universe.violating()
    standing = Sweeper(universe.swept).run().locate(everybody())
    assert ((standing == CellStatus.VIOLATING) == violating).all()
    assert ((standing == CellStatus.PROVED) == ~violating).all()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 60))
def test_more_of_them(seed: int):
    universe = additive(seed, 3 if seed % 4 == 0 else 1, 1.5 if seed % 3 == 0 and seed % 4 else None)
    violating = universe.violating()
    standing = Sweeper(universe.swept).run().locate(everybody())
    assert ((standing == CellStatus.VIOLATING) == violating).all()
    assert ((standing == CellStatus.PROVED) == ~violating).all()


def some_cells(seed: int) -> UniverseCells:
    rng, cells = np.random.default_rng(seed), [UniverseCells.everybody(ENCODING, whole=True)]
    for _ in range(12):
        one, place = cells.pop(int(rng.integers(len(cells)))), int(rng.integers(4))
        two = (
            one.cut_number(0, place)
            if place < 2
            else one.cut_category(0, place - 2, rng.random(2 if place == 2 else 3) < 0.5)
        )
        cells += [one] if two is None else [two.take([0]), two.take([1])]
    return UniverseCells.joined(cells)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_changes_of_terms_are_those_of_all_pairs(seed: int):
    """Never less than the largest of all similar pairs in the cell."""
    universe, cells, people = additive(seed), some_cells(seed), everybody()
    swept = universe.swept
    assert swept.terms is not None
    region = swept.pairs.region(cells)
    x, other = (people.take(rows.reshape(-1)) for rows in np.meshgrid(np.arange(72), np.arange(72), indexing="ij"))
    pairs = PairedPeople(x, other)
    similar = universe.similarity.holds(x, other)
    for term in swept.terms.model.terms:
        gain = (term(ENCODING.encode(pairs.x)) - term(ENCODING.encode(pairs.other)))[:, 0]
        shared = all(swept.pairs.others[axis.attribute] == axis.attribute for axis in term.bins.axes)
        bound = np.max([
            np.where(cell.present, largest_change(term, np.ones((1, 1)), swept.pairs, cell)[:, 0], -np.inf)
            for cell in region.cells
        ], axis=0)  # fmt: skip
        for row in range(len(cells)):
            here = similar & cells.take(np.full(len(x), row)).contains(x)
            if here.any() and not shared:
                assert bound[row] >= gain[here].max() - 1e-12


def test_a_number_changes_by_no_more_than_is_near():
    """A staircase of ten steps, age within 1: two steps at most between similar people, ten between any two."""
    where = ENCODING.columns("age").start
    steps = [NumberNode(where, float(at), TreeLeaf((0.0,)), TreeLeaf((1.0,))) for at in np.linspace(-1.3, 1.3, 10)]
    trees = Trees.of(len(ENCODING.features), [0.0], steps)
    for tolerance in (4.5, 3.0):
        universe = TinyUniverse("same(all except age) and age within 1", trees, Rule.of(1, tolerance=tolerance))
        assert Sweeper(universe.swept).run(cells=1).share(CellStatus.PROVED) == (tolerance == 4.5)
        assert (Sweeper(universe.swept).run().share(CellStatus.VIOLATING) > 0) == universe.violating().any()


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4])
def test_whatever_the_search_proves_the_closed_form_proves(seed: int):
    universe, cells = additive(seed), some_cells(seed)
    swept = universe.swept
    assert swept.terms is not None
    region = swept.pairs.region(cells)
    mine = AdditiveQuestion(swept, swept.terms).proved(region)
    reach = reached_people(swept.pairs, region, cells, swept.encoding)
    values = universe.function(ENCODING.encode(everybody()))[:, 0] > 0
    inside = reach.contains(np.broadcast_to(ENCODING.encode(everybody()), (len(cells), 72, len(ENCODING.features))))
    alike = np.array([len(set(values[mask])) <= 1 for mask in inside])
    assert (mine | ~alike).all()


def test_no_search_is_made(monkeypatch: pytest.MonkeyPatch):
    def refuse(*words: object, **options: object) -> None:
        raise AssertionError("a search")

    monkeypatch.setattr("lcifr.certification.demands.maximize", refuse)
    swept = replace(additive(1), arithmetic=Arithmetic.FLOAT64).swept
    assert Sweeper(swept).run(cells=30).share(CellStatus.PROVED) > 0


def test_a_booster_with_a_linear_head_is_swept():
    table = everybody().to_pandas()
    y = (np.random.default_rng(0).random(72) + 0.2 * table["age"] + 0.3 * (table["sex"] == "male") > 1.0).astype(int)
    booster = FairBooster(FORMULAS[0], schema=SCHEMA, gamma=0.0, rounds=20, min_people=2).fit(table, y)
    head = RobustClassifier(against="nothing").fit(booster.transform(table), y)
    found = sweep(booster, head, table)
    assert found.share(CellStatus.OPEN) + found.share(CellStatus.CROSSINGS) == 0
    decided, similarity = head.predict(booster.transform(table)), booster.similarity_
    people = everybody()
    for row, standing in enumerate(found.locate(table)):
        alike = similarity.holds(people.take(np.full(72, row)), people)
        assert (standing == CellStatus.VIOLATING) == (decided[alike] != decided[row]).any()
