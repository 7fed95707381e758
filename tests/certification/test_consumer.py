"""The consumer: the closed form is never on the wrong side, and tight up to rounding; so is all that it reports."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lcifr.certification.consumer import certify, upper_on_box, widest_ball
from lcifr.certification.demands import limits_of, outputs_at
from lcifr.certification.handover import Provenance, Representation, represent
from lcifr.certification.verdicts import Reason, Verdict
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import read_model
from lcifr.models.network import Network
from lcifr.models.rule import Rule
from tests.certification.scenes import FORMULAS, scene
from tests.prove.instances import random_network, wild

NOBODY = Provenance("", "", "", "", None, 1e-6, "given", arithmetic=Arithmetic.FLOAT64)


def representation(latent: np.ndarray, radius: np.ndarray) -> Representation:
    yes = np.ones(len(latent), np.bool_)
    ends = (latent - radius[:, None], latent + radius[:, None])
    return Representation(tuple(range(len(latent))), latent, radius, *ends, yes, ~yes, NOBODY)


def exact_corner(model: Network, direction: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Fraction:
    """The largest value of a linear output on a box, in rational arithmetic."""
    layer = model.layers[0]
    total = sum((Fraction(d) * Fraction(b) for d, b in zip(direction, layer.bias, strict=True)), Fraction(0))
    for j in range(model.inputs):
        c = sum((Fraction(d) * Fraction(w) for d, w in zip(direction, layer.weight[:, j], strict=True)), Fraction(0))
        total += max(c * Fraction(lower[j]), c * Fraction(upper[j]))
    return total


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans())
def test_the_closed_form_is_never_below_and_hardly_above(seed: int, outputs: int, hurt: bool) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, [int(rng.integers(1, 5)), outputs])
    model = wild(rng, model) if hurt else model
    latent, radius = rng.normal(size=(3, model.inputs)), np.abs(rng.normal(size=3))
    lower, upper = latent - radius[:, None], latent + radius[:, None]
    asked = limits_of(Rule.of(outputs), outputs_at(read_model(model).function.deployed(Arithmetic.EXACT), latent))
    found = upper_on_box(model.affine, asked, lower, upper)
    for person in range(3):
        for k, direction in enumerate(asked.directions[person]):
            true = exact_corner(model, direction, lower[person], upper[person])
            assert Fraction(found[person, k]) >= true
            size = np.abs(direction) @ (
                np.abs(model.layers[0].weight) @ np.maximum(np.abs(lower[person]), np.abs(upper[person]))
                + np.abs(model.layers[0].bias)
            )
            assert float(Fraction(found[person, k]) - true) <= 1e-12 * (size + np.abs(found[person, k])) + 1e-150


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_the_largest_radius_is_safe_and_tight(seed: int, outputs: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, [3, outputs])
    latent = rng.normal(size=(4, 3))
    asked = limits_of(Rule.of(outputs), outputs_at(read_model(model).function.deployed(Arithmetic.EXACT), latent))
    farthest = widest_ball(model.affine, asked, latent)
    for person in np.flatnonzero(farthest > 0):
        for share, good in ((0.999999, True), (1.000001, False)):
            ends = latent[person] - share * farthest[person], latent[person] + share * farthest[person]
            values = [exact_corner(model, direction, *ends) for direction in asked.directions[person]]
            assert (max(values) < 0) is good


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("outputs", [1, 3])
def test_a_relu_model_is_certified_up_to_its_largest_radius(seed: int, outputs: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, [2, 4, outputs])
    latent = rng.normal(size=(6, 2))
    handed = representation(latent, np.full(6, 0.05))
    found = certify(handed, model)
    shown = np.flatnonzero(found.largest_radius > 1e-6)
    again = certify(representation(latent, np.maximum(found.largest_radius * 0.999, 1e-9)), model, largest_radius=False)
    assert again.certified[shown].all()
    rule = found.model.rule
    points = latent[:, None] + rng.uniform(-1, 1, (6, 500, 2)) * 0.05
    same = rule.decide(model(points.reshape(-1, 2))).reshape(6, 500) == rule.decide(model(latent))[:, None]
    assert same[found.certified].all()
    assert (found.reason[~found.certified] != Reason.NONE).all()
    assert (found.margin[found.certified] > 0).all()


def test_ties_are_never_certified() -> None:
    model = Network.from_arrays([([[1.0, -1.0]], [0.0])])
    found = certify(representation(np.array([[1.0, 1.0], [2.0, 1.0]]), np.zeros(2)), model)
    assert found.verdict.tolist() == [Verdict.UNDECIDED, Verdict.CERTIFIED]
    assert found.reason[0] == Reason.TIE
    # On the border of the ball the decision is a tie: strictly inside only.
    exactly = certify(representation(np.array([[2.0, 1.0]]), np.array([0.5])), model)
    assert not exactly.certified[0]


def test_groups_join_classes() -> None:
    model = Network.from_arrays([(np.eye(3), np.zeros(3))])
    handed = representation(np.array([[1.0, 0.9, 0.0]]), np.array([0.2]))
    assert not certify(handed, model).certified[0]
    assert certify(handed, model, groups=[[0, 1]]).certified[0]
    assert not certify(handed, model, groups=[[0, 2]]).certified[0]
    for wrong in ([[0, 0]], [[0, 7]]):
        with pytest.raises(LcifrError, match="groups"):
            certify(handed, model, groups=wrong)


@pytest.fixture(scope="module")
def learned() -> tuple[Representation, np.ndarray]:
    one = scene(3, FORMULAS[0], count=60)
    handed = represent(one.encoder, one.people)
    return handed, (one.people["income"] > 30).to_numpy()


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression()), MLPClassifier((4,), max_iter=5000)],
)
def test_scikit_learn_models_in_their_own_labels(learned: tuple[Representation, np.ndarray], model: object) -> None:
    handed, rich = learned
    names = np.where(rich, "yes", "no")
    model = copy.deepcopy(model).fit(handed.latent, names)
    found = certify(handed, model, largest_radius=False)
    assert (found.prediction == model.predict(handed.latent)).all()
    frame = found.frame()
    assert len(frame) == 60
    assert set(frame["radius"]) == {"claimed"}


def test_regression_in_the_targets_units(learned: tuple[Representation, np.ndarray]) -> None:
    handed, rich = learned
    model = LinearRegression().fit(handed.latent, 1000.0 * rich)
    reach = 2 * handed.radius * np.abs(model.coef_).sum()  # from one side of the ball to the other
    middle = float(np.median(reach))
    found = certify(handed, model, tolerance=middle)
    assert (found.certified == (reach < middle))[np.abs(reach - middle) > 1e-9 * middle].all()
    with pytest.raises(LcifrError, match="tolerance"):
        certify(handed, model)


def test_wrong_use_is_refused(learned: tuple[Representation, np.ndarray]) -> None:
    handed, _ = learned
    with pytest.raises(NetworkError, match="numbers"):
        certify(handed, Network.from_arrays([(np.ones((1, 9)), [0.0])]))
    with pytest.raises(LcifrError, match="ball"):
        certify(handed, Network.from_arrays([(np.ones((1, handed.width)), [0.0])]), on="sphere")  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="use"):
        certify(handed, object())


def test_checked_radii_are_said_to_be_so(learned: tuple[Representation, np.ndarray]) -> None:
    handed, _ = learned
    some = replace(handed, checked=np.arange(60) < 10)
    found = certify(some, Network.from_arrays([(np.ones((1, handed.width)), [0.0])]))
    assert found.radius_status.tolist() == ["checked"] * 10 + ["claimed"] * 50
