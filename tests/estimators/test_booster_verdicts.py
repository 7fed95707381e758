"""Whom boosters certify: nobody similar to them is decided otherwise, and the rest have a counterexample."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lcifr import audit
from lcifr.learn.scores import DegenerateModelWarning
from tests.estimators.made_boosters import booster, crossed
from tests.estimators.quick import quiet
from tests.learn.populations import SCHEMA, population


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_learns_and_certifies(kind: str) -> None:
    X, y = population(400, kind=kind)
    new, truth = population(300, seed=1, kind=kind)
    tolerance = 800.0 if kind == "number" else 0.0
    plain = booster(kind, gamma=0.0, tie_free=False, tolerance=tolerance).fit(X, y)
    fair = booster(kind, gamma=3.0, tolerance=tolerance).fit(X, y)
    assert fair.score(new, truth) > (0.65 if kind == "classes" else 0.7)
    assert fair.certified(new).mean() > plain.certified(new).mean()
    assert "sex" in fair.unread_
    assert "sex" not in plain.unread_


@pytest.mark.parametrize(("kind", "pairs"), [("binary", 0), ("classes", 0), ("binary", 3)])
def test_nobody_drawn_from_the_region_of_the_certified_is_decided_otherwise(kind: str, pairs: int) -> None:
    X, y = population(200, kind=kind)
    fitted = booster(kind, interactions=pairs).fit(X, y)
    certified, decided, region = fitted.certified(X), fitted.predict(X), fitted.region(X)
    assert 0 < certified.sum() < len(X)
    for person in np.flatnonzero(certified):
        others = region.take([person]).sample(40, seed=int(person))[0]
        scores = fitted.additive_(others)
        assert (fitted.classes_[fitted.target_.rule.decide(scores)] == decided[person]).all()


def test_whoever_is_not_certified_has_somebody_similar_with_another_decision() -> None:
    """The closed form is exact: of a number and a free category, the worst similar person exists."""
    X, y = population(150)
    fitted = booster(tie_free=False, gamma=0.1).fit(X, y)
    for person in np.flatnonzero(~fitted.certified(X))[:40]:
        cell = fitted.region(X).take([person]).cells[0]
        low, high = (dict(zip(cell.numeric.tolist(), end[0], strict=True)) for end in (cell.lower, cell.upper))
        found = set()
        sides = {shape.bins.attribute: shape.bins for shape in fitted.additive_.shapes}
        ends = [
            np.unique(
                [
                    low[c],
                    high[c],
                    *(
                        t
                        for t in (sides[n].thresholds if n in sides else ())
                        for t in (t, np.nextafter(t, 9))
                        if low[c] <= t <= high[c]
                    ),
                ]
            )
            for n, c in (("age", 0), ("income", 1))
        ]
        own = fitted.encoding_.encode(X.iloc[[person]])
        for age in ends[0]:
            for income in ends[1]:
                for sex in (0, 1):
                    other = own.copy()
                    other[0, :2] = age, income
                    other[0, 2:4] = np.eye(2)[sex]
                    found.add(bool(fitted.additive_(other)[0, 0] > 0))
        assert found == {True, False}


@quiet
def test_an_audit_of_pairs_certifies_at_least_those_whom_bounds_certify() -> None:
    X, y = crossed(200)
    fitted = booster(interactions=3, gamma=0.1).fit(X, y)
    assert fitted.additive_.pairs
    found = audit(fitted, X.head(60), similarity=fitted.similarity_, arithmetic="exact")
    assert (found.certified | found.violated).all()
    assert found.certified[fitted.certified(X.head(60))].all()
    assert found.violated.any()


@quiet
@pytest.mark.parametrize(("kind", "pairs"), [("binary", 0), ("number", 3)])
def test_what_attributes_add_up_to_is_the_score(kind: str, pairs: int) -> None:
    X, y = crossed(200, kind)
    fitted = booster(kind, interactions=pairs, gamma=0.1).fit(X, y)
    explanation = fitted.explain(X.head(20), ids=[f"p{row}" for row in range(20)])
    assert explanation.additive
    assert bool(explanation.pairs) == bool(pairs)
    assert {one.attribute for one in explanation.scores}.isdisjoint(fitted.unread_)
    for row, score in enumerate(fitted.scores(X.head(20))[:5, 0]):
        person = explanation.person(f"p{row}")
        assert person.score is not None
        assert person.score.output == pytest.approx(score)


def test_whole_numbers_certify_at_least_as_many() -> None:
    X, y = population(200)
    whole = pd.DataFrame(X).assign(age=np.rint(X["age"]), income=np.rint(2 * X["income"]))
    schema = SCHEMA.from_dict(
        {
            **SCHEMA.to_dict(),
            "attributes": {
                **SCHEMA.to_dict()["attributes"],
                "age": {"kind": "numeric", "integer": True},
                "income": {"kind": "numeric", "integer": True},
            },
        }
    )
    shares = [
        booster(schema=schema, whole_numbers=which).fit(whole, y).certified(whole).mean() for which in (False, True)
    ]
    assert shares[1] > shares[0]


def test_classes_that_say_nothing_are_said_to_be_trivial() -> None:
    X, _ = population(60)
    y = np.arange(60) % 7 == 0
    with pytest.warns(DegenerateModelWarning, match="decides the same for everybody"):
        fitted = booster(gamma=50.0).fit(X, y)
    assert "constant" in {one.name for one in fitted.degeneracies_}
