"""LightGBM's trees, read: at every threshold they give what the library gives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from lcifr.data import Individuals
from lcifr.errors import NetworkError
from lcifr.models.loaders.lightgbm import read_text
from tests.models.loaders.tree_semantics import CATEGORIES, NUMERIC, TOWNS, before, check_semantics, read, table

lightgbm = pytest.importorskip("lightgbm")
QUIET = {"n_jobs": 1, "verbose": -1, "min_child_samples": 5, "deterministic": True}


def raw(model):
    """The library's own sums."""
    return lambda rows: model.predict(rows, raw_score=True)


@pytest.mark.parametrize("classes", [2, 3])
def test_numbers(classes):
    frame, labels = table(classes=classes)
    model = lightgbm.LGBMClassifier(n_estimators=15, num_leaves=12, **QUIET).fit(frame[NUMERIC], labels)
    assert check_semantics(model, frame[NUMERIC], raw(model)) > 400


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_behind_a_pipeline():
    frame, labels = table()
    model = make_pipeline(before(), lightgbm.LGBMClassifier(n_estimators=15, **QUIET)).fit(frame, labels)
    assert (
        check_semantics(model, frame, lambda rows: model[-1].predict(model[:-1].transform(rows), raw_score=True)) > 400
    )


def test_categories_of_its_own():
    """Sets of values, and a town that was not seen in training."""
    frame, labels = table(count=800)
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    seen = frame.town.isin(TOWNS[:3]).to_numpy()
    options = {**QUIET, "min_data_per_group": 5, "cat_smooth": 1.0, "cat_l2": 0.0, "max_cat_to_onehot": 1}
    model = lightgbm.LGBMClassifier(n_estimators=20, num_leaves=12, **options).fit(frame[seen], labels[seen])
    assert "num_cat=1" in model.booster_.model_to_string()
    assert check_semantics(model, frame, raw(model)) > 400


def test_zeros_as_missing():
    frame, labels = table()
    frame.loc[::3, "score"] = 0.0
    frame.loc[::4, "income"] = 0.0
    model = lightgbm.LGBMClassifier(n_estimators=20, zero_as_missing=True, **QUIET).fit(frame[NUMERIC], labels)
    assert check_semantics(model, frame[NUMERIC], raw(model)) > 400


def test_a_mean_of_trees_and_regression():
    frame, labels = table()
    forest = lightgbm.LGBMClassifier(boosting_type="rf", n_estimators=8, subsample=0.7, subsample_freq=1, **QUIET).fit(
        frame[NUMERIC], labels
    )
    assert read(forest, frame[NUMERIC]).model.function.scale < 1
    assert check_semantics(forest, frame[NUMERIC], lambda rows: raw(forest)(rows) / 8) > 400  # it gives the sum
    number = lightgbm.LGBMRegressor(n_estimators=8, **QUIET).fit(frame[NUMERIC], frame.score)
    assert check_semantics(number, frame[NUMERIC], number.predict) > 400


@pytest.mark.parametrize(
    ("options", "said"), [({"linear_tree": True}, "linear"), ({"objective": "poisson"}, "poisson")]
)
def test_what_is_refused_by_name(options, said):
    frame, labels = table()
    model = lightgbm.LGBMRegressor(n_estimators=3, **QUIET, **options).fit(frame[NUMERIC], labels)
    with pytest.raises(NetworkError, match=said):
        read(model, frame[NUMERIC])


@pytest.mark.parametrize("text", ["", "tree\nversion=v4\n", "tree\nnum_tree_per_iteration=x\nobjective=binary\n"])
def test_other_texts_are_refused(text):
    with pytest.raises(NetworkError, match="not a model of LightGBM"):
        read_text(text, "a file")


