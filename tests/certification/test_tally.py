"""Figures that are gathered some people at a time: the same as of everybody at once, however they are divided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.certification.audit import audit
from lcifr.certification.consumer import certify
from lcifr.certification.handover import median, represent
from lcifr.certification.population import Tally, state, state_tally
from lcifr.certification.verdicts import Audit, Certificates, Reason, Verdict
from tests.certification.scenes import FORMULAS, scene

COUNT = 24
PARTS = st.lists(st.integers(0, COUNT), max_size=6).map(lambda cuts: [0, *sorted(cuts), COUNT])
NOT_OF_PEOPLE = ("encoder", "model", "on")


@cache
def audited(formula: str, modular: bool) -> tuple[Audit, Any, dict[str, Any]]:
    """An audit with whatever a tally counts, labels of three kinds, and two ways to divide people into groups."""
    one = scene(2, formula, count=COUNT)
    found = audit(one.encoder, one.model, one.people, modular=modular)
    y = np.arange(COUNT) % 3
    return found, y, {"sex": one.people["sex"].to_numpy(), "old": (one.people["age"] > 50).to_numpy()}


def some(found: Any, part: slice) -> Any:
    """A few of the people."""
    changes = {}
    for field in fields(found):
        value = getattr(found, field.name)
        if value is not None and field.name not in NOT_OF_PEOPLE:
            changes[field.name] = value.take(part) if hasattr(value, "schema") else value[part]
    return replace(found, **changes)


def divided(cuts: list[int]) -> Iterator[slice]:
    return (slice(start, end) for start, end in pairwise(cuts) if end > start)


@pytest.mark.parametrize(("formula", "modular"), [(FORMULAS[0], True), (FORMULAS[5], False)])
@given(cuts=PARTS)
@settings(deadline=None)  # the first one audits
def test_an_audit_is_counted_alike_however_it_is_divided(formula: str, modular: bool, cuts: list[int]) -> None:
    whole, y, by = audited(formula, modular)
    tally = Tally()
    for part in divided(cuts):
        tally.add(some(whole, part), y[part], {name: values[part] for name, values in by.items()})
    expected = state(whole, y, held_out=True, by=by)
    said = state_tally(tally, held_out=True)
    assert said.subgroups.equals(expected.subgroups)
    assert asdict(replace(said, subgroups=None)) == asdict(replace(expected, subgroups=None))
    assert tally.modularity() == whole.modularity()
    assert tally.alone == whole.alone.sum()
    assert sum(tally.reasons.values()) == said.undecided == COUNT - whole.certified.sum() - whole.violated.sum()


def test_figures_are_those_of_the_people() -> None:
    """Counted by hand once, so that tally and statement cannot be wrong alike."""
    found, y, by = audited(FORMULAS[0], True)
    said = state(found, y, held_out=False, by=by)
    right = np.asarray(found.prediction) == y
    assert said.accuracy == right.mean()
    assert said.balanced_accuracy == np.mean([right[y == label].mean() for label in range(3)])
    assert said.majority_rate == 1 / 3
    women = by["sex"] == "female"
    row = said.subgroups.query("attribute == 'sex' and value == 'female'").iloc[0]
    assert (row["people"], row["certified"], row["violated"], row["accuracy"]) == (
        women.sum(),
        found.certified[women].mean(),
        found.violated[women].mean(),
        right[women].mean(),
    )


@given(cuts=PARTS)
@settings(deadline=None)
def test_a_consumer_is_counted_alike(cuts: list[int]) -> None:
    one = scene(3, FORMULAS[0], count=COUNT)
    found = certify(represent(one.encoder, one.people), one.model, largest_radius=False)
    assert isinstance(found, Certificates)
    tally = Tally()
    for part in divided(cuts):
        tally.add(some(found, part), None, {})
    assert asdict(state_tally(tally, held_out=False)) == asdict(state(found, held_out=False))


@pytest.mark.parametrize(("decisions", "said"), [([1] * 6, True), ([1, 1, 1, 0, 1, 1], False)])
def test_everybody_alike_is_warned_of_only_if_it_is_everybody(decisions: list[int], said: bool) -> None:
    """Chunks in which all are decided alike are no reason, where the chunks differ."""
    found = some(audited(FORMULAS[0], True)[0], slice(0, 6))
    ones = np.array([Verdict.CERTIFIED] * 6, dtype=object)
    found = replace(
        found, prediction=np.array(decisions), verdict=ones, reason=np.array([Reason.NONE] * 6, dtype=object)
    )
    tally = Tally()
    for start in (0, 3):
        tally.add(some(found, slice(start, start + 3)), None, {})
    assert any("the same decision" in text for text in state_tally(tally, held_out=False).warnings) is said


@given(
    numbers=st.lists(st.floats(0, 1e300) | st.sampled_from([0.0, 1.0]), min_size=1),
    size=st.integers(1, 9),
)
def test_the_median_is_numpys(numbers: list[float], size: int) -> None:
    """Also of numbers that come again, of zeros, and of the smallest there are."""
    array = np.array(numbers)
    found = median(lambda: iter(np.array_split(array, range(size, len(array), size))), len(array))
    assert found == np.median(array)
