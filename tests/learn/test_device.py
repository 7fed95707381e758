"""Learning on a GPU: the same losses and nearly the same weights as on the CPU. Skipped, and said so, without one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lcifr.estimators import FairEncoder
from tests.learn.populations import SCHEMA, population

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device: torch.cuda.is_available() is False"),
    pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning"),
]

FORMULAS = {
    "one cell": "same(categorical except sex) and numeric within 0.3 sd",
    "two cells": "same(all except sex) or same(categorical) and numeric within 0.2 sd",
}


@pytest.mark.parametrize("method", ["bounds", "dl2"])
@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_a_gpu_learns_what_the_cpu_learns(method: str, formula: str) -> None:
    X, y = population(400)
    cpu, gpu = (
        FairEncoder(formula, schema=SCHEMA, method=method, epochs=4, batch_size=64, device=device).fit(X, y)
        for device in ("cpu", "cuda")
    )
    for here, there in zip(cpu.history_, gpu.history_, strict=True):
        assert there.loss == pytest.approx(here.loss, rel=1e-2)
        assert there.validation.radius == pytest.approx(here.validation.radius, rel=5e-2)
    np.testing.assert_allclose(gpu.transform(X), cpu.transform(X), atol=0.05)


@pytest.mark.parametrize("method", ["bounds", "dl2"])
def test_the_same_seed_gives_the_same_weights_on_the_same_gpu(method: str) -> None:
    X, y = population(300)
    one, two = (
        FairEncoder(FORMULAS["one cell"], schema=SCHEMA, method=method, epochs=2, device="cuda").fit(X, y)
        for _ in range(2)
    )
    np.testing.assert_allclose(one.transform(X), two.transform(X), atol=1e-4)  # sums on a GPU come in any order


def test_reconstruction_and_several_classes() -> None:
    X, _ = population(300)
    classes = np.digitize(np.asarray(X["age"], dtype=float), [35, 50])
    named = FairEncoder(FORMULAS["one cell"], schema=SCHEMA, epochs=2, device="cuda").fit(X, classes)
    blind = FairEncoder(FORMULAS["one cell"], schema=SCHEMA, epochs=2, gamma=0.1, device="cuda").fit(X)
    for encoder in (named, blind):
        assert np.isfinite(encoder.transform(X)).all()
        assert np.isfinite(encoder.reach(X).radius).all()
