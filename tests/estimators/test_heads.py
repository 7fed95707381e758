"""Heads: what they call certified holds on every point of the ball, and training against the radius pays."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone

from lcifr.errors import LearningError
from lcifr.estimators import RobustClassifier, RobustRegressor
from lcifr.estimators.heads import PlainHeadWarning
from lcifr.learn import losses
from lcifr.learn.target import Target
from lcifr.models.rule import Kind
from tests.learn.populations import latent

pytestmark = pytest.mark.filterwarnings("ignore::lcifr.learn.scores.DegenerateModelWarning")


def corners(z: np.ndarray, radius: np.ndarray, count: int = 60) -> np.ndarray:
    """(people, count, d) points of each ball, most of them corners."""
    draw = np.random.default_rng(1)
    signs = np.sign(draw.normal(size=(len(z), count, z.shape[1])))
    share = np.where(np.arange(count)[None, :, None] % 3 == 0, draw.uniform(size=(len(z), count, 1)), 1.0)
    return z[:, None] + radius[:, None, None] * signs * share


HEADS = [
    ("binary", RobustClassifier()),
    ("binary", RobustClassifier((8,), epochs=15, batch_size=64, learning_rate=0.02)),
    ("classes", RobustClassifier()),
    ("classes", RobustClassifier((8, 6), epochs=15, batch_size=64, learning_rate=0.02)),
    ("number", RobustRegressor(tolerance=6.0)),
    ("number", RobustRegressor((8,), tolerance=6.0, epochs=15, batch_size=64, learning_rate=0.02)),
]


@pytest.mark.parametrize(("kind", "head"), HEADS, ids=[f"{kind}-{len(head.hidden)}" for kind, head in HEADS])
def test_certified_decisions_never_move_inside_the_ball(kind: str, head: Any) -> None:
    z, y, radius = latent(300, kind=kind)
    head.fit(z, y, radius=radius)
    certified = head.certified(z, radius)
    assert 0.1 < certified.mean() < 1.0
    points = corners(z, radius)
    moved = head.predict(points.reshape(-1, z.shape[1])).reshape(points.shape[:2])
    here = head.predict(z)[:, None]
    same = np.abs(moved - here) <= head.tolerance if kind == "number" else moved == here
    if kind == "number":  # f(x) may be any of them: no two are so far apart
        same = np.repeat(np.ptp(moved, axis=1, keepdims=True) < head.tolerance, 2, axis=1)
    assert same[certified].all()
    assert not same.all()  # the balls are large enough for the test to mean something


@pytest.mark.parametrize("kind", ["binary", "classes"])
def test_linear_certificates_are_exact(kind: str) -> None:
    """In front of a linear head, a ball that is not certified holds a point of another class (up to rounding)."""
    z, y, radius = latent(200, kind=kind)
    head = RobustClassifier().fit(z, y, radius=radius)
    weight, output = head.network_.layers[0].weight, head.network_(z)
    for person in np.flatnonzero(~head.certified(z, radius)):
        if kind == "binary":
            direction = -np.sign(output[person, 0]) * weight
        else:
            own = output[person].argmax()
            direction = np.delete(weight - weight[own], own, axis=0)
        worst = z[person] + 1.0000001 * radius[person] * np.sign(direction)
        assert any(head.predict(point[None])[0] != head.predict(z[[person]])[0] for point in worst)


@pytest.mark.parametrize("hidden", [(), (10,)])
def test_training_against_the_radius_certifies_more(hidden: tuple[int, ...]) -> None:
    z, y, radius = latent(400)
    radius = radius * 2
    options: dict[str, Any] = {"hidden": hidden, "epochs": 20, "batch_size": 64, "learning_rate": 0.02}
    robust = RobustClassifier(gamma=5.0, **options).fit(z, y, radius=radius)
    bare = RobustClassifier(against="nothing", **options).fit(z, y, radius=radius)
    one = RobustClassifier(against="delta", delta=float(radius.mean()), gamma=5.0, **options).fit(z, y)
    others, labels, reach = latent(400, seed=5)
    share = {name: head.certified(others, 2 * reach).mean() for name, head in (("r", robust), ("n", bare), ("d", one))}
    assert share["r"] > share["n"]
    assert share["d"] > share["n"]
    assert robust.score(others, labels) > 0.75


def test_worst_values_of_a_linear_head_are_attained() -> None:
    draw = torch.Generator().manual_seed(0)
    for classes in (2, 4):
        target = Target.of(np.arange(classes))
        weight = torch.randn(target.outputs, 3, generator=draw, dtype=torch.float64)
        z, radius = torch.randn(20, 3, generator=draw, dtype=torch.float64), torch.rand(20, generator=draw).double()
        label = torch.randint(0, classes, (20,), generator=draw).double()
        worst = losses.worst_values(target, z @ weight.T, label, radius, losses.lengths(target, weight))
        directions = losses.directions(target, label) @ weight
        point = z[:, None] + radius[:, None, None] * directions.sign()
        reached = (directions * point).sum(-1)
        torch.testing.assert_close(worst, reached)
        assert target.kind is (Kind.SIGN if classes == 2 else Kind.CLASS)


def test_worst_values_around_a_box_are_attained() -> None:
    draw = torch.Generator().manual_seed(3)
    for classes in (2, 4):
        target = Target.of(np.arange(classes))
        weight = torch.randn(target.outputs, 3, generator=draw, dtype=torch.float64)
        middle, reach = torch.randn(20, 3, generator=draw).double(), torch.rand(20, 3, generator=draw).double()
        label = torch.randint(0, classes, (20,), generator=draw).double()
        worst = losses.worst_around(target, middle @ weight.T, label, reach, losses.sizes(target, weight))
        directions = losses.directions(target, label) @ weight
        reached = (directions * (middle[:, None] + reach[:, None] * directions.sign())).sum(-1)
        torch.testing.assert_close(worst, reached)


@pytest.mark.parametrize("hidden", [(), (6,)])
def test_a_head_that_is_learned_for_boxes_is_certified_on_more_of_them(hidden: tuple[int, ...]) -> None:
    """The telling coordinate moves, the others do not: a ball takes all of them for equally far-reaching."""
    z, y, radius = latent(300)
    low, high = z.copy(), z.copy()
    low[:, 1], high[:, 1] = z[:, 1] - 6 * radius, z[:, 1] + 2 * radius
    box = (low, high)
    around = np.maximum(high - z, z - low).max(1)
    options: dict[str, Any] = {"hidden": hidden, "epochs": 15, "batch_size": 64, "learning_rate": 0.02, "gamma": 5.0}
    boxed = RobustClassifier(**options).fit(z, y, radius=around, box=box)
    balled = RobustClassifier(**options).fit(z, y, radius=around)
    plain = RobustClassifier(against="nothing", **options).fit(z, y)
    assert boxed.certified(z, box=box).mean() > plain.certified(z, box=box).mean()
    assert boxed.score(z, y) > balled.score(z, y)
    assert (boxed.certified(z, around) <= boxed.certified(z, box=box)).all()  # the ball holds the box
    if not hidden:  # exact, so the corners say the same
        weight = boxed.network_.layers[0].weight[0]
        corners = [np.where(sign * weight > 0, high, low) for sign in (1, -1)]
        signs = [boxed.decision_function(corner) > 0 for corner in corners]
        np.testing.assert_array_equal(boxed.certified(z, box=box), signs[0] == signs[1])


def test_a_box_that_runs_backwards_is_refused() -> None:
    z, y, _ = latent(20)
    with pytest.raises(LearningError, match=r"runs backwards[\s\S]*Fix: "):
        RobustClassifier().fit(z, y, box=(z + 1, z - 1))


def test_losses_are_the_usual_ones() -> None:
    draw = torch.Generator().manual_seed(1)
    output = torch.randn(30, 4, generator=draw, dtype=torch.float64)
    label = torch.randint(0, 4, (30,), generator=draw)
    several = Target.of(np.arange(4))
    own = losses.of(several, losses.values(several, output, label.double()), label.double())
    torch.testing.assert_close(own, torch.nn.functional.cross_entropy(output, label, reduction="none"))
    two, bit = Target.of(np.arange(2)), (label % 2).double()
    own = losses.of(two, losses.values(two, output[:, :1], bit), bit)
    usual = torch.nn.functional.binary_cross_entropy_with_logits(output[:, 0], bit, reduction="none")
    torch.testing.assert_close(own, usual)
    number = Target.of(np.linspace(0.0, 1.0, 30) ** 2, "regression")
    own = losses.of(number, losses.values(number, output[:, :1], bit), bit)
    torch.testing.assert_close(own, (output[:, 0] - bit).square())


@pytest.mark.parametrize(
    ("options", "radius", "words"),
    [
        ({"against": "radius"}, None, "no radius"),
        ({"against": "delta"}, None, "delta=None"),
        ({"against": "everything"}, None, "against="),
        ({}, np.ones(3), "radius has the shape"),
        ({}, -np.ones(50), "negative"),
        ({"epochs": 0, "hidden": (3,), "against": "nothing"}, None, "epochs=0"),
        ({"class_weight": {7: 2.0}, "against": "nothing"}, None, "not a class"),
    ],
)
def test_wrong_settings_are_refused_with_words(options: dict[str, Any], radius: Any, words: str) -> None:
    z, y, _ = latent(50)
    with pytest.raises(LearningError, match=words):
        RobustClassifier(**options).fit(z, y, radius=radius)


@pytest.mark.parametrize(("kind", "head"), [HEADS[0], HEADS[4]], ids=["classes", "number"])
def test_a_head_that_is_given_nothing_to_be_trained_against_warns_once_and_says_what_to_pass(
    kind: str, head: Any
) -> None:
    z, y, radius = latent(100, kind=kind)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        plain = clone(head).fit(z, y)
    [warned] = [one for one in heard if one.category is PlainHeadWarning]
    assert Path(warned.filename) == Path(__file__)  # the line that called fit
    assert "radius=" in str(warned.message)
    assert 'against="nothing"' in str(warned.message)
    for meant in (
        clone(head).set_params(against="nothing").fit(z, y),  # the same head, and no warning: these are errors in tests
        clone(head).fit(z, y, radius=radius),
        clone(head).fit(z, y, box=(z - radius[:, None], z + radius[:, None])),
        clone(head).set_params(delta=0.1).fit(z, y),
    ):
        same = meant.network_.hash == plain.network_.hash
        assert same == (meant.against == "nothing")
