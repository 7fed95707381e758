"""Which cell is cut next, and where."""

from __future__ import annotations

import numpy as np

from lcifr.certification.sweep.sweeper import LEAST, agreement, cut
from lcifr.data import Encoding
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from lcifr.regions.universe import UniverseCells
from tests.certification.sweep.tiny import SCHEMA, TinyUniverse


def of_age(border: float, tolerance: float | None = None) -> TinyUniverse:
    """Who is older than this is decided yes."""
    encoding = Encoding(SCHEMA, np.zeros(2), np.ones(2))
    weight = np.zeros((1, len(encoding.features)))
    weight[0, encoding.columns("age")] = 1.0
    network = Network.from_arrays([(weight, np.array([-border]))])
    return TinyUniverse("same(all except sex)", network, Rule.of(1, tolerance=tolerance), encoding=encoding)


def test_cells_whose_people_are_decided_alike_come_first():
    swept = of_age(1.5).swept
    everybody = UniverseCells.everybody(swept.encoding, whole=True)
    (halves,) = cut(everybody, swept.directed_scores)
    assert halves is not None
    assert halves.upper[0, 0] < halves.lower[1, 0]  # along age: nothing else changes the score
    assert (agreement(swept, halves) == 1.0).all()
    assert LEAST <= agreement(swept, everybody)[0] ** 0.25 < 0.5


def test_numbers_have_no_sides_so_the_largest_cell_comes_first():
    swept = of_age(1.5, tolerance=0.5).swept
    assert agreement(swept, UniverseCells.everybody(swept.encoding, whole=True)).tolist() == [1.0]


def test_one_individual_is_not_cut():
    swept = of_age(1.5).swept
    cells = UniverseCells.everybody(swept.encoding, whole=True)
    while (found := cut(cells.take([0]), swept.directed_scores)[0]) is not None:
        cells = found
    assert cells.take([0]).is_single().all()
