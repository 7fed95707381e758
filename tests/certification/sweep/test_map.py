"""The map of a sweep against counting everybody of a universe that can be counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lcifr.certification.sweep.result import CellStatus, Sweep, map_cells
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.regions.universe import UniverseCells
from tests.certification.sweep.tiny import SCHEMA, TinyUniverse, everybody


@pytest.fixture(scope="module", params=[1, 5])
def swept(request: pytest.FixtureRequest) -> Sweep:
    return Sweeper(TinyUniverse.with_network(request.param).swept).run(cells=30 if request.param == 5 else 10_000)


def share_of(standing: np.ndarray, mask: np.ndarray) -> dict[str, float]:
    return {str(one): float((standing[mask] == one).mean()) for one in CellStatus}


def values_of(label: str, name: str, table: dict[str, np.ndarray]) -> np.ndarray:
    attribute = SCHEMA[name]
    return table[name] == (label if isinstance(attribute, Categorical) else float(label))


def test_strips_and_grid_count_everybody(swept: Sweep):
    people = everybody()
    standing, frame = swept.locate(people), people.to_pandas()
    table = {name: frame[name].to_numpy() for name in SCHEMA.names}
    found = swept.map()
    assert {one.bins.attribute for one in found.strips} == set(SCHEMA.names)
    for strip in found.strips:
        for label, shares in zip(strip.bins.labels, strip.shares, strict=True):
            expected = share_of(standing, values_of(label, strip.bins.attribute, table))
            assert shares == pytest.approx(expected, abs=1e-12)
    assert found.grid is not None
    for row, line in zip(found.grid.down.labels, found.grid.shares, strict=True):
        for column, shares in zip(found.grid.across.labels, line, strict=True):
            mask = values_of(row, found.grid.down.attribute, table)
            mask = mask & values_of(column, found.grid.across.attribute, table)
            assert shares == pytest.approx(share_of(standing, mask), abs=1e-12)


def test_everybody_is_counted_where_they_can_be(swept: Sweep):
    assert swept.individuals == len(everybody())
    assert (
        int(swept.share(CellStatus.PROVED) * swept.individuals)
        == (swept.locate(everybody()) == CellStatus.PROVED).sum()
    )


def test_the_attribute_that_decides_comes_first():
    categories = (Categorical("sex", ("f", "m")), Categorical("race", ("a", "b")))
    schema = Schema((Numeric("income", lower=0, upper=1), *categories))
    whole = UniverseCells.everybody(Encoding(schema, np.zeros(1), np.ones(1)), whole=True)
    halves = whole.cut_number(0, 0)
    assert halves is not None
    high = halves.take([1]).cut_category(0, 0, np.array([True, False]))
    assert high is not None
    cells = UniverseCells.joined([halves.take([0]), high])
    shares = np.array([float(one / Fraction(4)) for one in cells.measures()])
    known = {"proved": shares * [1, 1, 0], "violating": shares * [0, 0, 1], "open": np.zeros(3)}
    found = map_cells(cells, known)
    assert found.strips[-1].bins.attribute == "race"
    assert all(one["violating"] == pytest.approx(0.25) for one in found.strips[-1].shares)
    assert found.grid is not None
    assert {found.grid.across.attribute, found.grid.down.attribute} == {"income", "sex"}
    corner = found.grid.shares[1][-1]
    assert corner["violating"] == pytest.approx(1.0)
    income = next(one for one in found.strips if one.bins.attribute == "income")
    assert [one["violating"] for one in income.shares[:10]] == [0.0] * 10
    assert [one["violating"] for one in income.shares[10:]] == pytest.approx([0.5] * 10)
