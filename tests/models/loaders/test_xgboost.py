"""XGBoost's trees, read: at every threshold they give what the library gives."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

import lcifr
from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import NetworkError
from lcifr.models.loaders.sklearn import read_sklearn_table
from lcifr.models.loaders.xgboost import content_of, read_booster, read_ubjson
from lcifr.models.loading import load_file, read_table_model
from tests.models.loaders.tree_semantics import CATEGORIES, NUMERIC, TOWNS, check_semantics, read, table

xgboost = pytest.importorskip("xgboost")


def margins(model):
    """The library's own sums, through a pipeline."""

    def compute(rows):
        last = model[-1] if hasattr(model, "steps") else model
        return last.predict(model[:-1].transform(rows) if hasattr(model, "steps") else rows, output_margin=True)

    return compute


def before(sparse: bool = False) -> ColumnTransformer:
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=sparse)
    scaler = MaxAbsScaler() if sparse else StandardScaler()
    parts = [("numbers", scaler, NUMERIC), ("texts", encoder, CATEGORIES)]
    return ColumnTransformer(parts, sparse_threshold=1.0 if sparse else 0.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_behind_a_pipeline(classes):
    frame, labels = table(classes=classes)
    model = make_pipeline(before(), xgboost.XGBClassifier(n_estimators=15, max_depth=4, n_jobs=1)).fit(frame, labels)
    assert check_semantics(model, frame, margins(model)) > 1000


def test_zeros_that_a_sparse_matrix_leaves_out_are_missing():
    """A number that is exactly 0 goes where missing values go, and so do the zeros of a one-hot."""
    frame, labels = table()
    frame.loc[::5, "score"] = 0.0
    frame.loc[::7, "age"] = 0
    model = make_pipeline(before(True), xgboost.XGBClassifier(n_estimators=25, max_depth=4, n_jobs=1))
    model.fit(frame, labels)
    assert check_semantics(model, frame, margins(model)) > 1000


TINY = (0.0, -0.0, 5e-324, 1e-60, -1e-60, 2.0**-150, np.nextafter(2.0**-150, 1.0), 2.0**-149, -(2.0**-149), 1e-30)
"""Up to 2^-150 they are 0 in float32."""


def missing_one(missing: float, sparse: bool, dtype=np.float64):
    """A model whose decision turns on whether a number is missing, the frame, and people around that number."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"debt": rng.normal(size=300), "town": rng.choice(TOWNS, 300)})
    frame.loc[::3, "debt"] = missing
    near = float(np.float32(missing))
    beside = [np.nextafter(near, side) for side in (-np.inf, np.inf)] + [near - 2.0**-26, near + 2.0**-26]
    tried = np.array([*TINY, missing, near, *beside, near + 1e-7, near - 1e-7, 1.0])
    part = OneHotEncoder(sparse_output=True, handle_unknown="ignore")
    first = ColumnTransformer([("debt", "passthrough", ["debt"]), ("town", part, ["town"])], sparse_threshold=1.0)
    last = xgboost.XGBClassifier(n_estimators=20, max_depth=3, missing=missing, n_jobs=1)
    model = make_pipeline(first, last) if sparse else last
    frame = frame if sparse else frame[["debt"]]
    labels = (frame.debt.to_numpy() == missing).astype(int)
    frame = frame.astype({"debt": dtype})
    people = frame.iloc[np.arange(len(tried))].assign(debt=tried.astype(dtype))
    return model.fit(frame, labels), frame, people


@pytest.mark.parametrize(
    ("missing", "sparse"), [(0.0, True), (0.0, False), (0.1, False), (-9.0, False), (1e-60, False), (1e-60, True)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_are_cast_before_they_are_compared_with_the_missing_one(missing, sparse, dtype):
    """All that float32 makes the missing number is missing, behind a sparse matrix too."""
    model, frame, people = missing_one(missing, sparse, dtype)
    found = read(model, frame)
    decided = found.decide(Individuals.read(people, found.encoding.schema))
    assert 0 < decided.sum() < len(decided)
    assert decided.tolist() == model.predict(people).tolist()


@pytest.mark.parametrize("scaler", [MaxAbsScaler(), StandardScaler(with_mean=False), None])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_number_that_scaling_makes_zero_is_not_missing(scaler, dtype):
    """A sparse matrix has left zeros out before: what becomes 0 there is stored."""
    model, frame, people = missing_one(0.0, sparse=True, dtype=dtype)
    frame = frame.assign(debt=frame.debt * 9)
    labels = (frame.debt == 0).astype(int)
    last = xgboost.XGBClassifier(n_estimators=20, max_depth=3, n_jobs=1)
    model = make_pipeline(*[step for step in (model[0], scaler, last) if step is not None]).fit(frame, labels)
    tiny = [5e-324, 1e-323, 2e-323, 1e-310] if dtype is np.float64 else [1e-45, 3e-45, 1e-44, 1e-40]
    people = pd.concat([people, people.head(4).assign(debt=np.array(tiny, dtype))], ignore_index=True)
    found = read(model, frame)
    decided = found.decide(Individuals.read(people, found.encoding.schema))
    assert 0 < decided.sum() < len(decided)
    assert decided.tolist() == model.predict(people).tolist()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scaler", [MaxAbsScaler(), StandardScaler(with_mean=False)])
def test_a_sparse_matrix_that_is_scaled_is_followed_at_every_threshold(scaler, classes):
    frame, labels = table(classes=classes)
    frame.loc[::5, "score"] = 0.0
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=True)
    first = ColumnTransformer(
        [("numbers", "passthrough", NUMERIC), ("texts", encoder, CATEGORIES)], sparse_threshold=1.0
    )
    model = make_pipeline(first, scaler, xgboost.XGBClassifier(n_estimators=15, max_depth=4, n_jobs=1))
    assert check_semantics(model.fit(frame, labels), frame, margins(model)) > 800


def test_nobody_is_certified_beside_a_tiny_number_that_is_missing():
    """Everyone from 1e-60 on is similar: those below 2^-150 are missing, like 0, and the others are not."""
    model, frame, _ = missing_one(0.0, sparse=True)
    frame = frame[frame.debt >= 0.5].head(20)
    similar = lcifr.Similarity("debt' >= 1e-60 and debt within 5 and same(town)", Schema.infer(frame), frame)
    found = lcifr.audit(model, frame, similarity=similar)
    others = frame.assign(debt=1e-60)
    assert (model.predict(others) != model.predict(frame)).all()
    assert (found.verdict == lcifr.Verdict.COUNTEREXAMPLE).all()


def test_categories_that_are_tiny_numbers_are_cast_first():
    """A category's number is missing where float32 makes it 0."""
    model, frame, _ = missing_one(0.0, sparse=True)
    frame = frame.assign(debt=np.resize([0.0, 1e-60, 1e-30, 0.7], len(frame)))
    schema = Schema.infer(frame, categorical=["debt"])
    found = read_table_model(model, frame, Encoding.fit(frame, schema))
    decided = found.decide(Individuals.read(frame, schema))
    assert decided.tolist() == model.predict(frame).tolist()


def test_two_kinds_of_missing_numbers_are_refused():
    """What a sparse matrix leaves out, and a number that means missing."""
    frame, labels = table()
    model = make_pipeline(before(True), xgboost.XGBClassifier(n_estimators=2, missing=1.0, n_jobs=1))
    with pytest.raises(NetworkError, match="takes 1 as missing"):
        read(model.fit(frame, labels), frame)


def test_categories_of_its_own():
    frame, labels = table(count=600)
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    model = xgboost.XGBClassifier(
        n_estimators=20, max_depth=4, enable_categorical=True, max_cat_to_onehot=2, n_jobs=1
    ).fit(frame, labels)
    trees = content_of(model.get_booster())["learner"]["gradient_booster"]["model"]["trees"]
    assert any(tree["categories"] for tree in trees)
    assert check_semantics(model, frame, margins(model)) > 1000


@pytest.mark.parametrize("score", [None, 0.5, 0.1, 0.97])
def test_base_scores(score):
    frame, labels = table()
    model = xgboost.XGBClassifier(n_estimators=5, base_score=score, n_jobs=1).fit(frame[NUMERIC], labels)
    assert check_semantics(model, frame[NUMERIC], margins(model)) > 400


def test_the_best_iteration_decides_after_early_stopping():
    frame, labels = table()
    noise = np.random.default_rng(0).permutation(labels)
    model = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=2, n_jobs=1)
    model.fit(frame[NUMERIC], labels, eval_set=[(frame[NUMERIC], noise)], verbose=False)
    found = read_booster(content_of(model.get_booster()), "a model")
    assert found.used_rounds == model.best_iteration + 1 < found.rounds
    assert check_semantics(model, frame[NUMERIC], margins(model)) > 400


