"""Scores of pairs, in the table's units: at everybody's own values they are what the pair adds."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.certification.explain import pair_scores
from lcifr.display.scores import Axis
from lcifr.models.trees import read_additive
from tests.certification import explained_models


def places(axis: Axis, made: explained_models.TreeScene) -> np.ndarray:
    """(people,) the piece of everybody; −1 beyond what is drawn."""
    if axis.categories:
        return np.asarray(made.people.code(axis.attribute))
    values = made.people.number(axis.attribute)
    inside = (values >= axis.edges[0]) & (values <= axis.edges[-1])
    return np.where(inside, np.searchsorted(axis.edges[1:-1], values), -1)


@pytest.mark.parametrize("seed", [9, 10])
def test_a_map_is_what_the_pair_adds_at_everybodys_own_values(seed):
    made = explained_models.scene(seed, together=2, count=80)
    found = read_additive(made.trees, made.encoding)
    assert found is not None
    scores = pair_scores(found, made.encoding, made.people)
    assert len(scores) == len(found.pairs) > 0
    assert [one.moves for one in scores] == sorted((one.moves for one in scores), reverse=True)
    for score in scores:
        names = {score.across.attribute, score.up.attribute}
        pair = next(pair for pair in found.pairs if set(pair.bins.attributes) == names)
        own = pair(made.x)[:, 0]
        i, j = places(score.across, made), places(score.up, made)
        inside = (i >= 0) & (j >= 0)
        assert inside.mean() > 0.9
        assert np.array(score.adds)[i[inside], j[inside]] == pytest.approx((own - own.mean())[inside])


def test_several_outputs_have_no_map():
    made = explained_models.scene(9, together=2, outputs=3)
    found = read_additive(made.trees, made.encoding)
    assert found is not None
    assert pair_scores(found, made.encoding, made.people) == ()
