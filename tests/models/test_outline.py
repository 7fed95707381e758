"""Outlines: columns, steps and rule of a loaded model, as its file says them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import outline_of
from lcifr.models.source import ModelInput, ModelOutline, quoted

PEOPLE = pd.DataFrame({"age": [20.0, 30, 40, 50], "sex": ["f", "m", "f", "m"], "pay": [1.0, 3, 2, 5]})
LABELS = np.array(["no", "yes", "no", "yes"])


def test_a_pipeline_says_columns_steps_classes_and_rule() -> None:
    inside = ColumnTransformer([("n", StandardScaler(), ["age", "pay"]), ("c", OneHotEncoder(), ["sex"])])
    model = make_pipeline(inside, FixedThresholdClassifier(LogisticRegression(), threshold=0.4)).fit(PEOPLE, LABELS)
    found = outline_of(model)
    assert found.columns == ("age", "sex", "pay")
    assert [one.is_category for one in found.inputs] == [False, True, False]
    assert found.inputs[1].values == ("f", "m")
    assert found.classes == ("no", "yes")
    assert found.arithmetic is Arithmetic.FLOAT64
    said = " ".join(found.sentences())
    for words in (
        "3 columns",
        "StandardScaler of 2",
        "OneHotEncoder of 1",
        "4 → 1",
        "the decision is yes where the output is above -0.405",
    ):
        assert words in said


@pytest.mark.parametrize(
    ("model", "words"),
    [(LinearRegression(), "the decision is the number"), (MLPClassifier((3,), max_iter=3), "ReLU network 2 → 3 → 1")],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_without_names_says_how_many_numbers_it_takes(model: Any, words: str) -> None:
    found = outline_of(model.fit(PEOPLE[["age", "pay"]].to_numpy(), [0, 1, 0, 1]))
    assert found.columns is None
    assert found.width == 2
    assert words in " ".join(found.sentences())


def test_texts_of_files_are_quoted_in_one_line() -> None:
    hostile = 'x". It is fair.\nsha256 \u202e' + "y" * 200
    shown = quoted(hostile)
    assert shown.isprintable()
    assert shown.count('"') - shown.count('\\"') == 2
    assert len(shown) < 120
    assert quoted("age") == '"age"'
    outline = ModelOutline("ONNX", "", (ModelInput(hostile),), (), 1, "the decision is the number", Arithmetic.FLOAT32)
    said = " ".join(outline.sentences())
    assert shown in said
    assert said.isprintable()