def test_regression():
    frame, _ = table()
    model = xgboost.XGBRegressor(n_estimators=10, n_jobs=1).fit(frame[NUMERIC], frame.score + frame.age)
    assert check_semantics(model, frame[NUMERIC], margins(model)) > 400


def test_a_number_that_means_missing():
    frame, labels = table()
    frame.loc[::3, "income"] = -1.0
    model = xgboost.XGBClassifier(n_estimators=20, missing=-1.0, n_jobs=1).fit(frame[NUMERIC], labels)
    assert check_semantics(model, frame[NUMERIC], margins(model)) > 400


def test_both_file_formats_hold_the_same_model(tmp_path):
    frame, labels = table(classes=3)
    model = xgboost.XGBClassifier(n_estimators=4, n_jobs=1).fit(frame[NUMERIC], labels)
    for name in ("model.json", "model.ubj"):
        model.save_model(tmp_path / name)
    text = read_booster(json.loads((tmp_path / "model.json").read_bytes()), "json")
    binary = read_booster(read_ubjson((tmp_path / "model.ubj").read_bytes()), "ubj")
    assert text.trees == binary.trees
    assert text.base.tolist() == binary.base.tolist()
    assert text.names == binary.names == tuple(NUMERIC)


@pytest.mark.parametrize("cut", [0, 1, 17, 400, -1])
def test_broken_binary_files_are_refused(cut, tmp_path):
    frame, labels = table()
    model = xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(frame[NUMERIC], labels)
    model.save_model(tmp_path / "model.ubj")
    with pytest.raises(NetworkError, match="UBJSON"):
        read_ubjson((tmp_path / "model.ubj").read_bytes()[:cut])


