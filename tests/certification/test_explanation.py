"""Explanations as a user meets them: in a notebook, as figures, as frames, and where there is nothing to show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcifr.certification.explain import PAIRS, SHOWN, Explanation, undrawn_pairs
from lcifr.certification.handover import FrozenEncoder
from lcifr.display.scores import signed
from lcifr.errors import LcifrError
from lcifr.models.loading import read_model
from tests.certification import explained_models
from tests.prove.instances import random_network
from tests.report.tags import Tags


def test_a_notebook_shows_scores_and_a_person():
    _, found = explained_models.audited(5)
    explanation = found.explain()
    assert explanation.additive
    page = Tags(explanation._repr_html_())
    assert page.names.count("svg") == min(len(explanation.scores), SHOWN)
    row = int(found.violated.argmax())
    person = explanation.person(found.ids[row])
    page = Tags(person._repr_html_())
    assert "script" not in page.names
    assert page.names.count("svg") == len(person.score.contributions) + len(person.marked) + len(person.profiles)
    assert "counterexample" in page.text
    assert all(one.attribute in person.near.may for one in (marked.score for marked in person.marked))
    frame = person.frame()
    assert (frame["low"] <= frame["adds"] + 1e-12).all()
    assert (frame["adds"] <= frame["high"] + 1e-12).all()


def test_figures_have_axes_for_everything_that_is_shown():
    _, found = explained_models.audited(5)
    explanation = found.explain()
    row = int(found.violated.argmax())
    figure = explanation.plot(person=found.ids[row])
    assert len(figure.axes) == min(len(explanation.scores), SHOWN)
    person = explanation.person(found.ids[row])
    assert len(person.plot().axes) == 1
    assert len(person.plot_around().axes) == len(person.profiles)
    one = explanation.plot(["age"])
    assert len(one.axes) == 1


def test_a_model_that_is_not_additive_is_shown_around_its_counterexamples_only():
    _, found = explained_models.audited(8, together=3)
    explanation = found.explain()
    assert not explanation.additive
    assert explanation.scores == ()
    assert "not a sum" in explanation._repr_html_()
    with pytest.raises(LcifrError, match="not a sum"):
        explanation.plot()
    row = int(found.violated.argmax())
    person = explanation.person(found.ids[row])
    assert person.score is None
    assert len(person.plot().axes) == len(person.profiles) > 0
    certified = explanation.person(found.ids[int(found.certified.argmax())])
    with pytest.raises(LcifrError, match="no counterexample"):
        certified.plot()


@pytest.mark.parametrize("depth", [0, 1], ids=["linear", "deeper"])
def test_a_linear_model_on_scores_is_additive_too(depth):
    """As a consumer has it who learns on the scores that a booster hands over."""
    made = explained_models.scene(5, outputs=3)
    rng = np.random.default_rng(0)
    encoder = FrozenEncoder(made.trees, made.encoder.similarity)
    head = read_model(random_network(rng, [3, *[4] * depth, 1]))
    explanation = Explanation(encoder, head, made.people, tuple(range(len(made.people))))
    assert explanation.additive == (depth == 0)
    if explanation.additive:
        outputs = head.function(made.trees(made.x))[:, 0]
        for row in range(5):
            assert explanation.person(row).score.output == pytest.approx(outputs[row])


def test_pairs_count_in_contributions_and_are_named():
    _, found = explained_models.audited(9, together=2)
    explanation = found.explain()
    assert explanation.pairs
    page = Tags(explanation._repr_html_())
    assert page.names.count("svg") == min(len(explanation.scores), SHOWN) + min(len(explanation.pairs), PAIRS)
    maps = explanation.plot_pairs()
    assert len(maps.axes) == min(len(explanation.pairs), PAIRS)
    most = max(value for column in explanation.pair_scores[0].adds for value in column)
    assert f"up to {signed(most)}" in {words.get_text() for words in maps.axes[0].texts}
    for name in undrawn_pairs(explanation.pairs, explanation.pair_scores):
        assert name in page.text
    listed = {one.attribute for one in explanation.person(found.ids[0]).score.contributions}
    assert listed & set(explanation.pairs)


def test_what_cannot_be_explained_is_refused_with_the_reason():
    _, found = explained_models.audited(5)
    with pytest.raises(LcifrError, match="read from files"):
        replace(found, encoder=None).explain()
    with pytest.raises(LcifrError, match="no person"):
        found.explain().person("nobody")
    with pytest.raises(LcifrError, match="no attribute"):
        found.explain().plot(["shoe size"])


def test_very_many_people_are_taken_at_even_distances(monkeypatch):
    from lcifr.certification import explain

    _, found = explained_models.audited(5)
    monkeypatch.setattr(explain, "MOST_PEOPLE", 15)
    some = found.explain().base
    assert len(some) <= 15
    assert np.array_equal(some.numbers, found.people.numbers[::3])