@pytest.mark.parametrize("above", [0.0, -0.5])
def test_numbers_that_are_nearly_zero_are_zero(above):
    """Of whatever sign: LightGBM reads them as 0 before it compares them."""
    frame = pd.DataFrame({"gain": np.repeat([-1.5, 0.0, 1.5], 40)})
    model = lightgbm.LGBMClassifier(n_estimators=3, min_child_samples=3, verbose=-1, n_jobs=1)
    model.fit(frame, frame.gain > above)
    found = read(model, frame)
    size = float(np.float32(1e-35))
    tiny = pd.DataFrame({"gain": [s * v for s in (1, -1) for v in (0.0, 1e-300, 1e-36, size, 1.1 * size)]})
    assert (found.decide(Individuals.read(tiny, found.encoding.schema)) == model.predict(tiny)).all()


def test_tables_with_other_categorical_columns_are_refused():
    frame, labels = table(count=600)
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(frame.drop(columns="sex"), labels)
    with pytest.raises(NetworkError, match="1 categorical columns, the table has 2"):
        read(model, frame.assign(age=frame.sex)[["age", "income", "score", "town"]])


EARLY = {"pred_early_stop": True, "pred_early_stop_freq": 1, "pred_early_stop_margin": 0.1}


@pytest.mark.parametrize("classes", [2, 3])
def test_predictions_that_stop_early_are_refused(classes):
    """They are the sum of the first few trees, as many as a margin takes, whether or not they are asked for at fit."""
    frame, labels = table(classes=classes)
    frame = frame[NUMERIC]
    model = lightgbm.LGBMClassifier(n_estimators=15, **QUIET, **EARLY).fit(frame, labels)
    stopped = model.predict_proba(frame)
    with pytest.raises(NetworkError, match="pred_early_stop"):
        read(model, frame)
    with pytest.raises(NetworkError, match="pred_early_stop"):
        read(make_pipeline(model), frame)
    model.set_params(pred_early_stop=False)
    assert not np.array_equal(model.predict_proba(frame), stopped)
    assert check_semantics(model, frame, raw(model)) > 400
    with pytest.raises(NetworkError, match="pred_early_stop"):
        read(model.set_params(pred_early_stop="true"), frame)


def test_numbers_are_never_predicted_early():
    frame, _ = table()
    model = lightgbm.LGBMRegressor(n_estimators=15, **QUIET, **EARLY).fit(frame[NUMERIC], frame.score)
    assert check_semantics(model, frame[NUMERIC], raw(model)) > 400


@pytest.mark.parametrize("kept", ["pred_early_stop: 1", "start_iteration_predict: 2", "num_iteration_predict: 3"])
def test_files_that_keep_another_sum_are_refused(kept):
    """Before version 3 they kept the settings of predictions, too."""
    frame, labels = table()
    text = lightgbm.LGBMClassifier(n_estimators=2, **QUIET).fit(frame[NUMERIC], labels).booster_.model_to_string()
    name, _, _ = kept.partition(": ")
    with pytest.raises(NetworkError, match=name):
        read_text(text.replace("[boosting: gbdt]", f"[boosting: gbdt]\n[{kept}]"), "a file")
    usual = {"pred_early_stop": "0", "start_iteration_predict": "0", "num_iteration_predict": "-1"}[name]
    assert read_text(text.replace("[boosting: gbdt]", f"[boosting: gbdt]\n[{name}: {usual}]"), "a file").rounds == 2


SETTINGS = {
    "predict_raw_score": True,
    "raw_score": True,
    "predict_leaf_index": True,
    "predict_contrib": True,
    "start_iteration_predict": 5,
    "num_iteration_predict": 2,
    "num_iteration": 2,
    "n_iter": 2,
    "start_iteration": 3,
    "predict_disable_shape_check": True,
    "zero_as_missing": True,
    "use_missing": False,
    "sigmoid": 9.0,
    "boosting": "rf",
    "objective": "regression",
    "scale_pos_weight": 50.0,
    "is_unbalance": True,
    "boost_from_average": False,
    "linear_tree": True,
    "pred_early_stop_freq": 1,
    "pred_early_stop_margin": 0.1,
}


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_other_settings_of_a_fitted_classifier_do_not_change_its_predictions(name):
    """They are for training, or for the command line; what is read is what predicts."""
    frame, labels = table(count=150)
    frame.loc[::3, "score"] = 0.0
    model = lightgbm.LGBMClassifier(n_estimators=8, **QUIET).fit(frame[NUMERIC], labels)
    before_it = model.predict(frame[NUMERIC])
    model.set_params(**{name: SETTINGS[name]})
    assert np.array_equal(model.predict(frame[NUMERIC]), before_it)
    found = read(model, frame[NUMERIC])
    assert np.array_equal(found.decide(Individuals.read(frame[NUMERIC], found.encoding.schema)), before_it)


