"""Scores of attributes, in the table's units: at everybody's own value they are what the model adds."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.certification.explain import attribute_scores
from lcifr.models.additive import term_name
from lcifr.models.trees import read_additive
from tests.certification import explained_models


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_score_is_what_the_model_adds_at_everybodys_own_value(outputs):
    made = explained_models.scene(7, outputs=outputs, count=120)
    found = read_additive(made.trees, made.encoding)
    assert found is not None
    scores = attribute_scores(found, made.model, made.encoding, made.people)
    assert {one.attribute for one in scores} == {term_name(term) for term in found.terms}
    assert [one.moves for one in scores] == sorted((one.moves for one in scores), reverse=True)
    terms = {term_name(term): term for term in found.terms}
    for score in scores:
        own = terms[score.attribute](made.x)
        centred = own - own.mean(0)
        assert score.moves == pytest.approx((own.max(0) - own.min(0)).max())
        assert len(score.adds) == outputs == max(len(score.outputs), 1)
        if score.categories:
            place = made.people.code(score.attribute)
            assert sum(score.counts) == len(made.people)
        else:
            assert score.people is not None
            values = made.people.number(score.attribute)
            assert sum(score.people.counts["people"]) == len(values)
            inside = (values >= score.edges[0]) & (values <= score.edges[-1])
            assert inside.mean() > 0.95
            place = np.clip(np.searchsorted(score.edges[1:-1], values), 0, len(score.edges) - 2)
            place, centred = place[inside], centred[inside]
        for output, adds in enumerate(score.adds):
            assert np.array(adds)[place] == pytest.approx(centred[:, output])
