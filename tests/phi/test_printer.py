"""The printer's law: what it prints reads back as the same tree, and is short to read."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lcifr.data.schema import Categorical, Numeric, Schema
from lcifr.phi.formula import PLACES, WIDTH, Comparison, Formula, Linear, Or, print_formula, read_decimal, write_decimal
from lcifr.phi.parser import parse
from tests.phi.strategies import formulas, schemas

SCHEMA = Schema((Numeric("age"), Numeric("gpa"), Categorical("sex", ("female", "male"))))


@st.composite
def readable(draw: st.DrawFn) -> tuple[Schema, Formula]:
    schema = draw(schemas())
    return schema, draw(formulas(schema, max_leaves=12))


@settings(deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(readable())
def test_printed_text_reads_back_as_the_same_tree(pair: tuple[Schema, Formula]) -> None:
    schema, formula = pair
    assert parse(print_formula(formula), schema) == formula


@settings(deadline=None, max_examples=200)
@given(st.integers(-(10**25), 10**25), st.integers(-40, 40))
def test_numbers_read_back_exactly(digits: int, exponent: int) -> None:
    number = Fraction(digits) * Fraction(10) ** exponent
    assert read_decimal(write_decimal(abs(number))) == abs(number)


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(10) ** PLACES, Fraction(1, 10 ** (PLACES + 1))])
def test_numbers_that_text_cannot_say_are_refused(number: Fraction) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        print_formula(Comparison(Linear(()), "=", Linear((), number)))


def test_a_formula_of_no_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="no parts"):
        print_formula(Or(()))


@pytest.mark.parametrize(
    "text",
    [
        "age <= 3 and (gpa = 1 or not sex = sex') and gpa within 0.1",
        "age <= 3 or gpa = 1 and gpa' = 1",
        "(age <= 3 and gpa = 1) and gpa' = 1",
        "(age <= 3 implies gpa = 1) implies gpa' = 1",
        "age <= 3 implies gpa = 1 implies gpa' = 1 or age = 2",
        'not (sex = "male" or not sex not in {"male", "female"})',
        "-age + 0.5*gpa - 1e-30 != -|age' - 2*age - 0.25|",
    ],
)
def test_text_with_no_parenthesis_too_many_is_printed_as_it_was(text: str) -> None:
    assert print_formula(parse(text, SCHEMA)) == text


def test_long_conjunctions_are_broken_over_lines() -> None:
    part = "(age <= 37 and age' <= 37 and age within 0.2 sd or age > 37 and age' > 37 and age within 0.4 sd)"
    text = " and ".join(["same(sex)", part, f"not ({part} or gpa = 1)"])
    printed = print_formula(parse(text, SCHEMA))
    assert max(len(line) for line in printed.splitlines()) <= WIDTH + len(" implies")
    assert len(printed.splitlines()) > 4
    assert parse(printed, SCHEMA) == parse(text, SCHEMA)
