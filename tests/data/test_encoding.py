"""Encode and decode, as laws over generated schemas and tables; and the same bytes from every kind of frame."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcifr.data import Categorical, Encoding, Individuals, Numeric, Schema
from lcifr.errors import LcifrError, TableError
from tests.data.programs import programs

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(
    lambda t: t == t.strip() != ""
)
reals = st.floats(-1e90, 1e90).filter(lambda v: v == 0 or abs(v) > 1e-90)
wholes = st.integers(-(2**45), 2**45)


def _varies(column: list[float]) -> bool:
    return min(column) < max(column) and np.std(np.array(column, float), ddof=1) > 0


@st.composite
def tables(draw):
    """A schema and a frame of at least two people that fits it and varies in every number."""
    names = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
    size = draw(st.integers(2, 8))
    attributes, columns = [], {}
    for name in names:
        kind = draw(st.sampled_from(["real", "whole", "category"]))
        if kind == "category":
            values = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
            attributes.append(Categorical(name, tuple(values)))
            columns[name] = draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))
        else:
            numbers = st.lists(reals if kind == "real" else wholes, min_size=size, max_size=size)
            columns[name] = draw(numbers.filter(_varies))
            attributes.append(Numeric(name, integer=kind == "whole"))
    return Schema(tuple(attributes)), pd.DataFrame(columns)


@settings(deadline=None)
@given(tables())
def test_decode_inverts_encode(table):
    schema, frame = table
    encoding = Encoding.fit(frame, schema)
    people = Individuals.read(frame, schema)
    back = encoding.decode(encoding.encode(frame))
    assert np.array_equal(back.codes, people.codes)
    bound = encoding.decode_error(people.numbers)
    for j, attribute in enumerate(schema.numeric):
        for row in range(len(people)):
            error = abs(Fraction(back.numbers[row, j]) - Fraction(people.numbers[row, j]))
            assert error == 0 if attribute.integer else error <= Fraction(bound[row, j])


@settings(deadline=None)
@given(tables())
def test_columns_are_standardised_or_one_hot(table):
    schema, frame = table
    encoding = Encoding.fit(frame, schema)
    matrix = encoding.encode(frame)
    assert matrix.dtype == np.float64
    assert matrix.shape == (len(frame), len(encoding.features))
    for attribute in schema:
        columns = encoding.columns(attribute.name)
        assert {feature.attribute for feature in encoding.features[columns]} == {attribute.name}
        if isinstance(attribute, Categorical):
            assert [feature.value for feature in encoding.features[columns]] == list(attribute.values)
            assert np.array_equal(matrix[:, columns].sum(axis=1), np.ones(len(frame)))
            hot = np.array(attribute.values, dtype=object)[matrix[:, columns].argmax(axis=1)]
            assert hot.tolist() == frame[attribute.name].tolist()
        else:
            raw = frame[attribute.name].astype(float)
            assert np.allclose(matrix[:, columns][:, 0], (raw - raw.mean()) / raw.std(ddof=1), atol=1e-7)


@settings(deadline=None)
@given(tables())
def test_encoding_is_monotone(table):
    """Regions rest on it: a larger raw value never encodes to a smaller feature."""
    schema, frame = table
    encoding = Encoding.fit(frame, schema)
    numbers = Individuals.read(frame, schema).numbers
    ladder = np.sort(np.concatenate([numbers, np.nextafter(numbers, np.inf), np.nextafter(numbers, -np.inf)]), axis=0)
    assert (np.diff(encoding.scale(ladder), axis=0) >= 0).all()


@settings(deadline=None, max_examples=30)
@given(tables())
def test_pandas_polars_and_arrow_encode_to_the_same_bytes(table):
    schema, frame = table
    encoding = Encoding.fit(frame, schema)
    expected = encoding.encode(frame).tobytes()
    columns = {name: frame[name].tolist() for name in frame.columns}
    for other in (pl.DataFrame(columns), pl.LazyFrame(columns), pa.table(columns)):
        assert encoding.encode(other).tobytes() == expected
        again = Encoding.fit(other, schema)
        assert (again.means.tobytes(), again.sds.tobytes()) == (encoding.means.tobytes(), encoding.sds.tobytes())


def test_csv_and_parquet_are_read_alike(tmp_path):
    frame = pd.DataFrame({"hours per week": [10, 20, 30], "größe": [1.25, 0.1, 3.6], "sex": ["f", "NA", "f"]})
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")
    schema = Schema.infer(frame)
    encoding = Encoding.fit(frame, schema)
    for name in ("people.csv", "people.parquet"):
        assert encoding.encode(tmp_path / name).tobytes() == encoding.encode(frame).tobytes()


@settings(deadline=None, max_examples=30)
@given(tables())
def test_save_and_load_keep_every_bit(table):
    schema, frame = table
    encoding = Encoding.fit(frame, schema)
    again = Encoding.from_dict(json.loads(json.dumps(encoding.to_dict())))
    assert again.schema == schema
    assert again.hash == encoding.hash
    assert again.encode(frame).tobytes() == encoding.encode(frame).tobytes()


def test_a_broken_encoding_file_is_refused(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    path = tmp_path / "encoding.json"
    Encoding.fit(frame, Schema.infer(frame)).save(path)
    whole = path.read_text()
    assert Encoding.load(path).features[0].attribute == "a"
    for broken in (
        whole[:40],
        "[]",
        whole.replace('"format": 3', '"format": 99'),
        whole.replace('"sd": 0', '"sd": -0'),
        whole.replace('"sd": 0', '"sd": NaN, "x": 0'),
    ):
        path.write_text(broken)
        with pytest.raises(LcifrError):
            Encoding.load(path)


def test_encoding_into_a_given_matrix_overwrites_all_of_it():
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"]})
    encoding = Encoding.fit(frame, Schema.infer(frame))
    out = np.full((3, 3), np.nan)
    assert encoding.encode(frame, out=out) is out
    assert out.tobytes() == encoding.encode(frame).tobytes()
    for bad in (np.zeros((2, 3)), np.zeros((3, 3), np.float32), np.zeros((3, 6))[:, ::2]):
        with pytest.raises(LcifrError, match="contiguous float64"):
            encoding.encode(frame, out=bad)


def test_decode_refuses_what_is_no_matrix_of_people():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    encoding = Encoding.fit(frame, Schema.infer(frame))
    for bad in (np.zeros(1), np.zeros((1, 2)), np.array([[np.nan]])):
        with pytest.raises(LcifrError, match="cannot decode"):
            encoding.decode(bad)


def test_the_order_of_attributes_is_part_of_the_name() -> None:
    """It is the order of the feature columns: another order is another encoding, and a network would misread it."""
    schema = Schema((Numeric("a"), Numeric("b")))
    swapped = Schema((Numeric("b"), Numeric("a")))
    one, other = (Encoding(s, np.array([1.0, 1.0]), np.array([2.0, 2.0])) for s in (schema, swapped))
    assert one.hash != other.hash
    assert Encoding.from_dict(json.loads(json.dumps(one.to_dict()))).hash == one.hash


@settings(deadline=None, max_examples=30)
@given(tables())
def test_the_own_encoding_is_one_instance_of_programs(table):
    """The same bits by the formula and by the steps, and the file says nothing of steps."""
    schema, frame = table
    encoding = Encoding.fit(frame, schema)
    numbers = Individuals.read(frame, schema).numbers
    assert encoding.numbers.encode(numbers).tobytes() == encoding.scale(numbers).tobytes()
    assert encoding.unscale(numbers).tobytes() == (numbers * encoding.sds + encoding.means).tobytes()
    assert set(encoding.to_dict()["programs"]) == set(encoding.to_dict()["scales"])


def test_an_encoding_without_programs_is_read_as_one_that_standardises():
    """Files of format 2 say means and standard deviations alone."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    encoding = Encoding.fit(frame, Schema.infer(frame))
    before = {key: value for key, value in encoding.to_dict().items() if key in ("schema", "scales")}
    assert Encoding.from_dict({"format": 2, **before}).to_dict() == encoding.to_dict()