@pytest.mark.parametrize(
    ("options", "said"), [({"booster": "dart"}, "dart"), ({"objective": "count:poisson"}, "poisson")]
)
def test_what_is_refused_by_name(options, said):
    frame, labels = table()
    kind = xgboost.XGBRegressor if "objective" in options else xgboost.XGBClassifier
    with pytest.raises(NetworkError, match=said):
        read(kind(n_estimators=2, n_jobs=1, **options).fit(frame[NUMERIC], labels), frame[NUMERIC])


def test_raw_margins_are_compared_as_the_wrapper_compares_them() -> None:
    """It asks whether they are above 0.5, as if they were probabilities."""
    draw = np.random.default_rng(0)
    people = pd.DataFrame({"pay": draw.normal(size=200), "age": draw.normal(size=200)})
    model = xgboost.XGBClassifier(n_estimators=4, objective="binary:logitraw")
    model.fit(people, (people["pay"] + people["age"] > 0.7).astype(int))
    between = model.predict(people, output_margin=True)
    assert ((between > 0) & (between < 0.5)).any()
    schema = Schema.infer(people)
    read = read_sklearn_table(model, people, Encoding.fit(people, schema))
    assert np.array_equal(read.decide(Individuals.read(people, schema)), model.predict(people))


def test_categories_in_another_order_than_when_it_was_fitted():
    """XGBoost keeps the values, and recodes a frame by them."""
    frame, labels = table(count=600)
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    model = xgboost.XGBClassifier(n_estimators=10, enable_categorical=True, max_cat_to_onehot=1, n_jobs=1)
    model.fit(frame, labels)
    frame["town"] = frame.town.cat.reorder_categories(TOWNS[::-1])
    assert check_semantics(model, frame, margins(model)) > 600


