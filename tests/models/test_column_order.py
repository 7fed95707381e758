"""Columns that a library reads by position: which order is meant, and who is told when a table has another one."""

from __future__ import annotations

import json
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import lcifr
from lcifr.data import Individuals, Numeric, Schema
from lcifr.errors import NetworkError
from lcifr.models.loading import load_file
from lcifr.models.source import ColumnOrderWarning
from tests.models.loaders.tree_semantics import NUMERIC, before, read, table
from tests.story import lcifr as command

lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
QUIET = {"n_estimators": 8, "n_jobs": 1, "verbose": -1, "min_child_samples": 5}
OTHER = NUMERIC[::-1]
ORDER = 'the order "age", "income", "score"'


def fitted(count: int = 200):
    frame, labels = table(count=count)
    return lightgbm.LGBMClassifier(**QUIET).fit(frame[NUMERIC], labels), frame[NUMERIC], labels


def similar(frame: pd.DataFrame) -> lcifr.Similarity:
    return lcifr.Similarity("numeric within 0.1 sd", Schema.infer(frame), frame)


def test_the_library_itself_checks_nothing():
    model, frame, _ = fitted()
    assert (model.predict(frame[OTHER]) != model.predict(frame)).any()


def test_an_audit_names_the_order_and_warns_of_another_one():
    """Verdicts are about the columns as they were when it was fitted."""
    model, frame, _ = fitted()
    frame = frame.head(30)
    known = lcifr.audit(model, frame, similarity=similar(frame))
    assert ORDER in known.assumptions[0]
    assert ORDER in unescape(known._repr_html_())
    with pytest.warns(ColumnOrderWarning, match='the table has them in the order "score", "income", "age"'):
        turned = lcifr.audit(model, frame[OTHER], similarity=similar(frame[OTHER]))
    assert (turned.prediction == model.predict(frame)).all()
    assert (turned.verdict == known.verdict).all()


def test_columns_beside_those_of_the_model_do_not_matter():
    model, frame, labels = fitted()
    frame = frame.head(20).assign(label=labels[:20], name="x")[["name", *NUMERIC, "label"]]
    lcifr.audit(model, frame, similarity="same(name, label) and numeric within 0.01 sd")


@pytest.mark.parametrize("wrap", [make_pipeline, lambda one: CalibratedClassifierCV(FrozenEstimator(one))])
def test_wrappers_do_not_check_either(wrap):
    model, frame, labels = fitted()
    whole = wrap(model).fit(frame, labels) if wrap is not make_pipeline else wrap(model)
    try:
        agrees = np.array_equal(whole.predict(frame[OTHER]), whole.predict(frame))
    except ValueError:
        assert read_ready(whole, frame) is None
    else:
        assert not agrees
        assert read_ready(whole, frame).names == tuple(NUMERIC)


def read_ready(model, frame):
    from lcifr.models.loaders.sklearn import _positional

    return _positional(model, list(frame.columns))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_libraries_that_check_names_need_no_word():
    frame, labels = table()
    ready = [
        make_pipeline(before(), lightgbm.LGBMClassifier(**QUIET)).fit(frame, labels),
        xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(frame[NUMERIC], labels),
        RandomForestClassifier(3).fit(frame[NUMERIC], labels),
        LogisticRegression().fit(frame[NUMERIC], labels),
    ]
    for model in ready:
        shown = frame if hasattr(model, "steps") else frame[NUMERIC]
        assert read(model, shown).positional is None
        if shown is not frame:
            with pytest.raises(ValueError, match="feature"):
                model.predict(shown[OTHER])