@settings(deadline=None, max_examples=30)
@given(tables(), st.data())
def test_files_keep_programs_and_what_is_outside(table, data):
    schema, frame = table
    steps = tuple(data.draw(programs()) for _ in schema.numeric)
    values = [feature for feature in Encoding.fit(frame, schema).features if feature.value is not None]
    outside = frozenset(data.draw(st.lists(st.sampled_from(values)))) if values else frozenset()
    encoding = replace(Encoding.fit(frame, schema), programs=steps, outside=outside)
    back = Encoding.from_dict(json.loads(encoding.to_bytes()))
    assert (back.programs, back.outside, back.hash) == (encoding.programs, outside, encoding.hash)


GAPS = pd.DataFrame(
    {
        "age": [20.0, np.nan, 40.0, 50.0, 70.0],
        "pay": [1.5, 2.5, np.nan, 3.5, np.nan],
        "job": ["clerk", "cook", "cook", None, "clerk"],
    }
)
GAPPED = Schema((Numeric("age"), Numeric("pay"), Categorical("job", ("clerk", "cook"))))


@pytest.mark.parametrize("kind", ["pandas", "csv", "parquet"])
def test_each_scale_is_taken_from_all_rows_that_have_a_value(kind: str, tmp_path: Path) -> None:
    source: Any = GAPS
    if kind == "csv":
        GAPS.to_csv(tmp_path / "t.csv", index=False)
        source = str(tmp_path / "t.csv")
    elif kind == "parquet":
        GAPS.to_parquet(tmp_path / "t.parquet")
        source = str(tmp_path / "t.parquet")
    found = Encoding.fit(source, GAPPED, skip_missing=True)
    for name, rows in (("age", 4), ("pay", 3)):
        assert found.sd(name) == pytest.approx(GAPS[name].std(), rel=1e-15)
        assert found.mean(name) == pytest.approx(GAPS[name].mean(), rel=1e-15)
        assert found.rows_of(name) == (rows, 5)
    assert found.training is not None
    assert found.training.number("age").tolist() == [20.0]  # nothing is missing of the first person alone
    with pytest.raises(TableError, match="the value is missing"):
        Encoding.fit(source, GAPPED)


