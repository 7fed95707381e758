"""The rule of decision: ties, groups and numbers; learning and prediction decide by the same rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from lcifr.errors import LcifrError
from lcifr.estimators import RobustClassifier, RobustRegressor
from lcifr.learn import losses
from lcifr.learn.target import Target
from lcifr.models.rule import Kind, Rule
from tests.learn.populations import latent


def test_zero_decides_for_the_first_of_two_classes() -> None:
    tiny = np.nextafter(0.0, 1.0)
    assert Rule.of(1).decide(np.array([[0.0], [-0.0], [tiny], [-tiny]])).tolist() == [0, 0, 1, 0]


def test_the_first_of_the_largest_outputs_decides() -> None:
    values = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    assert Rule.of(3).decide(values).tolist() == [0, 1, 0]


def test_numbers_are_the_outputs() -> None:
    values = np.array([[1.5], [-2.0]])
    assert Rule.of(1, tolerance=0.5).decide(values).tolist() == [1.5, -2.0]
    pairs = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert Rule.of(2, tolerance=0.5).decide(pairs).tolist() == pairs.tolist()


def test_every_class_is_in_one_group() -> None:
    rule = Rule.of(4, groups=[[3, 1]])
    assert sorted(c for group in rule.groups for c in group) == [0, 1, 2, 3]
    group = rule.group_of
    assert group[1] == group[3]
    assert len(set(group[[0, 1, 2]])) == 3
    assert len(set(Rule.of(1).group_of)) == Rule.of(1).classes == 2


@pytest.mark.parametrize(
    ("outputs", "options", "words"),
    [
        (1, {"groups": [[0, 1]]}, "no groups"),
        (3, {"groups": [[0, 1], [1, 2]]}, "twice"),
        (3, {"groups": [[0, 3]]}, "not in 0"),
        (1, {"tolerance": -1.0}, "not negative"),
        (1, {"tolerance": np.nan}, "not negative"),
        (3, {"tolerance": 1.0, "groups": [[0, 1]]}, "without groups"),
    ],
)
def test_rules_that_contradict_themselves_are_refused(outputs: int, options: dict[str, Any], words: str) -> None:
    with pytest.raises(LcifrError, match=words):
        Rule.of(outputs, **options)


def test_a_number_without_a_tolerance_has_none_to_prove_with() -> None:
    with pytest.raises(LcifrError, match="needs a tolerance"):
        _ = Rule(Kind.NUMBER, 1).known_tolerance


@pytest.mark.parametrize("kind", ["binary", "classes", "number"])
def test_learned_heads_predict_what_the_rule_decides(kind: str) -> None:
    z, y, radius = latent(120, kind=kind)
    head = (RobustRegressor(tolerance=5.0) if kind == "number" else RobustClassifier()).fit(z, y, radius=radius)
    decided = head.model_.rule.decide(head.network_(z))
    named = decided if head.model_.labels is None else head.model_.labels[decided]
    np.testing.assert_array_equal(head.predict(z), named)


@pytest.mark.parametrize("labels", [np.arange(2), np.arange(4), np.linspace(0.0, 1.0, 9) ** 2])
def test_learning_decides_ties_as_the_rule_does(labels: np.ndarray) -> None:
    target = Target.of(labels)
    values = np.random.default_rng(0).integers(-1, 2, (200, target.outputs)).astype(np.float64)
    decided = losses.decide(target, torch.as_tensor(values)).numpy()
    np.testing.assert_array_equal(decided, target.rule.decide(values))
    assert target.rule.outputs == target.outputs
