"""Counterexamples made simple: what one attribute after the other would do, and errors that are never too small."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.certification import counterexample
from lcifr.certification.counterexample import CounterexampleChecker, Pairs, shorter_numbers, simplify
from lcifr.certification.demands import RoughError, is_strict, outputs_at
from lcifr.certification.subject import Subject
from lcifr.data import Categorical, Individuals, Numeric, Schema
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.network import DeployedNetworks, Stage
from tests.certification.scenes import scene
from tests.prove.instances import random_network

SCHEMA = Schema([Categorical("a", ("x", "y", "z")), Categorical("b", ("x", "y")), Numeric("c"), Numeric("d")])


class AnyChecker:
    """Some of all pairs count, without any order in it; the others one begins with always do."""

    predicted: Any = None

    def __init__(self, people: Individuals, others: Individuals, share: float, seed: int) -> None:
        self.people, self._share, self._seed = people, share, seed
        self._first = others
        self.calls = 0

    def is_counterexample(self, rows: np.ndarray, others: Individuals) -> np.ndarray:
        self.calls += 1
        return np.array([self._counts(int(row), others.take([k])) for k, row in enumerate(rows)])

    def _counts(self, row: int, other: Individuals) -> bool:
        first = self._first.take([row])
        if (other.numbers == first.numbers).all() and (other.codes == first.codes).all():
            return True
        drawn = np.random.default_rng([self._seed, row, *other.codes[0], *np.abs(other.numbers[0] * 1e3).astype(int)])
        return bool(drawn.random() < self._share)


def drawn_people(seed: int) -> tuple[Individuals, Individuals]:
    random = np.random.default_rng(seed)

    def draw() -> Individuals:
        codes = np.stack([random.integers(0, 3, 6), random.integers(0, 2, 6)], 1).astype(np.int32)
        return Individuals(SCHEMA, random.integers(0, 4, (6, 2)) + random.choice([0.0, 0.1234], (6, 2)), codes)

    return draw(), draw()


def one_by_one(checker: Any, row: int, other: Individuals) -> Individuals:
    """The same in words: codes, then numbers, each back if that still counts; then digits, the shortest that counts."""
    own = checker.people.take([row])
    kept = other

    def counts(tried: Individuals) -> bool:
        return bool(checker.is_counterexample(np.array([row]), tried)[0])

    def changed(table: str, j: int, value: float) -> Individuals:
        numbers, codes = kept.numbers.copy(), kept.codes.copy()
        (numbers if table == "numbers" else codes)[0, j] = value
        return Individuals(SCHEMA, numbers, codes)

    for table in ("codes", "numbers"):
        for j in range(2):
            back = changed(table, j, getattr(own, table)[0, j])
            if counts(back):
                kept = back
    for j in range(2):
        if kept.numbers[0, j] != own.numbers[0, j]:
            good = [v for v in shorter_numbers(float(kept.numbers[0, j])) if counts(changed("numbers", j, v))]
            kept = changed("numbers", j, good[-1]) if good else kept
    return kept


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 10_000), share=st.sampled_from([0.0, 0.3, 0.7, 1.0]), at_once=st.sampled_from([1, 12, 1_000])
)
def test_it_is_what_one_attribute_after_the_other_would_give(seed: int, share: float, at_once: int) -> None:
    people, others = drawn_people(seed)
    checker: Any = AnyChecker(people, others, share, seed)
    found = np.random.default_rng(seed).random(6) < 0.8
    with patch.object(counterexample, "AT_ONCE", at_once):
        simple = simplify(checker, Pairs(people, others, found)).other
    for row in range(6):
        expected = one_by_one(checker, row, others.take([row])) if found[row] else others.take([row])
        assert (simple.numbers[row] == expected.numbers[0]).all()
        assert (simple.codes[row] == expected.codes[0]).all()


def test_few_calls_are_enough_where_all_or_nothing_goes_back() -> None:
    people, others = drawn_people(3)
    for share in (0.0, 1.0):
        checker: Any = AnyChecker(people, others, share, 0)
        simplify(checker, Pairs(people, others, np.ones(6, np.bool_)))
        assert checker.calls <= 6


class LibraryChecker(AnyChecker):
    """A library beside the model as it was read: only what both say counts."""

    predicted = "asked"

    def __init__(self, model: AnyChecker, library: AnyChecker) -> None:
        self.people, self._both = model.people, (model, library)

    def without_library(self) -> AnyChecker:
        return self._both[0]

    def is_counterexample(self, rows: np.ndarray, others: Individuals) -> np.ndarray:
        model, library = (one.is_counterexample(rows, others) for one in self._both)
        return np.asarray(model & library)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.0, 0.3, 1.0]))
def test_nothing_is_made_so_simple_that_the_library_decides_otherwise(seed: int, share: float) -> None:
    people, others = drawn_people(seed)
    checker: Any = LibraryChecker(AnyChecker(people, others, 0.7, seed), AnyChecker(people, others, share, seed + 1))
    simple = simplify(checker, Pairs(people, others, np.ones(6, np.bool_))).other
    assert checker.is_counterexample(np.arange(6), simple).all()


@pytest.mark.parametrize("value", [37.0, 1234.5678, 0.1, -0.000123456, 1e-300, 100000.0])
def test_shorter_numbers_have_fewer_digits(value: float) -> None:
    lengths = [len(f"{one:.17g}".strip("-0.").replace(".", "")) for one in shorter_numbers(value)]
    assert value not in shorter_numbers(value)
    assert all(abs(one - value) <= abs(value) for one in shorter_numbers(value))
    assert len(lengths) == len(set(shorter_numbers(value)))


@pytest.mark.parametrize("arithmetic", [Arithmetic.FLOAT64, Arithmetic.FLOAT32])
def test_the_rough_error_is_never_below_that_of_a_point(arithmetic: Arithmetic) -> None:
    random = np.random.default_rng(0)
    deployment = DeployedNetworks.on_latents(Stage(random_network(random, [4, 6, 2]), arithmetic))
    rough = RoughError(deployment)
    for scale in (1.0, 0.1, 30.0, 2.0):
        points = random.normal(0.0, scale, (20, 4))
        assert (rough.among(points) >= deployment.error_at(points)).all()


@pytest.mark.parametrize("arithmetic", [Arithmetic.FLOAT64, Arithmetic.FLOAT32])
def test_own_decisions_are_as_sure_as_with_errors_of_their_own(arithmetic: Arithmetic) -> None:
    here = scene(3, count=60)
    people = Individuals.read(here.people, here.encoder.encoding.schema)
    checker = CounterexampleChecker(Subject.of(here.encoder, here.model, arithmetic=arithmetic), people)
    each = outputs_at(checker.deployment, checker.features)
    assert (is_strict(checker.model.rule, checker.own) == is_strict(checker.model.rule, each)).all()
    assert (checker.own.error >= each.error).all()
