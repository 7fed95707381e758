"""Contributions: they add up to a person's output, and nobody similar has one outside its range."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.certification.explain import LISTED, Contributions
from lcifr.models.additive import term_name
from lcifr.models.trees import read_additive
from tests.certification import explained_models, scenes


def contributions(made: explained_models.TreeScene) -> Contributions:
    found = read_additive(made.trees, made.encoding)
    assert found is not None
    return Contributions(found, made.model, made.encoding, made.people, {"1": "granted"})


@pytest.mark.parametrize(("together", "outputs"), [(1, 1), (2, 1), (1, 3)])
def test_contributions_add_up_to_what_decides(together, outputs):
    made = explained_models.scene(3, together=together, outputs=outputs)
    values = made.trees(made.x)
    scores = contributions(made).of(made.people, made.encoder.similarity)
    assert len(scores) == len(made.people)
    for score, output in zip(scores, values, strict=True):
        total = score.average + sum(one.adds for one in score.contributions) + score.rest
        assert total == pytest.approx(score.output)
        if outputs == 1:
            assert score.output == pytest.approx(output[0])
            assert (score.up, score.down, score.threshold) == ("granted", "0", 0.0)
        else:  # the lead over the next class
            first, second = sorted(output)[-1], sorted(output)[-2]
            assert score.output == pytest.approx(first - second)
            assert score.up != score.down
        sizes = [abs(one.adds) for one in score.contributions]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) <= LISTED


@pytest.mark.parametrize(
    "formula", [explained_models.FORMULA, scenes.FORMULAS[2], scenes.FORMULAS[3]], ids=["box", "cells", "rows"]
)
def test_nobody_similar_is_outside_the_range(formula):
    made = explained_models.scene(4, formula=formula)
    known = contributions(made)
    scores = known.of(made.people, made.encoder.similarity)
    region = made.encoder.similarity.region(made.people)
    drawn = region.sample(30)
    for row in np.flatnonzero(region.nonempty)[:15]:
        others = region.take([row]).decode(drawn[row][None]).individuals
        exact = known.of_terms(made.encoding.encode(others))[:, :, 0]
        names = [term_name(term) for term in known.found.terms]
        score = scores[row]
        for one in score.contributions:
            theirs = exact[:, names.index(one.attribute)]
            assert one.low - 1e-12 <= theirs.min()
            assert theirs.max() <= one.high + 1e-12
        outputs = made.trees(made.encoding.encode(others))[:, 0]
        assert score.low - 1e-9 <= outputs.min()
        assert outputs.max() <= score.high + 1e-9


def test_the_ends_of_a_box_are_reached():
    made = explained_models.scene(5)
    score = contributions(made).of(made.people, made.encoder.similarity)
    audit = explained_models.audited(5)[1]
    for row in range(len(made.people)):  # the closed form is what the audit proves, here without any rounding
        crosses = score[row].low <= 0 < score[row].high
        assert crosses == bool(audit.violated[row]) or abs(score[row].output) < 1e-6


def test_whom_nobody_is_similar_to_moves_nowhere():
    made = explained_models.scene(6, formula=scenes.FORMULAS[5])
    for score in contributions(made).of(made.people, made.encoder.similarity):
        assert score.low == score.high == score.output
        assert all(one.low == one.high == one.adds for one in score.contributions)
