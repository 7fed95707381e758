"""Audits of boosters: the closed form, the search with proofs, and counterexamples agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lcifr import FairBooster, FairBoosterRegressor, audit
from lcifr.errors import LearningError
from tests.learn.populations import FORMULA, SCHEMA, population

QUICK: dict[str, Any] = {"schema": SCHEMA, "rounds": 30, "learning_rate": 0.3, "min_people": 3}


@pytest.mark.parametrize("kind", ["binary", "number"])
def test_audits_certify_whom_the_closed_form_certifies_and_refute_the_others(kind: str) -> None:
    X, y = population(60, kind=kind)
    if kind == "number":
        booster = FairBoosterRegressor(FORMULA, tolerance=700.0, **QUICK).fit(X, y)
    else:
        booster = FairBooster(FORMULA, **QUICK).fit(X, y)
    found = audit(booster, X, similarity=booster.similarity_)
    certified = booster.certified(X)
    assert 0 < certified.sum() < len(X)
    np.testing.assert_array_equal(found.certified, certified)
    assert (found.certified | found.violated).all()


def test_a_similarity_of_another_table_is_refused() -> None:
    X, y = population(40)
    booster = FairBooster(FORMULA, **QUICK).fit(X, y)
    with pytest.raises(LearningError, match=r"another schema[\s\S]*Fix: "):
        audit(booster, X[["age", "sex"]], similarity="same(all)")
