"""Losses of terms: one place, for which there is a short way, counts as the same place named twice."""

from __future__ import annotations

import numpy as np

from lcifr.learn.boosting.losses import SIGN, evaluate


def test_a_place_that_is_named_twice_counts_once() -> None:
    rng, terms = np.random.default_rng(0), 50
    value, weight, label = rng.normal(size=(terms, 1)) * 5, rng.random(terms), np.zeros(terms)
    once = [np.empty_like(value) for _ in range(2)]
    loss = evaluate(SIGN, value, np.arange(terms + 1), label, weight, *once)
    twice = [np.empty((2 * terms, 1)) for _ in range(2)]
    both = evaluate(SIGN, np.repeat(value, 2, axis=0), 2 * np.arange(terms + 1), label, weight, *twice)
    np.testing.assert_allclose(both, loss, rtol=1e-14)
    for alone, shared in zip(once, twice, strict=True):
        np.testing.assert_allclose(shared.reshape(terms, 2).sum(1), alone[:, 0], rtol=1e-14)
