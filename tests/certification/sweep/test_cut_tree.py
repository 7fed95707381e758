"""The tree of cuts that is found again makes the very cells it was found from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcifr.certification.sweep.bundle import cut_tree
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.errors import LcifrError
from lcifr.regions.universe import UniverseCells
from tests.certification.sweep.tiny import ENCODING, SCHEMA, TinyUniverse


def halves(cell: UniverseCells, name: str, border: object) -> list[UniverseCells]:
    if isinstance(border, tuple):
        place = SCHEMA.names_categorical.index(name)
        first = np.isin(np.arange(cell.allowed[place].shape[1]), border)
        two = cell.cut_category(0, place, first)
        assert two is not None
        return [two.take([0]), two.take([1])]
    place = SCHEMA.names_numeric.index(name)
    upper, lower = cell.upper.copy(), cell.lower.copy()
    upper[0, place], lower[0, place] = border, border + cell.counted[place]  # type: ignore[operator]
    return [replace(cell, upper=upper), replace(cell, lower=lower)]


@pytest.mark.parametrize("whole", [True, False])
def test_cells_of_a_sweep_are_made_again(whole: bool):
    found = Sweeper(TinyUniverse.with_network(5).swept, whole=whole).run(cells=40)
    cells = found.index.cells
    waiting, seen = [UniverseCells.everybody(ENCODING, whole=whole)], []
    for leaf in cut_tree(cells):
        for cut in leaf.cuts:
            waiting += reversed(halves(waiting.pop(), cut.attribute, cut.border))
        made, expected = waiting.pop(), cells.take([leaf.cell])
        seen.append(leaf.cell)
        assert (made.lower == expected.lower).all()
        assert (made.upper == expected.upper).all()
        assert all((a == b).all() for a, b in zip(made.allowed, expected.allowed, strict=True))
    assert not waiting
    assert sorted(seen) == [*range(len(cells))]


def test_cells_that_no_cuts_make_are_refused():
    """Four around a fifth, like the sails of a mill."""
    ends = [((0, 1), (0, 0)), ((2, 3), (0, 1)), ((1, 3), (2, 2)), ((0, 0), (1, 2)), ((1, 1), (1, 1))]
    numbers = np.array(ends, dtype=np.float64)
    allowed = tuple(np.ones((5, len(a.values)), np.bool_) for a in SCHEMA.categorical)
    with pytest.raises(LcifrError, match="repeatedly cutting the universe in two"):
        list(cut_tree(UniverseCells(SCHEMA, numbers[:, :, 0], numbers[:, :, 1], allowed, True)))
