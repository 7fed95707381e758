"""A slip among numbers is named as that: column, row, value, and what to write; codes stay codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.data import Categorical, Numeric, Schema, check_target
from lcifr.data.schema import find_malformed_number
from lcifr.errors import TableError

NUMBERS = [f"{value:.2f}" for value in np.linspace(100, 3000, 500)]


def problem(column: list[str]):
    with pytest.raises(TableError) as caught:
        Schema.infer(pd.DataFrame({"balance": column, "age": range(len(column))}))
    (found,) = caught.value.problems
    assert found.column == "balance"
    return found


@pytest.mark.parametrize("odd", ["?", "unknown", "12 or 13", "-"])
def test_one_text_among_numbers_is_named_with_its_row(odd):
    found = problem([*NUMBERS[:17], odd, *NUMBERS[17:]])
    assert found.row == 17
    assert f'"{odd}" is not a number, and 500 other values are' in found.message
    assert "too many" not in found.message


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("${}", "{}"),
        ("{} €", "{}"),
        ("{}%", "{}"),
        ("£ {}", "{}"),
    ],
)
def test_numbers_with_signs_are_named_with_the_number_they_mean(written, meant):
    found = problem([written.format(text) for text in NUMBERS])
    assert found.row == 0
    assert f"write {meant.format(NUMBERS[0])}" in found.message
    assert "500 values" in found.message


@pytest.mark.parametrize(
    ("text", "meant"),
    [("$1,234.50", "1234.50"), ("1,234,567", "1234567"), ("3,5", "3.5"), ("1.234,56", "1234.56"), ("-12,5 %", "-12.5")],
)
def test_commas_are_read_as_people_mean_them(text, meant):
    slip = find_malformed_number(pa.chunked_array([[*NUMBERS, text]]))
    assert slip is not None
    assert (slip.row, slip.text, slip.better) == (500, text, meant)


@pytest.mark.parametrize(
    "column",
    [
        ["1", "2", "3", "A"] * 50,  # codes
        ["1", "2", "3"] * 50 + ["A"],
        ["red", "green"] * 50,
        ["18-25", "26-35", "36+"] * 50,
        ["1. White", "2. Black"] * 50,
    ],
)
def test_codes_and_words_stay_categories(column):
    assert isinstance(Schema.infer(pd.DataFrame({"x": column}))["x"], Categorical)


def test_a_question_mark_is_a_slip_even_among_few_numbers():
    with pytest.raises(TableError, match=r'column "x", row 100: "\?" is not a number'):
        Schema.infer(pd.DataFrame({"x": ["1", "2"] * 50 + ["?"]}))
    assert len(Schema.infer(pd.DataFrame({"x": ["1", "2"] * 50 + ["?"]}), categorical=["x"])["x"].values) == 3


@given(st.lists(st.floats(-1e6, 1e6).map(str), min_size=30, max_size=60, unique=True), st.integers(0, 29))
def test_numbers_alone_are_no_slip_and_the_row_is_the_first(numbers: list[str], row: int):
    assert find_malformed_number(pa.chunked_array([numbers])) is None
    slip = find_malformed_number(pa.chunked_array([[*numbers[:row], "?", *numbers[row:], "?"]]))
    assert slip is not None
    assert (slip.row, slip.numbers, slip.others) == (row, len(numbers), 2)


@pytest.mark.parametrize("column", [[0, 1, 1], [0.0, 1.0, 1.0], [1.0, None, 0.0]])
def test_zeros_and_ones_are_two_categories(column):
    frame = pd.DataFrame({"x": column, "n": [1, 2, 3]})
    assert Schema.infer(frame)["x"] == Categorical("x", ("0", "1"))
    assert isinstance(Schema.infer(frame)["n"], Numeric)
    for options in ({"numeric": ["x"]}, {"ranges": {"x": (0, 9)}}, {"units": {"x": "claims"}}):
        assert isinstance(Schema.infer(frame, **options)["x"], Numeric)


@pytest.mark.parametrize(("column", "row"), [([*NUMBERS, "?"], 500), ([f"${text}" for text in NUMBERS], 0)])
def test_a_target_of_numbers_with_slips_is_no_target_of_many_classes(column, row):
    with pytest.raises(TableError) as caught:
        check_target(column, "wage")
    (found,) = caught.value.problems
    assert (found.column, found.row) == ("wage", row)
    assert len(check_target(["yes", "no", "?"] * 5)) == 15
    assert len(check_target([f"class {n}" for n in range(30)])) == 30
