"""``free(…)`` says what was meant and changes nothing else; a set in which nothing is left asks nothing."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given

from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.errors import RegionError, SimilarityError
from lcifr.phi import Similarity
from lcifr.phi.formula import And, AttributeSet, Free, print_formula
from lcifr.phi.free_attributes import declared_free, free_attributes
from lcifr.phi.lint import lint
from lcifr.phi.parser import parse
from tests.phi.strategies import RESERVED
from tests.phi.worlds import World, laws, worlds

SCHEMA = Schema(
    (
        Numeric("balance"),
        Numeric("income", lower=0, upper=1e6),
        Categorical("student", ("No", "Yes")),
    )
)
PEOPLE = pd.DataFrame({"balance": [1.5, 2.5, 4.0], "income": [10.0, 20.0, 40.0], "student": ["No", "Yes", "No"]})
ENCODING = Encoding.fit(PEOPLE, SCHEMA)


def similar(text: str) -> Similarity:
    return Similarity(text, SCHEMA, ENCODING)


def codes(text: str) -> list[str]:
    return [finding.code for finding in lint(similar(text))]


@laws
@given(worlds())
def test_freeing_what_is_free_changes_nothing_but_the_words(world: World) -> None:
    names = tuple(name for name in free_attributes(world.formula, world.schema) if name not in RESERVED)
    if not names:
        return
    freed = And((world.formula, Free(AttributeSet(names))))
    assert parse(print_formula(freed), world.schema) == freed
    before, after = world.similarity, Similarity(freed, world.schema, world.encoding)
    assert after.core == before.core
    assert after.hash == before.hash
    assert set(declared_free(freed, world.schema)) == set(names)
    assert "on purpose" in after.explain()


@laws
@given(worlds())
def test_freeing_what_is_constrained_is_refused(world: World) -> None:
    free = free_attributes(world.formula, world.schema)
    for name in (name for name in world.schema.names if name not in free and name not in RESERVED):
        with pytest.raises(SimilarityError, match="asks something of it"):
            Similarity(And((world.formula, Free(AttributeSet((name,))))), world.schema, world.encoding)


def test_what_is_said_to_be_free_was_not_forgotten() -> None:
    assert "free-attribute" in codes("numeric within 1 sd")
    assert "free-attribute" not in codes("numeric within 1 sd and free(student)")
    assert "free(student)" in next(
        f.message for f in lint(similar("numeric within 1 sd")) if f.code == "free-attribute"
    )


def test_the_persons_own_value_may_still_be_asked_for() -> None:
    text = 'numeric within 1 sd and (student = "Yes" implies balance within 1) and free(student)'
    assert "free-attribute" not in codes(text)
    assert similar(text).holds(PEOPLE[:1], PEOPLE[:1].assign(student="Yes")).all()


def test_a_free_number_needs_a_range() -> None:
    similar("same(student, balance) and free(income)").region(PEOPLE)
    without_end = similar("same(student, income) and free(balance)")
    with pytest.raises(RegionError, match="range"):
        without_end.region(PEOPLE)
    assert "unbounded" in [finding.code for finding in lint(without_end)]


@pytest.mark.parametrize("empty", ["same(categorical except student)", "numeric except balance, income within 1"])
def test_an_empty_set_asks_nothing(empty: str) -> None:
    rest = "same(income) and balance within 1"
    one, two = similar(f"{empty} and {rest}"), similar(rest)
    assert one.core == two.core
    assert one.hash == two.hash
    finding = next(finding for finding in lint(one) if finding.code == "empty-set")
    assert finding.span is not None
    assert one.text[finding.span.start : finding.span.end] == empty
    assert similar(empty).holds(PEOPLE, PEOPLE[::-1]).all()
    assert not similar(f"not {empty}").holds(PEOPLE, PEOPLE).any()


def test_an_attribute_of_that_name_is_quoted() -> None:
    schema = Schema((Numeric("free"),))
    with pytest.raises(SimilarityError, match="the attribute is written `free`"):
        parse("free' <= 3", schema)
    assert parse("`free`' <= 3", schema) == parse(print_formula(parse("`free`' <= 3", schema)), schema)