def test_where_nothing_is_missing_scales_are_the_same_to_the_last_bit() -> None:
    draw = np.random.default_rng(5)
    table = pd.DataFrame({"age": draw.normal(40, 9, 999), "pay": draw.gamma(2, 2, 999), "job": ["cook"] * 999})
    strict, lenient = Encoding.fit(table, GAPPED), Encoding.fit(table, GAPPED, skip_missing=True)
    assert strict.to_bytes() == lenient.to_bytes()
    assert lenient.with_gaps is None


def test_of_rows_with_gaps_nobody_may_be_complete_but_every_number_needs_its_scale() -> None:
    found = Encoding.fit(GAPS[1:], GAPPED, skip_missing=True)
    assert found.training is None
    assert found.sd("age") == pytest.approx(GAPS["age"][1:].std(), rel=1e-15)
    few = GAPS.assign(pay=[1.0, *[np.nan] * 4])
    with pytest.raises(TableError, match="1 of 5 rows have a value, too few for a standard deviation"):
        Encoding.fit(few, GAPPED, skip_missing=True)
    flat = GAPS.assign(pay=[2.5, 2.5, np.nan, 2.5, np.nan])
    assert Encoding.fit(flat, GAPPED, skip_missing=True).sd("pay") == 0.0  # as without gaps: no unit for a distance


def test_what_is_wrong_beside_a_gap_is_named_with_its_row() -> None:
    odd = GAPS.assign(job=["clerk", "cook", "pilot", None, "clerk"])
    with pytest.raises(TableError, match=r'column "job", row 2: the schema does not list the category "pilot"'):
        Encoding.fit(odd, GAPPED, skip_missing=True)
    with pytest.raises(TableError, match=r'column "age", row 4: 70 is above the declared range'):
        Encoding.fit(GAPS, Schema((Numeric("age", upper=60), *GAPPED.attributes[1:])), skip_missing=True)
