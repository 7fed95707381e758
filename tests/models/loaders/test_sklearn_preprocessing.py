"""Preprocessing that is easily misread: arrays of several dtypes, codes of rare or unknown values, weighted parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OrdinalEncoder, StandardScaler

from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import NetworkError
from lcifr.models.loaders.sklearn import read_sklearn_table
from tests.models.loaders.sklearn_tables import dense, generated, labels, people

TABLE = people().astype({"income": np.float32})[["income", "score", "member"]]
LABELS = labels(people())


def assert_bit_for_bit(model: Pipeline, table: pd.DataFrame) -> None:
    """The numbers that reach the estimator, in whatever dtype the library makes of the columns."""
    schema = Schema.infer(table)
    read = read_sklearn_table(model, table, Encoding.fit(table, schema))
    for group in (Individuals.read(table, schema), generated(read)):
        expected = model[:-1].transform(read.frame(group))
        assert np.array_equal(read.inputs(read.encoding.encode(group)), dense(expected))


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()])
def test_booleans_beside_float32(scaler: Any) -> None:
    model = make_pipeline(scaler, LogisticRegression()).fit(TABLE, LABELS)
    assert_bit_for_bit(model, TABLE)


def test_booleans_that_are_passed_beside_scaled_float32() -> None:
    before = make_column_transformer((StandardScaler(), ["income", "score"]), remainder="passthrough")
    model = make_pipeline(before, StandardScaler(), LogisticRegression()).fit(TABLE, LABELS)
    assert_bit_for_bit(model, TABLE)


def test_a_frame_between_two_steps_is_read_as_a_frame() -> None:
    before = make_column_transformer((StandardScaler(), ["income", "score"]), remainder="passthrough")
    before.set_output(transform="pandas")
    model = make_pipeline(before, StandardScaler(), LogisticRegression()).fit(TABLE, LABELS)
    assert_bit_for_bit(model, TABLE)


def test_indicators_of_what_is_missing_leave_float32_as_it_is() -> None:
    holes = TABLE[["income", "score"]].copy()
    holes.loc[3, "income"] = np.nan
    model = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), LogisticRegression()).fit(holes, LABELS)
    assert_bit_for_bit(model, TABLE[["income", "score"]])


@pytest.mark.parametrize("nothing", ["passthrough", None])
def test_a_pipeline_may_begin_with_a_step_that_does_nothing(nothing: Any) -> None:
    model = Pipeline([("nothing", nothing), ("scale", StandardScaler()), ("decide", LogisticRegression())])
    assert_bit_for_bit(model.fit(TABLE, LABELS), TABLE)


CITIES = pd.DataFrame(
    {"city": ["Aachen"] * 20 + ["Bonn"] * 20 + ["Celle"] * 2 + ["Dresden"] * 2, "age": np.arange(44.0)}
)


def coded(encoder: Any, table: pd.DataFrame) -> Pipeline:
    before = ColumnTransformer([("codes", encoder, ["city"]), ("rest", "passthrough", ["age"])])
    return make_pipeline(before, LogisticRegression()).fit(table, np.arange(len(table)) % 2)


def test_codes_of_rare_values_do_not_count_what_is_missing() -> None:
    holes = pd.concat([CITIES, pd.DataFrame({"city": [np.nan] * 9, "age": np.arange(9.0)})], ignore_index=True)
    assert_bit_for_bit(coded(OrdinalEncoder(min_frequency=5, encoded_missing_value=-1), holes), CITIES)


def test_unknown_values_that_become_missing_are_refused_and_not_called_outside() -> None:
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    model = coded(make_pipeline(encoder, SimpleImputer(strategy="constant", fill_value=9.0)), CITIES[:40])
    model.predict(CITIES)  # the library decides about them
    with pytest.raises(NetworkError, match=r'codes the unknown value "Celle" of "city" as missing'):
        read_sklearn_table(model, CITIES, Encoding.fit(CITIES, Schema.infer(CITIES)))


def test_weights_of_parts_are_refused() -> None:
    parts = [("a", StandardScaler(), ["income"]), ("b", "passthrough", ["score"])]
    model = make_pipeline(ColumnTransformer(parts, transformer_weights={"a": 100.0}), LogisticRegression())
    table = TABLE[["income", "score"]]
    with pytest.raises(NetworkError, match="transformer_weights"):
        read_sklearn_table(model.fit(table, LABELS), table, Encoding.fit(table, Schema.infer(table)))


def test_a_model_that_is_not_fitted_is_refused() -> None:
    with pytest.raises(NetworkError, match="not fitted"):
        read_sklearn_table(LogisticRegression(), TABLE, Encoding.fit(TABLE, Schema.infer(TABLE)))
