"""The gate: every bad input gives its message, with row and column, and all of them at once."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema, check_target, read_frame, read_target
from lcifr.errors import LcifrError, TableError

SCHEMA = Schema(
    (
        Numeric("age", unit="years", lower=18, upper=100, integer=True),
        Numeric("income"),
        Categorical("sex", ("female", "male")),
    ),
    target="hired",
)


def frame(**changes: object) -> pd.DataFrame:
    columns: dict[str, object] = {"age": [30, 40, 50], "income": [1.5, 2.5, 3.5], "sex": ["male", "female", "male"]}
    return pd.DataFrame({name: values for name, values in {**columns, **changes}.items() if values is not None})


def problems(table: object, *, fitting: bool = False) -> list[tuple[str | None, int | None, str]]:
    with pytest.raises(TableError) as caught:
        Individuals.read(table, SCHEMA, fitting=fitting)
    return [(problem.column, problem.row, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("table", "column", "row", "words"),
    [
        (frame(income=None), "income", None, "column is missing"),
        (frame(shoe=[1, 2, 3]), "shoe", None, "this column is not in the schema"),
        (frame(income=[1.0, np.nan, 2.0]), "income", 1, "value is missing"),
        (frame(sex=["male", None, "male"]), "sex", 1, "value is missing"),
        (frame(sex=["male", "  ", "male"]), "sex", 1, "value is missing"),
        (frame(income=["1", "", "2"]), "income", 1, "value is missing"),
        (frame(income=[1.0, np.inf, 2.0]), "income", 1, "infinite"),
        (frame(income=["1", "many", "2"]), "income", 1, "'many' is not a number"),
        (frame(income=[1.0, "many", None]), "income", 1, "'many' is not a number"),
        (frame(income=[1.0, 1e200, 2.0]), "income", 1, "too large"),
        (frame(sex=["male", "mal", "male"]), "sex", 1, 'Did you mean "male"?'),
        (frame(age=[30, 17, 50]), "age", 1, "below the declared range"),
        (frame(age=[30, 101, 50]), "age", 1, "above the declared range"),
        (frame(age=[30, 40.5, 50]), "age", 1, "not a whole number"),
        (frame().iloc[:0], None, None, "no rows"),
    ],
)
def test_every_bad_table_names_row_and_column(table, column, row, words):
    assert any((c, r) == (column, row) and words in message for c, r, message in problems(table))


def test_missing_column_is_matched_with_the_misspelt_one():
    found = problems(frame(income=None, incme=[1, 2, 3]))
    assert ("income", None, 'the column is missing. Did you mean "incme"?') in found


def test_all_problems_at_once():
    found = problems(frame(age=[30, 7, None], income=None, sex=["x", "male", ""], extra=[1, 2, 3]))
    assert {(c, r) for c, r, _ in found} == {
        ("income", None),
        ("extra", None),
        ("age", 1),
        ("age", 2),
        ("sex", 0),
        ("sex", 2),
    }


def test_the_message_is_short_and_the_list_is_whole():
    table = pd.DataFrame({"age": [7] * 500, "income": np.arange(500.0), "sex": ["male"] * 500})
    with pytest.raises(TableError, match="and 497 more") as caught:
        Individuals.read(table, SCHEMA)
    assert len(caught.value.problems) == 500
    assert str(caught.value).count("\n") < 30


def test_columns_that_are_no_attributes_may_be_left_out():
    with pytest.raises(TableError, match=r"Fix: leave out what is no attribute, X\[list\(schema.names\)\]"):
        Individuals.read(frame(extra=[1, 2, 3]), SCHEMA)


def test_one_column_does_not_hide_what_is_wrong_with_the_others():
    table = pd.DataFrame({"age": [7] * 500, "income": np.arange(500.0), "sex": ["male"] * 498 + [None, "x"]})
    with pytest.raises(TableError) as caught:
        Individuals.read(table, SCHEMA)
    for words in ('column "sex", row 498: the value is missing', 'column "sex", row 499', 'in total 500 in "age"'):
        assert words in str(caught.value)


def test_a_number_that_never_varies_has_no_scale():
    flat = frame(income=[0.1, 0.1, 0.1])
    assert Individuals.read(flat, SCHEMA).numbers[0, 1] == 0.1  # fine for people who are only looked at
    assert any(c == "income" and "never varies" in message for c, _, message in problems(flat, fitting=True))
    encoding = Encoding.fit(flat, SCHEMA)  # what is never scaled needs no scale
    assert (encoding.mean("income"), encoding.sd("income")) == (0.1, 0.0)
    assert Encoding.from_dict(encoding.to_dict()).sd("income") == 0.0
    numbers = encoding.decode(encoding.encode(flat)).numbers
    assert (np.abs(numbers - Individuals.read(flat, SCHEMA).numbers) <= encoding.decode_error(numbers)).all()
    for refused in (lambda: Individuals.read(flat, SCHEMA, fitting=True), encoding.refuse_flat):
        with pytest.raises(TableError, match=r"(?s)income.*Fix: leave the column out"):
            refused()


def test_variation_too_small_to_square_is_refused():
    encoding = Encoding.fit(frame(income=[1e-200, 2e-200, 3e-200]), SCHEMA)
    with pytest.raises(TableError, match=r"(?s)varies too little.*Fix: leave the column out"):
        encoding.refuse_flat()


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[30, 40, "male"]], columns=["age", "age", "sex"]),
        pa.table([[30], [40], ["male"]], names=["age", "age", "sex"]),
    ],
)
def test_duplicate_columns_are_named(table):
    with pytest.raises(TableError, match='column "age": the name occurs 2 times'):
        Individuals.read(table, SCHEMA)


def test_the_target_may_be_there_or_not():
    assert len(Individuals.read(frame(hired=[0, 1, 1]), SCHEMA)) == len(Individuals.read(frame(), SCHEMA)) == 3


def test_target_needs_two_classes_and_no_gap():
    assert read_target(frame(hired=["yes", "no", "yes"]), SCHEMA).tolist() == ["yes", "no", "yes"]
    with pytest.raises(TableError, match="one class only"):
        read_target(frame(hired=[1, 1, 1]), SCHEMA)
    with pytest.raises(TableError, match="row 1: the target is missing"):
        read_target(frame(hired=[1, np.nan, 0]), SCHEMA)
    with pytest.raises(TableError, match="target column is missing"):
        read_target(frame(), SCHEMA)
    with pytest.raises(TableError, match="one class only"):
        check_target(np.zeros(4))


def test_what_is_no_table_is_refused(tmp_path):
    for thing in (7, None, {"age": 3}, object()):
        with pytest.raises(LcifrError, match="pandas or polars"):
            read_frame(thing)
    with pytest.raises(LcifrError, match="no such file") as caught:
        read_frame(tmp_path / "nowhere" / "people.csv")
    assert "Fix: " in str(caught.value)
    (tmp_path / "people.csv").write_text("age\n1\n")
    with pytest.raises(LcifrError, match="Did you mean"):
        read_frame(tmp_path / "peple.csv")
    (tmp_path / "excel.csv").write_text("age;sex;income\n1;x;3,5\n")
    with pytest.raises(LcifrError, match="semicolons stand between its values"):
        read_frame(tmp_path / "excel.csv")
    (tmp_path / "one.csv").write_text("a;b\n1\n")
    assert read_frame(tmp_path / "one.csv").column_names == ["a;b"]
    (tmp_path / "people.docx").write_text("hello")
    with pytest.raises(LcifrError, match="unknown file type"):
        read_frame(tmp_path / "people.docx")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(LcifrError, match="cannot be read"):
        read_frame(tmp_path / "broken.parquet")


def test_categories_of_other_types_are_their_text():
    schema = Schema((Categorical("flag", ("false", "true")), Categorical("grade", ("1", "2")), Numeric("n")))
    table = pd.DataFrame({"flag": [True, False], "grade": [1.0, 2.0], "n": [1, 2]})
    assert Individuals.read(table, schema).codes.tolist() == [[1, 0], [0, 1]]
    as_category = table.assign(grade=pd.Categorical(["1", "2"]))
    assert Individuals.read(as_category, schema).codes.tolist() == [[1, 0], [0, 1]]


def test_columns_of_odd_types_are_read_or_refused_row_by_row():
    schema = Schema((Categorical("c", ("1", "true")), Numeric("n")))
    fine = {
        "decimals": pa.table({"c": [Decimal("1.00"), Decimal("1")], "n": [Decimal("1.5"), Decimal("2")]}),
        "mixed objects": pd.DataFrame({"c": [True, "1"], "n": [Decimal("1.5"), 2]}),
        "bytes": pd.DataFrame({"c": [b"true", b"1"], "n": [1, 2]}),
        "polars categories": pl.DataFrame({"c": pl.Series(["1", "true"], dtype=pl.Categorical), "n": [True, False]}),
    }
    for name, table in fine.items():
        assert len(Individuals.read(table, schema)) == 2, name
    odd = {
        "lists": pa.table({"c": [["1"], ["1"]], "n": [[1], [2]]}),
        "dates": pd.DataFrame({"c": pd.to_datetime(["2020-01-01"] * 2), "n": pd.to_datetime(["2020-01-01"] * 2)}),
        "underscores": pd.DataFrame({"c": ["1_", "2"], "n": ["1_000", "2 000"]}),
    }
    for name, table in odd.items():
        with pytest.raises(TableError) as caught:
            Individuals.read(table, schema)
        places = {(problem.column, problem.row) for problem in caught.value.problems}
        assert places == {("c", 0), ("c", 1), ("n", 0), ("n", 1)}, name


def test_a_short_float_means_the_decimal_it_prints():
    schema = Schema((Numeric("gpa"),))
    assert Individuals.read(pd.DataFrame({"gpa": np.array([3.6], np.float32)}), schema).numbers[0, 0] == 3.6