def test_a_category_that_it_never_saw_is_outside():
    """XGBoost raises an error there."""
    frame, labels = table(count=600)
    for name in CATEGORIES:
        frame[name] = frame[name].astype("category")
    model = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True, n_jobs=1).fit(frame, labels)
    frame["town"] = frame.town.cat.rename_categories({"Rome": "Zug"})
    assert [(one.attribute, one.value) for one in read(model, frame).encoding.outside] == [("town", "Zug")]


@pytest.mark.parametrize("objective", ["binary:logitraw", "binary:hinge", "reg:logistic"])
def test_what_a_classifier_compares_with_one_half(objective):
    frame, labels = table()
    model = xgboost.XGBClassifier(n_estimators=6, objective=objective, n_jobs=1).fit(frame[NUMERIC], labels)
    assert check_semantics(model, frame[NUMERIC], margins(model)) > 400


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        (xgboost.XGBClassifier, {"base_score": 1e-7}, "base score"),
        (xgboost.XGBClassifier, {"base_score": 1 - 1.2e-7}, "base score"),
        (xgboost.XGBClassifier, {"n_estimators": 0}, "no trees"),
        (xgboost.XGBClassifier, {"objective": "reg:squarederror"}, "cuts numbers"),
        (xgboost.XGBRegressor, {"objective": "reg:logistic"}, "predicts probabilities"),
        (xgboost.XGBClassifier, {"objective": "multi:softprob", "num_class": 2}, "predicts vectors"),
    ],
)
def test_what_the_library_decides_otherwise_is_refused(kind, options, said):
    frame, labels = table()
    model = kind(**{"n_estimators": 2, "n_jobs": 1, **options}).fit(frame[NUMERIC], labels)
    with pytest.raises(NetworkError, match=said):
        read(model, frame[NUMERIC])


