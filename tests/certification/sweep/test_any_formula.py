"""Formulas of the whole language through the public functions: a right answer, or a documented error with a fix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import lcifr
from lcifr.certification.sweep.result import CellStatus
from lcifr.certification.verdicts import Verdict
from lcifr.errors import LcifrError, RegionError
from lcifr.phi.formula import print_formula
from lcifr.phi.similarity import Similarity
from tests.certification.sweep.tiny import ENCODING, SCHEMA, everybody, fitted
from tests.effort import sampled
from tests.phi.strategies import formulas

MODEL, TABLE = fitted(LogisticRegression(), 1), everybody().to_pandas()
RANKS = "|rank(income' by race') - rank(income by race)| < 1"


@pytest.mark.parametrize("text", [f"age within 1 or {RANKS}", RANKS, f"same(sex) and age' < age and {RANKS}"])
@pytest.mark.parametrize("universe", ["whole", "reals"])
def test_two_ranks_of_a_pair_are_refused_with_place_and_fix(text: str, universe: str) -> None:
    with pytest.raises(RegionError, match="a rank stands beside other values") as refused:
        lcifr.sweep(MODEL, TABLE, similarity=Similarity(text, SCHEMA, ENCODING), universe=universe)  # type: ignore[arg-type]
    assert "^^^^" in str(refused.value)
    assert "Fix: " in str(refused.value)


@sampled(120)
@given(formulas(SCHEMA), st.sampled_from(["whole", "reals"]))
def test_any_formula_is_answered_rightly_or_refused_with_a_fix(formula, universe) -> None:  # type: ignore[no-untyped-def]
    try:
        similarity = Similarity(print_formula(formula), SCHEMA, ENCODING)
    except LcifrError:  # the language has tests of its own
        return
    people, decisions = everybody(), MODEL.predict(TABLE)
    bad = np.array(
        [
            (similarity.holds(people.take([row]), people) & (decisions != decisions[row])).any()
            for row in range(len(people))
        ]
    )
    found = answered(lambda: lcifr.sweep(MODEL, TABLE, similarity=similarity, universe=universe, cells=20, nodes=20))
    if found is not None:
        standing = found.locate(TABLE)
        assert not bad[standing == CellStatus.PROVED].any()
        assert bad[standing == CellStatus.VIOLATING].all()
        assert not found.pairs or bad.any()
    audit = answered(lambda: lcifr.audit(MODEL, TABLE, similarity=similarity))
    if audit is not None:
        assert not bad[audit.verdict == Verdict.CERTIFIED].any()
        assert bad[audit.verdict == Verdict.COUNTEREXAMPLE].all()


def answered(ask: Callable[[], Any]) -> Any:
    """What is answered; None where it is refused, as documented."""
    try:
        return ask()
    except LcifrError as refused:
        if "Fix: " not in str(refused):
            raise
        return None
