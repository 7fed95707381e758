"""``lcifr.sweep`` on models of other libraries, against the library's own decisions about everybody."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import lcifr
from lcifr import Categorical, Encoding, Numeric, Schema, Similarity
from lcifr.certification.counterexample import Pairs
from lcifr.certification.sweep.result import CellStatus, Sweep, SweptCell
from lcifr.data import Individuals
from lcifr.errors import LcifrError, RegionError, SchemaError
from lcifr.models.arithmetic import Arithmetic
from lcifr.regions.universe import UniverseCells
from tests.certification.sweep.tiny import ENCODING, FORMULAS, SCHEMA, everybody, fitted


@pytest.mark.parametrize(
    "estimator", [DecisionTreeClassifier(max_depth=3, random_state=0), LogisticRegression()], ids=["tree", "logistic"]
)
@pytest.mark.parametrize("text", FORMULAS[:2])
def test_shares_are_those_of_the_librarys_own_decisions(estimator: Any, text: str):
    model, table = fitted(estimator, 1), everybody().to_pandas()
    similarity = Similarity(text, SCHEMA, ENCODING)
    found = lcifr.sweep(model, table, similarity=similarity)
    decisions = model.predict(table)
    alike = [similarity.holds(everybody().take(np.full(len(table), row)), everybody()) for row in range(len(table))]
    violating = np.array([(mask & (decisions != own)).any() for mask, own in zip(alike, decisions, strict=True)])
    assert ((found.locate(table) == CellStatus.VIOLATING) == violating).all()
    assert ((found.locate(table) == CellStatus.PROVED) == ~violating).all()
    frame = found.counterexamples()
    if len(frame):
        x, other = (frame[frame["who"] == who][list(SCHEMA.names)] for who in ("x", "x'"))
        assert (model.predict(x) != model.predict(other)).all()


def test_over_the_reals_nobody_proved_is_refuted_by_somebody_whole():
    model, table = fitted(LogisticRegression(), 2), everybody().to_pandas()
    similarity = Similarity(FORMULAS[0], SCHEMA, ENCODING)
    found = lcifr.sweep(model, table, similarity=similarity, universe="reals", cells=200)
    assert 0 < found.share(CellStatus.PROVED) < 1
    assert sum(found.share(one) for one in CellStatus) == 1
    standing, decisions = found.locate(table), model.predict(table)
    for row in np.flatnonzero(standing == CellStatus.PROVED):
        alike = similarity.holds(everybody().take(np.full(len(table), row)), everybody())
        assert (decisions[alike] == decisions[row]).all()


@pytest.mark.parametrize("ends", [(-1e300, 1e300), (0.0, 1e300), (-1e39, 9.0)])
def test_a_range_that_the_model_cannot_take_is_refused_by_name(ends: tuple[float, float]):
    """Trees of scikit-learn compare in float32."""
    table = everybody().to_pandas()
    schema = Schema((Numeric("age", lower=ends[0], upper=ends[1]), *SCHEMA.attributes[1:]))
    similarity = Similarity(FORMULAS[0], schema, Encoding.fit(table, schema))
    model = fitted(DecisionTreeClassifier(max_depth=3, random_state=0), 1)
    with pytest.raises(SchemaError, match=r'(?s)range of "age" is too large.*float32.*declare a smaller range'):
        lcifr.sweep(model, table, similarity=similarity)


def test_a_number_without_a_range_is_refused_by_name():
    table = everybody().to_pandas()
    schema = Schema((Numeric("age", integer=True), *SCHEMA.attributes[1:]))
    similarity = Similarity(FORMULAS[0], schema, Encoding.fit(table, schema))
    with pytest.raises(RegionError, match='"age"'):
        lcifr.sweep(fitted(LogisticRegression(), 1), table, similarity=similarity)


def test_what_it_says_adds_up():
    found = lcifr.sweep(
        fitted(LogisticRegression(), 1), everybody().to_pandas(), similarity=Similarity(FORMULAS[0], SCHEMA, ENCODING)
    )
    said = str(found)
    assert "proved:" in said
    assert "whole numbers" in said
    assert found.refuted == bool(len(found.counterexamples()))


def test_a_universe_of_another_name_is_refused():
    wrong: Any = "Whole"
    similarity = Similarity(FORMULAS[0], SCHEMA, ENCODING)
    with pytest.raises(LcifrError, match='"whole" nor "reals"'):
        lcifr.sweep(fitted(LogisticRegression(), 1), everybody().to_pandas(), similarity=similarity, universe=wrong)


def test_pairs_are_shown_of_a_table_with_columns_named_as_ours():
    schema = Schema((Numeric("pair", lower=0, upper=1, integer=True), Categorical("who", ("a", "b"))))
    x, other = (Individuals(schema, np.zeros((1, 1)), np.array([[code]], np.int32)) for code in (0, 1))
    cell = UniverseCells.everybody(Encoding(schema, np.zeros(1), np.ones(1)), whole=True)
    swept = SweptCell(cell, Fraction(1), Pairs(x, other, np.ones(1, np.bool_)))
    frame = Sweep((), (), (swept,), True, Arithmetic.EXACT).counterexamples()
    assert frame.to_numpy().tolist() == [[0, "x", 0, "a"], [0, "x'", 0, "b"]]