@pytest.mark.parametrize(
    "options",
    [
        {"boosting_type": "dart", "drop_rate": 0.5},
        {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
        {"sigmoid": 0.3},
        {"scale_pos_weight": 7.0},
        {"is_unbalance": True},
        {"boost_from_average": False},
        {"use_missing": False},
        {"extra_trees": True},
    ],
)
def test_settings_of_training(options):
    frame, labels = table()
    model = lightgbm.LGBMClassifier(n_estimators=10, **QUIET, **options).fit(frame[NUMERIC], labels)
    rounds = 10 if options.get("boosting_type") == "rf" else 1  # raw scores are sums there, and the mean decides
    assert check_semantics(model, frame[NUMERIC], lambda rows: model.predict(rows, raw_score=True) / rounds) > 300


def test_the_best_iteration_decides_after_early_stopping():
    frame, labels = table()
    noise = np.random.default_rng(0).permutation(labels)
    model = lightgbm.LGBMClassifier(n_estimators=60, **QUIET)
    model.fit(
        frame[NUMERIC],
        labels,
        eval_X=frame[NUMERIC],
        eval_y=noise,
        callbacks=[lightgbm.early_stopping(2, verbose=False)],
    )
    assert model.best_iteration_ < 60
    assert check_semantics(model, frame[NUMERIC], raw(model)) > 200


def test_objectives_of_ones_own_are_refused():
    """The library then predicts raw numbers."""
    frame, labels = table()
    model = lightgbm.LGBMClassifier(n_estimators=3, objective=lambda y, p: (p - y, np.ones_like(p)), **QUIET)
    with pytest.raises(NetworkError, match="objective"):
        read(model.fit(frame[NUMERIC], labels), frame[NUMERIC])


SMALLEST = float(np.float32(1e-35))
NEAR_ZERO = [
    sign * value
    for sign in (1.0, -1.0)
    for value in (0.0, 5e-324, 1e-36, np.nextafter(SMALLEST, 0.0), SMALLEST, np.nextafter(SMALLEST, 1.0), 2e-35, 1.0)
]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("zeros_missing", [False, True])
@pytest.mark.parametrize("above", [0.0, -0.5])
@pytest.mark.parametrize("sparse", [False, True])
def test_numbers_that_are_nearly_zero_are_compared_as_they_are_in_a_sparse_matrix(sparse, above, zeros_missing):
    """LightGBM takes them for 0 in a dense one only, which matters where a threshold is such a number."""
    encoder = OneHotEncoder(sparse_output=sparse)
    first = ColumnTransformer(
        [("gain", "passthrough", ["gain"]), ("town", encoder, ["town"])], sparse_threshold=float(sparse)
    )
    frame = pd.DataFrame({"gain": np.repeat([-1.5, 0.0, 1.5], 40), "town": np.resize(["Bern", "Oslo"], 120)})
    last = lightgbm.LGBMClassifier(n_estimators=3, zero_as_missing=zeros_missing, **QUIET)
    model = make_pipeline(first, last).fit(frame, frame.gain > above)
    found = read(model, frame)
    tiny = pd.DataFrame({"gain": NEAR_ZERO, "town": "Bern"})
    decided = found.decide(Individuals.read(tiny, found.encoding.schema))
    assert decided.tolist() == model.predict(tiny).tolist()
