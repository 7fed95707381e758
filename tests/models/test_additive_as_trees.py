"""Additive models as sums of trees: the same numbers, and proofs that agree with the closed form."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.models.trees import as_trees
from lcifr.prove import maximize
from tests.learn.boosting.models import random_model
from tests.learn.boosting.reference import FORMULAS


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize(("outputs", "pairs"), [(1, 0), (3, 0), (3, 3)])
def test_trees_are_the_same_function(formula: str, outputs: int, pairs: int) -> None:
    model, x, region = random_model(formula, outputs=outputs, pairs=pairs)
    trees = as_trees(model)
    points = np.concatenate([x, region.take(region.nonempty).sample(20).reshape(-1, x.shape[1])])
    np.testing.assert_allclose(trees(points), model(points), rtol=0, atol=1e-12)


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_proofs_agree_with_the_closed_form(formula: str) -> None:
    model, _, region = random_model(formula, seed=5)
    region = region.take(region.nonempty)
    directions = np.array([[1.0], [-1.0]])
    answer = maximize(as_trees(model), directions, region)
    np.testing.assert_allclose(answer.upper, model.largest(region, directions), rtol=0, atol=1e-9)


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_with_pairs_proofs_are_at_most_the_bound(formula: str) -> None:
    model, _, region = random_model(formula, seed=5, pairs=3)
    region = region.take(region.nonempty)
    directions = np.array([[1.0], [-1.0]])
    answer = maximize(as_trees(model), directions, region)
    assert (answer.upper <= model.largest(region, directions) + 1e-9).all()
