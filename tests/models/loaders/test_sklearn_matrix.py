"""Every estimator behind every preprocessing, as an object and from a file: the library's outputs within the proved
rounding, and its decisions outside it; on people of a table, on made-up ones, and at and beside every boundary."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.feature_selection import f_regression
from sklearn.pipeline import make_pipeline

from lcifr import Encoding, Schema, Similarity, datasets
from lcifr.certification.reference import make_up_people, place_at_boundaries
from lcifr.certification.subject import Subject
from lcifr.data import Individuals
from lcifr.models.loading import load_file
from tests.models.loaders.sklearn_matrix import CLASSIFIERS, REGRESSORS, preprocessing
from tests.models.loaders.sklearn_tables import labels, people

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning"),
    pytest.mark.filterwarnings("ignore:Scores are not computed:RuntimeWarning"),
]
TABLE = people(200)
MADE_UP = preprocessing(["age", "income", "score"], ["city"], ["member", "code"])
ESTIMATORS = {**{f"{name}?": one for name, one in CLASSIFIERS.items()}, **REGRESSORS}
"""Those with a question mark decide."""
FEW = ("clipped", "behind pca")


@cache
def similarity(table_name: str) -> Similarity:
    table = tables()[table_name]
    schema = Schema.infer(table, categorical=["code"]) if table_name == "made up" else datasets.load("german").schema
    return Similarity("same(all)", schema, Encoding.fit(table, schema))


@cache
def tables() -> dict[str, pd.DataFrame]:
    return {"made up": TABLE, "german": datasets.load("german").train.X.reset_index(drop=True)}


def fitted(estimator: Any, prepare: Any, table: pd.DataFrame, decides: bool) -> Any:
    model = make_pipeline(clone(prepare), clone(estimator))
    if decides:
        return model.fit(table, labels(table) if table is TABLE else datasets.load("german").train.y)
    scores = {name: f_regression for name in model.get_params() if name.endswith("score_func")}
    return model.set_params(**scores).fit(table, table.select_dtypes("number").sum(axis=1).to_numpy(np.float64))


def assert_agrees(model: Any, table_name: str, tmp_path: Path) -> None:
    """Object and file are one model, and it is the library's."""
    table, phi = tables()[table_name], similarity(table_name)
    skops.io.dump(model, tmp_path / "model.skops")
    tolerance = None if hasattr(model, "classes_") else 1.0
    read, from_file = (
        Subject.of_library(one, table, phi, tolerance=tolerance) for one in (model, load_file(tmp_path / "model.skops"))
    )
    assert [one.hash for one in read.library.factors] == [one.hash for one in from_file.library.factors]
    assert read.model.rule == from_file.model.rule
    assert read.library.encoding.hash == from_file.library.encoding.hash
    real = Individuals.read(table[[name for name in table.columns if name in phi.schema]], phi.schema)
    made_up = make_up_people(read.library, real, 100)
    for group in (real, made_up, place_at_boundaries(read.library, real)):
        found = read.compare(group)
        assert found.agrees
        assert found.largest is None or found.largest <= found.allowed
    assert read.compare(made_up).equal > 0.9 * len(made_up) or read.model.labels is None


@pytest.mark.parametrize("before", FEW)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_behind_some_preprocessing(name: str, before: str, tmp_path: Path) -> None:
    assert_agrees(fitted(ESTIMATORS[name], MADE_UP[before], TABLE, name.endswith("?")), "made up", tmp_path)


@pytest.mark.parametrize("name", ["logistic?", "identity?"])
@pytest.mark.parametrize("before", [name for name in MADE_UP if name not in FEW])
def test_every_preprocessing_before_some_estimator(name: str, before: str, tmp_path: Path) -> None:
    assert_agrees(fitted(ESTIMATORS[name], MADE_UP[before], TABLE, True), "made up", tmp_path)


@pytest.mark.parametrize("before", ["clipped", "pca of the numbers", "behind pca", "k best"])
def test_german_credit(before: str, tmp_path: Path) -> None:
    table = tables()["german"]
    texts = list(table.select_dtypes(exclude="number").columns)
    numbers = [name for name in table.columns if name not in texts]
    prepare = preprocessing(numbers, texts[1:], texts[:1])[before]
    for name in ("logistic?", "calibrated?"):
        assert_agrees(fitted(ESTIMATORS[name], prepare, table, True), "german", tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("before", MADE_UP)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_behind_every_preprocessing(name: str, before: str, tmp_path: Path) -> None:
    assert_agrees(fitted(ESTIMATORS[name], MADE_UP[before], TABLE, name.endswith("?")), "made up", tmp_path)


@pytest.mark.parametrize("name", ["logistic?", "relu?", "identity", "linear"])
def test_float32_tables_are_computed_in_float32(name: str, tmp_path: Path) -> None:
    """Where the array and the weights are float32; the bound is that of float32, and it is not absurdly wide."""
    table = TABLE[["age", "income", "score"]].astype(np.float32)
    prepare = preprocessing(list(table.columns), [], [])["standard"]
    model = make_pipeline(prepare.transformers[0][1], clone(ESTIMATORS[name]))
    model.fit(table, labels(TABLE) if name.endswith("?") else table["income"].to_numpy())
    schema = Schema.infer(table)
    phi = Similarity("same(all)", schema, Encoding.fit(table, schema))
    read = Subject.of_library(model, table, phi, tolerance=None if name.endswith("?") else 1.0)
    weights = np.asarray(getattr(model[-1], "coef_", None) if hasattr(model[-1], "coef_") else model[-1].coefs_[0])
    assert {str(one.native) for one in read.model.factors} == {weights.dtype.name}
    found = read.compare(Individuals.read(table, schema), table)
    assert found.agrees
    assert found.allowed < 1e-2 * float(table["income"].max())
