"""Terms of additive trees: they add up to the model everywhere, and their largest value is that of enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from lcifr.models.additive import term_maximum, term_name
from lcifr.models.trees import NUMBER, read_additive
from tests.certification import explained_models, scenes


def points_at_thresholds(made: explained_models.TreeScene, rng: np.random.Generator) -> np.ndarray:
    """Encoded people of the scene, with numbers at every threshold and one float beyond it."""
    nodes, found = made.trees.nodes, [made.x]
    for column in made.encoding.numeric_columns:
        used = np.unique(nodes.threshold[(nodes.kind == NUMBER) & (nodes.column == column)])
        for value in [*used, *np.nextafter(used, np.inf)]:
            moved = made.x[rng.integers(len(made.x), size=2)].copy()
            moved[:, column] = value
            found.append(moved)
    return np.concatenate(found)


@pytest.mark.parametrize(("together", "outputs"), [(1, 1), (1, 3), (2, 1), (2, 2)])
def test_terms_add_up_to_the_trees_at_every_threshold(together, outputs):
    for seed in range(4):
        made = explained_models.scene(seed, together=together, outputs=outputs)
        found = read_additive(made.trees, made.encoding)
        assert found is not None
        assert {len(term.bins.axes) for term in found.terms} <= set(range(1, together + 1))
        names = [term_name(term) for term in found.terms]
        assert len(set(names)) == len(names)
        x = points_at_thresholds(made, np.random.default_rng(seed))
        assert found(x) == pytest.approx(made.trees(x), abs=1e-12)


def test_trees_that_read_three_attributes_are_not_additive():
    made = explained_models.scene(1, together=3)
    assert read_additive(made.trees, made.encoding) is None


@pytest.mark.parametrize("formula", [explained_models.FORMULA, scenes.FORMULAS[2]], ids=["one cell", "several cells"])
def test_the_largest_value_is_that_of_all_bins_the_region_reaches(formula):
    made = explained_models.scene(2, together=2, formula=formula)
    found = read_additive(made.trees, made.encoding)
    assert found is not None
    region = made.encoder.similarity.region(made.people)
    for cell, term in product(region.cells, found.terms):
        largest = term_maximum(term, np.ones(1), cell)
        for row in np.flatnonzero(cell.present)[:10]:
            assert largest[row] == max(_values(term, cell, int(row)))


def _values(term, cell, row):
    """Of every combination of bins within the cell, one by one."""
    reached = []
    for bins in term.bins.axes:
        if bins.thresholds is None:
            reached.append(np.flatnonzero(bins.allowed(cell)[row]).tolist())
        else:
            low, high = (float(end[row]) for end in bins.interval(cell))
            inside = [low, high, *(t for t in bins.thresholds if low <= t <= high)]
            inside += [np.nextafter(t, np.inf) for t in bins.thresholds if low <= t < high]
            reached.append([int((bins.thresholds < value).sum()) for value in inside])
    return [float(term.values[places][0]) for places in product(*reached)]
