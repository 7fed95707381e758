"""Growth of a tree: sums of a child that are taken as the rest are those that counting would give."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from lcifr.learn.boosting.boosting import GrowingModel
from lcifr.learn.boosting.proposals import TreeGrower
from lcifr.learn.parameters import BoostingSettings
from lcifr.models.additive import choose_bins
from tests.learn.boosting.reference import FORMULAS, encoded

POOL = ThreadPoolExecutor(2)


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_both_children_have_the_sums_of_their_own_places(
    formula: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding, target, people = encoded(120, formula, kind=kind, weighted=True)
    grown = GrowingModel(people, people, target, BoostingSettings(min_people=3, gamma=1.0), POOL)
    for one in choose_bins(encoding, people.x, people.region, 10):
        grown.add(one)
    divided = TreeGrower._sums_of
    nodes = 0

    def compared(self: TreeGrower, children: Any, sums: Any) -> Any:
        nonlocal nodes
        known = divided(self, children, sums)
        for child, own in zip(children, known, strict=True):
            for term, counted in self._sums(child).items():
                np.testing.assert_allclose(own[term].sums, counted.sums, atol=1e-12)
                np.testing.assert_array_equal(own[term].people, counted.people)
            nodes += 1
        return known

    monkeypatch.setattr(TreeGrower, "_sums_of", compared)
    for output in range(target.outputs):
        assert grown.grower.grow(grown.derivatives(output), 3) is not None
    assert nodes >= 2 * target.outputs