@pytest.mark.parametrize(
    "model",
    [
        lightgbm.LGBMClassifier(**QUIET),
        xgboost.XGBClassifier(n_estimators=2, n_jobs=1),
        RandomForestClassifier(3),
        LogisticRegression(),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore:X has feature names")
def test_models_of_matrices_mean_the_columns_as_the_table_has_them(model):
    frame, labels = table(count=150)
    model.fit(frame[NUMERIC].to_numpy(), labels)
    for columns in (NUMERIC, OTHER):
        found = read(model, frame[columns])
        assert found.positional.names == tuple(columns)
        people = Individuals.read(frame[columns], found.encoding.schema)
        assert (found.decide(people) == model.predict(frame[columns].to_numpy())).all()


def test_a_machine_of_a_matrix_means_the_columns_as_the_table_has_them():
    """interpret calls them feature_0000, feature_0001, …, and goes by these names only if the table has all of them."""
    glassbox = pytest.importorskip("interpret.glassbox")
    frame, labels = table(count=150)
    quick = {"max_rounds": 5, "outer_bags": 1, "n_jobs": 1, "interactions": 0}
    model = glassbox.ExplainableBoostingClassifier(**quick).fit(frame[NUMERIC].to_numpy(), labels)
    for columns in (NUMERIC, OTHER):
        found = read(model, frame[columns])
        assert found.positional.names == tuple(columns)
        people = Individuals.read(frame[columns], found.encoding.schema)
        own = model.predict(frame[columns].to_numpy())
        assert (found.decide(people) == own).all()
        assert (found.library_decides(people) == own).all()
    made_up = dict(zip(NUMERIC, ["feature_0000", "feature_0001", "feature_0002"], strict=True))
    turned = frame[OTHER].rename(columns=made_up)
    found = read(model, turned)
    assert found.positional is None
    people = Individuals.read(turned, found.encoding.schema)
    assert (found.decide(people) == model.predict(frame[NUMERIC].to_numpy())).all()
    with pytest.raises(NetworkError, match="fitted on 3 columns without names, the table has 2"):
        read(model, frame[NUMERIC[:2]])


@pytest.fixture
def place(tmp_path):
    model, frame, labels = fitted()
    model.booster_.save_model(tmp_path / "model.txt")
    frame = frame.assign(repaid=labels)
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame[[*OTHER, "repaid"]].head(40).to_csv(tmp_path / "turned.csv", index=False)
    (tmp_path / "people.phi").write_text("numeric within 0.05 sd")
    return tmp_path


def test_files_name_the_order(place):
    [said] = load_file(place / "model.txt").outline().assumptions
    assert ORDER in said
    shown = command("model", "show", "model.txt", cwd=place, expect=None)
    assert ORDER in shown.out


def test_commands_warn_of_a_table_in_another_order(place):
    options = ("--model", "model.txt", "--phi", "people.phi", "--target", "repaid")
    right = command("audit", "people.csv", *options, "--sample", "30", "--out", "right", cwd=place, expect=None)
    assert "assumed: LightGBM reads its columns by position" in right.out
    assert "in the order" in right.out
    assert "predict computes something else" not in right.out + right.err
    turned = command("audit", "turned.csv", *options, "--out", "turned", cwd=place, expect=None)
    assert 'turned.csv has them in the order "score", "income", "age"' in turned.out
    result = json.loads((place / "turned" / "result.json").read_text())
    assert any("turned.csv has them" in one for one in result["warnings"])
    assert any(ORDER in one for one in result["origin"]["assumptions"])
    command("report", "turned", "--format", "md", "--out", "page.md", cwd=place, expect=None)
    page = (place / "page.md").read_text()
    assert "turned.csv has them in the order" in page
    assert "reads its columns by position" in page
    new = command(
        "certify", "turned.csv", *options, "--reference", "people.csv", "--out", "new", cwd=place, expect=None
    )
    assert "predict computes something else" in new.out
    asked = command(
        "doctor", "--model", "model.txt", "--data", "turned.csv", "--target", "repaid", cwd=place, expect=None
    )
    assert "predict computes something else" in asked.err


def test_a_sweep_warns_too(place):
    ranges = {"age": (18.0, 80.0), "income": (0.0, 400.0), "score": (-5.0, 5.0)}
    Schema([Numeric(name, lower=low, upper=high) for name, (low, high) in ranges.items()]).save(place / "people.toml")
    (place / "people.phi").write_text("same(age, score) and income within 0.05 sd")
    options = ("--model", "model.txt", "--phi", "people.phi", "--cells", "5", "--universe", "reals", "--out", "swept")
    found = command("sweep", "turned.csv", *options, cwd=place, expect=None)
    assert "predict computes something else" in found.err
    said = json.loads((place / "swept" / "result.json").read_text())["origin"]["assumptions"]
    assert any("turned.csv has them" in one for one in said)
