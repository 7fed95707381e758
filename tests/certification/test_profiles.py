"""Profiles around counterexamples: the model's own outputs everywhere along an attribute, and the decision changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from lcifr.certification.audit import audit
from lcifr.certification.profiles import profiles
from lcifr.data import Individuals, Schema
from lcifr.phi import Similarity
from tests.certification import explained_models, scenes


def along(other: Individuals, attribute: str, values: np.ndarray) -> Individuals:
    frame = pd.concat([other.to_pandas()] * len(values), ignore_index=True)
    frame[attribute] = values
    numbers, codes = other.numbers.repeat(len(values), 0), other.codes.repeat(len(values), 0)
    if attribute in other.schema.names_numeric:
        numbers[:, other.schema.names_numeric.index(attribute)] = values
    else:
        codes[:, other.schema.names_categorical.index(attribute)] = values
    return Individuals(other.schema, numbers, codes)


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_output_of_trees_is_exact_at_every_place(outputs):
    made, found = explained_models.audited(8, together=3, outputs=outputs)
    rng, seen = np.random.default_rng(0), 0
    for row in np.flatnonzero(found.violated)[:12]:
        person, other = found.people.take([row]), found.others.take([row])
        for one in profiles(made.encoder, made.model, person, other):
            seen += 1
            if one.categories:
                values = np.arange(len(one.categories))
                place = values
            else:
                assert one.edges[0] < min(one.own, one.other) + 1e-9
                assert one.edges[-1] > max(one.own, one.other) - 1e-9
                values = rng.uniform(one.edges[0], one.edges[-1], 60)
                place = np.searchsorted(one.edges[1:-1], values)
            theirs = made.trees(made.encoding.encode(along(other, one.attribute, values)))
            if outputs == 1:
                shown = theirs[:, 0]
            else:
                own = int(made.trees(made.encoding.encode(person))[0].argmax())
                shown = theirs[:, own] - np.delete(theirs, own, axis=1).max(1)
            assert np.array(one.outputs)[place] == pytest.approx(shown, abs=1e-12)
            (limit,) = one.limits
            decided = made.model.decide(made.trees(made.encoding.encode(other)))[0]
            if outputs == 1:
                assert (one.at_other > limit) == bool(decided)
            else:
                assert one.at_other < limit
    assert seen > 8


def test_each_attribute_that_differs_has_a_profile():
    made, found = explained_models.audited(8, together=3)
    for row in np.flatnonzero(found.violated):
        person, other = found.people.take([row]), found.others.take([row])
        both = pd.concat([person.to_pandas(), other.to_pandas()])
        differ = [name for name in person.schema.names if both[name].iloc[0] != both[name].iloc[1]]
        assert [one.attribute for one in profiles(made.encoder, made.model, person, other)] == differ


def test_what_a_pipeline_clips_has_no_step_there():
    """Beyond the training range a clipping scaler makes everybody alike, whatever thresholds trees have."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 10, 300), "age": rng.uniform(20, 60, 300)})
    model = make_pipeline(MinMaxScaler(clip=True), GradientBoostingClassifier(n_estimators=10, random_state=0))
    model.fit(frame, (frame.income + 0.1 * frame.age + rng.normal(0, 1, 300)) > 9)
    wide = pd.DataFrame({"income": rng.uniform(-5, 15, 60), "age": rng.uniform(20, 60, 60)})
    similarity = Similarity("income within 8 and age within 4", Schema.infer(wide), frame)
    found = audit(model, wide, similarity=similarity)
    assert found.violated.any()
    for row in np.flatnonzero(found.violated):
        for one in profiles(found.encoder, found.model, found.people.take([row]), found.others.take([row])):
            if one.attribute == "income":
                values = rng.uniform(one.edges[0], one.edges[-1], 50)
                theirs = along(found.others.take([row]), "income", values)
                exact = found.model.function(found.encoder.encoding.encode(theirs))[:, 0]
                assert np.array(one.outputs)[np.searchsorted(one.edges[1:-1], values)] == pytest.approx(exact)
                assert all(0 <= edge <= 10 for edge in one.edges[1:-1])


def test_networks_are_computed_at_points():
    made = scenes.scene(3, explained_models.FORMULA, count=40)
    found = audit(made.encoder, made.model, made.people, modular=False)
    row = int(found.violated.argmax())
    assert found.violated[row]
    for one in profiles(made.encoder, found.model, found.people.take([row]), found.others.take([row])):
        assert not one.stepwise or one.categories
        if not one.categories:
            points = along(found.others.take([row]), one.attribute, np.array(one.edges))
            exact = found.model.function(made.encoder.network(made.encoder.encoding.encode(points)))[:, 0]
            assert np.array(one.outputs) == pytest.approx(exact)
            assert {one.own, one.other} <= set(one.edges)
