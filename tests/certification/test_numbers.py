"""A model of numbers: one unit everywhere, the label's own, whatever that unit is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.online import OnlineCertifier

from lcifr.certification.audit import audit
from lcifr.certification.consumer import certify
from lcifr.certification.handover import represent
from lcifr.errors import LearningError
from lcifr.estimators import FairEncoder, RobustRegressor
from lcifr.models.network import Network, compose, merge
from lcifr.prove import maximize
from tests.certification.scenes import FORMULAS, scene
from tests.learn.populations import FORMULA, population

UNITS = [(1.0, 0.0), (1e-6, -3e-6), (1e9, -4e10)]


def in_units(model: Network, scale: float, shift: float) -> Network:
    return compose(model, Network.from_arrays([(np.array([[scale]]), np.array([shift]))]))


@pytest.mark.parametrize("seed", range(4))
def test_verdicts_do_not_depend_on_the_unit(seed: int) -> None:
    one = scene(seed, FORMULAS[seed], count=4, depth=1)
    handed = represent(one.encoder, one.people)
    own = one.model(one.encoder.transform(one.people))
    region = one.encoder.similarity.region(one.people, whole_numbers=True)
    both = np.broadcast_to(np.array([[1.0], [-1.0]]), (len(own), 2, 1))
    best = maximize(merge(one.encoder.network, one.model), both, region).upper
    far = np.maximum(best[:, 0] - own[:, 0], best[:, 1] + own[:, 0])
    # Hardly more than somebody needs: nothing may stop the engine before it has seen that.
    for tolerance in (0.7 * float(far.max()), 1.02 * float(far.max())):
        seen = []
        for scale, shift in UNITS:
            model = in_units(one.model, scale, shift)
            whole = audit(one.encoder, model, one.people, modular=False, tolerance=tolerance * scale)
            ball = certify(handed, model, tolerance=tolerance * scale, largest_radius=False)
            assert whole.prediction == pytest.approx(own[:, 0] * scale + shift, rel=1e-9, abs=1e-12 * scale)
            assert whole.margin.max() <= tolerance * scale
            seen.append((whole.verdict.tolist(), ball.verdict.tolist()))
        assert [other for other in seen if other != seen[0]] == []


@pytest.fixture(scope="module")
def learned() -> tuple[FairEncoder, RobustRegressor, Any, Any]:
    X, y = population(120, kind="number")
    y = y + 40_000
    encoder = FairEncoder(FORMULA, hidden=(6,), latent_dim=3, epochs=12, batch_size=32, tolerance=500.0).fit(X, y)
    near = encoder.reach(X)
    head = RobustRegressor(tolerance=500.0).fit(near.latent, y, radius=near.radius)
    return encoder, head, X, y


def test_every_answer_is_in_the_labels_unit(learned: tuple[FairEncoder, RobustRegressor, Any, Any]) -> None:
    encoder, head, X, y = learned
    X, y = X.head(20), y[:20]
    latent = encoder.transform(X)
    predicted = head.predict(latent)
    assert np.abs(predicted - y).mean() < 2_000
    assert (head.network_(latent)[:, 0] == predicted).all()
    handed = encoder.represent(X)
    whole, ball = audit(encoder, head, X, tolerance=500.0, modular=False), certify(handed, head, tolerance=500.0)
    for found in (whole, ball):
        assert found.frame()["prediction"].to_numpy() == pytest.approx(predicted)
        assert found.margin.max() <= 500.0
        assert found.model.rule.tolerance == 500.0
    desk = OnlineCertifier(encoder, head, tolerance=500.0).decide(X.iloc[0].to_dict())
    assert desk.prediction == pytest.approx(predicted[0])
    assert desk.margin <= 500.0


def test_the_encoders_own_head_speaks_it_too(learned: tuple[FairEncoder, RobustRegressor, Any, Any]) -> None:
    encoder, _, X, y = learned
    assert encoder.head_ is not None
    assert np.abs(encoder.head_(encoder.transform(X))[:, 0] - y).mean() < 2_000


@pytest.mark.parametrize("scale", [1e-6, 1.0, -1.0, 1e9])
@pytest.mark.parametrize("hidden", [(), (4,)])
def test_learning_does_not_depend_on_the_unit(hidden: tuple[int, ...], scale: float) -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(80, 3))
    y = z @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=80) + 20
    settings = {"hidden": hidden, "epochs": 20}
    plain = RobustRegressor(tolerance=0.5, **settings).fit(z, y, radius=0.1)
    other = RobustRegressor(tolerance=0.5 * abs(scale), **settings).fit(z, scale * y, radius=0.1)
    assert other.score(z, scale * y) == pytest.approx(plain.score(z, y), abs=1e-6 if scale > 0 else 0.2)
    if scale > 0:
        assert (other.certified(z, 0.1) == plain.certified(z, 0.1)).all()
        assert other.predict(z) == pytest.approx(scale * plain.predict(z), rel=1e-6)
    assert other.model_.mean == pytest.approx(scale * y.mean())


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.full(30, 4.5), "every label is 4.5"),
        (np.linspace(1e-200, 2e-200, 30), "spread cannot be told"),
        (np.linspace(-1e300, 1e300, 30), "spread cannot be told"),
    ],
)
def test_labels_of_which_nothing_can_be_learned(y: Any, words: str) -> None:
    with pytest.raises(LearningError, match=f"(?s){words}.*Fix"):
        RobustRegressor().fit(np.random.default_rng(0).normal(size=(30, 2)), y)