LATER = {
    "missing": [0.0, -1.0],
    "booster": ["dart", "gblinear"],
    "base_score": [0.9],
    "objective": ["binary:hinge", "binary:logitraw", "reg:squarederror", "multi:softmax", "count:poisson"],
    "num_class": [3],
    "num_parallel_tree": [3],
    "n_estimators": [2],
    "multi_strategy": ["multi_output_tree"],
    "rate_drop": [0.9],
    "scale_pos_weight": [9.0],
    "feature_types": [["q", "q", "c"]],
    "iteration_range": [(0, 2)],
    "best_iteration": [1],
    "base_margin": [1.0],
    "output_margin": [True],
    "validate_features": [False],
    "training": [True],
    "process_type": ["update"],
}
"""Settings of a model that is fitted already; some of them change what it predicts."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", sorted(LATER))
def test_settings_after_fitting_are_those_that_predict_or_are_refused(name, classes):
    frame, labels = table(count=150, classes=classes)
    frame = frame[NUMERIC]
    frame.loc[::4, "score"] = 0.0
    for value in LATER[name]:
        model = xgboost.XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(frame, labels)
        model.set_params(**{name: value})
        try:
            decided = model.predict(frame)
        except (xgboost.core.XGBoostError, ValueError):
            continue  # nobody can deploy that
        try:
            found = read(model, frame)
        except NetworkError:
            continue
        assert np.array_equal(found.decide(Individuals.read(frame, found.encoding.schema)), decided)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"booster": "gblinear"}, "gblinear"),
        ({"multi_strategy": "multi_output_tree", "tree_method": "hist"}, "several values"),
    ],
)
def test_predictions_that_are_no_sum_of_trees_are_refused(options, said):
    frame, labels = table(classes=3)
    kind = xgboost.XGBClassifier(n_estimators=2, n_jobs=1, **options)
    with pytest.raises(NetworkError, match=said):
        read(kind.fit(frame[NUMERIC], labels), frame[NUMERIC])


@pytest.mark.parametrize("classes", [2, 3])
def test_objectives_of_ones_own_are_read_as_they_predict(classes):
    frame, labels = table(classes=classes)

    def squares(labels, scores):
        wanted = np.eye(3)[labels.astype(int)] if scores.ndim > 1 else labels
        return scores - wanted, np.ones_like(scores)

    model = xgboost.XGBClassifier(n_estimators=5, n_jobs=1, objective=squares).fit(frame[NUMERIC], labels)
    found = read(model, frame[NUMERIC])
    people = Individuals.read(frame[NUMERIC], found.encoding.schema)
    assert np.array_equal(found.decide(people), model.predict(frame[NUMERIC]))


def test_a_best_iteration_that_is_not_there_is_refused():
    frame, labels = table()
    model = xgboost.XGBClassifier(n_estimators=3, n_jobs=1).fit(frame[NUMERIC], labels)
    model.get_booster().set_attr(best_iteration="7")
    with pytest.raises(NetworkError, match="8 rounds decide, and holds 3"):
        read(model, frame[NUMERIC])


@pytest.mark.parametrize("parallel", [1, 4])
@pytest.mark.parametrize("classes", [2, 3])
def test_forests(classes, parallel):
    frame, labels = table(classes=classes)
    model = xgboost.XGBRFClassifier(n_estimators=7, n_jobs=1).fit(frame[NUMERIC], labels)
    assert check_semantics(model, frame[NUMERIC], margins(model)) > 400
    boosted = xgboost.XGBClassifier(n_estimators=4, num_parallel_tree=parallel, subsample=0.7, n_jobs=1)
    assert check_semantics(boosted.fit(frame[NUMERIC], labels), frame[NUMERIC], margins(boosted)) > 400


def test_several_labels_at_once_are_refused_by_name():
    frame, labels = table()
    model = xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(frame[NUMERIC], np.column_stack([labels, 1 - labels]))
    with pytest.raises(NetworkError, match="several labels"):
        read(model, frame[NUMERIC])


def test_kept_categories_that_cannot_be_read_back_are_refused():
    """The library recodes by what it keeps, so the order of the table says nothing."""
    frame, labels = table()
    frame = frame.assign(town=frame.town.replace("Bern", "Zürich").astype("category"))[["age", "town"]]
    model = xgboost.XGBClassifier(n_estimators=3, enable_categorical=True, n_jobs=1).fit(frame, labels)
    with pytest.raises(NetworkError, match="not ASCII"):
        read(model, frame)


def with_tree(model, left, right, values, path):
    """The file of a model about one number whose first tree is replaced by these nodes."""
    content = json.loads(bytes(model.get_booster().save_raw("json")))
    tree = content["learner"]["gradient_booster"]["model"]["trees"][0]
    tree |= {"left_children": left, "right_children": right, "split_conditions": values}
    tree |= {"split_indices": [0] * len(left), "default_left": [0] * len(left)}
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("left", "right"),
    [([1, 0, -1], [2, 2, -1]), ([*range(1, 41), -1], [*range(1, 41), -1])],
    ids=["a cycle", "one child for both sides"],
)
def test_nodes_that_are_no_tree_are_refused(left, right, tmp_path):
    frame, labels = table()
    model = xgboost.XGBClassifier(n_estimators=1, n_jobs=1).fit(frame[["score"]], labels)
    path = with_tree(model, left, right, [float(at) for at in range(len(left))], tmp_path / "model.json")
    with pytest.raises(NetworkError, match="two parents"):
        load_file(path)


def test_a_file_with_a_tree_deeper_than_pythons_stack(tmp_path):
    frame, labels = table()
    frame, deep = frame[["score"]], 3000
    model = xgboost.XGBClassifier(n_estimators=1, n_jobs=1).fit(frame, labels)
    left = [child for at in range(deep) for child in (2 * at + 1, -1)] + [-1]
    right = [child for at in range(deep) for child in (2 * at + 2, -1)] + [-1]
    values = [value for at in range(deep) for value in (at / 64, float(at))] + [-1.0]
    path = with_tree(model, left, right, values, tmp_path / "model.json")
    found = load_file(path).read_table(frame, Encoding.fit(frame, Schema.infer(frame)))
    function = found.model.function
    assert function([[0.25]])[0, 0] == function.base[0] + 17  # 0.25 < 17 / 64
