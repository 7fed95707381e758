"""The plain and the unaware baseline."""

from __future__ import annotations

from typing import Any

import numpy as np

from lcifr.estimators import FairEncoder, RobustClassifier, plain, unaware
from tests.estimators.quick import QUICK, quiet
from tests.learn.populations import FORMULA, population


def flipped(X: Any) -> Any:
    return X.assign(sex=np.where(X["sex"] == "male", "female", "male"))


@quiet
def test_the_unaware_baseline_does_not_see_what_phi_leaves_free() -> None:
    X, y = population(150)
    encoder = FairEncoder(FORMULA, **QUICK)
    blind, bare = unaware(encoder).fit(X, y), plain(encoder).fit(X, y)
    np.testing.assert_allclose(blind.transform(flipped(X)), blind.transform(X), atol=1e-12)
    assert np.abs(bare.transform(flipped(X)) - bare.transform(X)).max() > 1e-3
    assert not hasattr(encoder, "network_")


@quiet
def test_under_cat_everybody_is_certified_and_nothing_is_lost_against_unaware() -> None:
    X, y = population(200)
    encoder = FairEncoder("same(all except sex)", **QUICK).fit(X, y)
    found = encoder.reach(X)
    assert found.radius.max() < 1e-9
    head = RobustClassifier().fit(found.latent, y, radius=found.radius)
    assert head.certified(found.latent, found.radius).all()
    blind = unaware(encoder).fit(X, y)
    same = RobustClassifier(against="nothing").fit(blind.transform(X), y)
    assert head.score(found.latent, y) >= same.score(blind.transform(X), y) - 0.01
