"""Pipelines on raw columns: every number that reaches the estimator is the library's, bit for bit, and so is what it
decides, on real people, on generated ones and beside every place where a clip or a cast could differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ElasticNet,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from lcifr import datasets
from lcifr.data import Encoding, Individuals
from lcifr.errors import NetworkError, TableError
from lcifr.models.loaders.sklearn import read_sklearn_table
from lcifr.models.rule import Kind
from tests.models.loaders.sklearn_tables import (
    assert_same_decisions,
    dense,
    encoding_of,
    generated,
    labels,
    people,
    schema_of,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning"),
]
NUMBERS, TEXTS, CODES = ["age", "income", "score"], ["city"], ["member", "code"]
TABLE = people()
MLP = {"hidden_layer_sizes": (5, 4), "max_iter": 40, "random_state": 0}


def columns(numbers: Any, texts: Any, codes: Any = "passthrough", **options: Any) -> ColumnTransformer:
    parts = [("numbers", numbers, NUMBERS), ("texts", texts, TEXTS), ("codes", codes, CODES)]
    return ColumnTransformer(parts, **options)


PREPROCESSING = {
    "standard": columns(StandardScaler(), OneHotEncoder()),
    "no mean": columns(StandardScaler(with_mean=False), OneHotEncoder(sparse_output=False)),
    "no sd": columns(StandardScaler(with_std=False), OneHotEncoder(drop="first")),
    "min max": columns(MinMaxScaler((-1, 3)), OneHotEncoder(drop="if_binary")),
    "clip": columns(MinMaxScaler(clip=True), OneHotEncoder(min_frequency=30)),
    "max abs": columns(MaxAbsScaler(), OneHotEncoder(max_categories=3, drop="first")),
    "robust": columns(RobustScaler(), OneHotEncoder(drop=["Bonn"], handle_unknown="ignore")),
    "ordinal": columns(RobustScaler(with_centering=False, unit_variance=True), OrdinalEncoder()),
    "codes": columns(RobustScaler(with_scaling=False), OrdinalEncoder(min_frequency=30), OneHotEncoder()),
    "raw": columns("passthrough", OneHotEncoder(dtype=np.float32)),
    "drop": columns(StandardScaler(), "drop", remainder="drop"),
    "two scalers": make_pipeline(columns(MinMaxScaler(), OneHotEncoder(), sparse_threshold=0), StandardScaler()),
    "sparse": make_pipeline(
        columns(StandardScaler(), OneHotEncoder(), OneHotEncoder(), sparse_threshold=1.0),
        StandardScaler(with_mean=False),
        MaxAbsScaler(),
    ),
    "sparse robust": make_pipeline(
        columns("passthrough", OneHotEncoder(), sparse_threshold=1.0), RobustScaler(with_centering=False)
    ),
    "imputed": columns(
        make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
        make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="infrequent_if_exist")),
        make_pipeline(SimpleImputer(strategy="constant", fill_value=0), OneHotEncoder()),
    ),
    "selected": make_pipeline(
        columns(StandardScaler(), OneHotEncoder(), sparse_threshold=0), VarianceThreshold(0.05), SelectKBest(k=5)
    ),
}
CLASSIFIERS = [
    LogisticRegression(),
    LinearSVC(),
    SGDClassifier(random_state=0),
    RidgeClassifier(),
    LinearDiscriminantAnalysis(),
    Perceptron(),
    MLPClassifier(**MLP),
]
THRESHOLDS = {
    "calibrated": CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3),
    "fixed": FixedThresholdClassifier(LogisticRegression(), threshold=0.3),
    "fixed for the first": FixedThresholdClassifier(LogisticRegression(), threshold=0.3, pos_label=0),
    "fixed score": FixedThresholdClassifier(LinearSVC(), threshold=0.25),
    "fixed score of the first": FixedThresholdClassifier(RidgeClassifier(), threshold=0.1, pos_label=0),
    "fixed by default": FixedThresholdClassifier(MLPClassifier(**MLP)),
    "fixed calibrated": FixedThresholdClassifier(
        CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3), threshold=0.7
    ),
    "tuned": TunedThresholdClassifierCV(LogisticRegression(), cv=3),
    "discriminant": FixedThresholdClassifier(LinearDiscriminantAnalysis(), threshold=0.6),
    "stochastic": FixedThresholdClassifier(SGDClassifier(loss="log_loss", random_state=0), threshold=0.6),
}
REGRESSORS = [LinearRegression(), Ridge(), ElasticNet(), MLPRegressor(**MLP)]


def fitted(model: Any, table: pd.DataFrame = TABLE, classes: int = 2) -> Any:
    return model.fit(table, labels(table, classes))


@pytest.mark.parametrize("name", PREPROCESSING)
def test_numbers_that_reach_the_estimator_are_the_librarys_bit_for_bit(name: str):
    model = fitted(Pipeline([("prepare", PREPROCESSING[name]), ("decide", LogisticRegression())]))
    read = read_sklearn_table(model, TABLE, encoding_of(TABLE))
    for group in (Individuals.read(TABLE, schema_of(TABLE)), generated(read)):
        computed = read.inputs(read.encoding.encode(group))
        assert np.array_equal(computed, dense(model[:-1].transform(read.frame(group))))
        assert_same_decisions(read, group)


@pytest.mark.parametrize("name", ["standard", "clip", "robust", "max abs"])
def test_float32_tables_are_followed_bit_for_bit(name: str):
    table = TABLE.astype({"age": np.float32, "income": np.float32})
    prepare = ColumnTransformer([("numbers", PREPROCESSING[name].transformers[0][1], NUMBERS)])
    model = Pipeline([("prepare", prepare), ("decide", LogisticRegression())]).fit(table, labels(TABLE))
    assert model[:-1].transform(table).dtype == np.float32
    encoding = Encoding.fit(table.astype({"age": float, "income": float, "score": float}), schema_of(TABLE))
    read = read_sklearn_table(model, table, encoding)
    group = generated(read)
    computed = read.inputs(read.encoding.encode(group))
    assert np.array_equal(computed, dense(model[:-1].transform(read.frame(group))))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda one: type(one).__name__)
def test_classifiers_decide_as_the_library_does(estimator: Any, classes: int):
    model = fitted(make_pipeline(PREPROCESSING["two scalers"], estimator), classes=classes)
    read = read_sklearn_table(model, TABLE, encoding_of(TABLE))
    assert_same_decisions(read, Individuals.read(TABLE, schema_of(TABLE)))
    assert_same_decisions(read, generated(read))


@pytest.mark.parametrize("inside", [False, True], ids=["around the estimator", "around the pipeline"])
@pytest.mark.parametrize("name", THRESHOLDS)
def test_thresholds_decide_as_the_library_does(name: str, inside: bool):
    wrapper, prepare = THRESHOLDS[name], PREPROCESSING["two scalers"]
    if inside and name != "fixed calibrated":
        wrapper = type(wrapper)(
            **{**wrapper.get_params(deep=False), "estimator": make_pipeline(prepare, wrapper.estimator)}
        )
        model = fitted(wrapper)
    else:
        model = fitted(make_pipeline(prepare, wrapper))
    read = read_sklearn_table(model, TABLE, encoding_of(TABLE))
    assert read.model.rule.band[0] <= read.model.rule.band[1] <= read.model.rule.band[0] + 1e-9
    assert_same_decisions(read, Individuals.read(TABLE, schema_of(TABLE)))
    assert_same_decisions(read, generated(read))


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda one: type(one).__name__)
def test_regressors_predict_as_the_library_does(estimator: Any):
    model = make_pipeline(PREPROCESSING["ordinal"], estimator).fit(TABLE, TABLE["income"] * 2 + TABLE["age"])
    read = read_sklearn_table(model, TABLE, encoding_of(TABLE))
    assert read.model.rule.kind is Kind.NUMBER
    group = generated(read)
    points = read.inputs(read.encoding.encode(group))
    room = 2 * read.model.function.error(points)[:, 0]
    assert (np.abs(read.decide(group) - read.library_decides(group)) <= room).all()


def test_german_credit_is_read_as_it_is():
    data = datasets.load("german").train
    table, texts = data.X, list(data.X.select_dtypes(exclude="number").columns)
    numbers = [name for name in table.columns if name not in texts]
    prepare = ColumnTransformer(
        [("n", MinMaxScaler(), numbers), ("t", OneHotEncoder(drop="first", min_frequency=10), texts)]
    )
    model = make_pipeline(prepare, LogisticRegression(max_iter=500)).fit(table, data.y)
    encoding = Encoding.fit(table, datasets.load("german").schema)
    read = read_sklearn_table(model, table, encoding)
    group = Individuals.read(table, encoding.schema)
    assert np.array_equal(read.inputs(read.encoding.encode(group)), dense(model[:-1].transform(table)))
    assert_same_decisions(read, group)


def test_a_score_at_a_tie_is_never_called_sure():
    """At, and one float beside, the place where the decision changes: whatever is outside the rounding agrees."""
    model = fitted(make_pipeline(ColumnTransformer([("n", StandardScaler(), ["income"])]), LogisticRegression()))
    read = read_sklearn_table(model, TABLE, encoding_of(TABLE))
    scaler, last = model[0].named_transformers_["n"], model[-1]
    tie = -last.intercept_[0] / last.coef_[0, 0] * scaler.scale_[0] + scaler.mean_[0]
    values = tie + np.arange(-200, 201) * np.spacing(tie)
    first = Individuals.read(TABLE, schema_of(TABLE)).take([0] * len(values))
    group = Individuals(first.schema, first.numbers.copy(), first.codes)
    group.numbers[:, 1] = values
    points = read.inputs(read.encoding.encode(group))
    sure = np.abs(read.model.function(points))[:, 0] > read.model.function.error(points)[:, 0]
    ours, theirs = read.decide(group), read.library_decides(group)
    assert set(theirs) == {0, 1}
    assert np.array_equal(ours[sure], theirs[sure])
    assert not sure.all()


def test_categories_at_which_the_encoder_raises_are_outside():
    seen = TABLE[TABLE["city"] != "Emden"].reset_index(drop=True)
    model = fitted(make_pipeline(PREPROCESSING["standard"], LogisticRegression()), seen)
    read = read_sklearn_table(model, seen, encoding_of(TABLE))
    assert {str(one) for one in read.encoding.outside} == {"city=Emden"}
    with pytest.raises(TableError, match="Emden"):
        read.decide(Individuals.read(TABLE, schema_of(TABLE)))
    with pytest.raises(ValueError, match="Emden"):
        model.predict(TABLE)


@pytest.mark.parametrize("unknown", ["ignore", "infrequent_if_exist"])
def test_unknown_categories_are_coded_as_the_library_codes_them(unknown: str):
    seen = TABLE[TABLE["city"] != "Emden"].reset_index(drop=True)
    encoder = OneHotEncoder(handle_unknown=unknown, min_frequency=40, drop="first")
    model = fitted(make_pipeline(columns(StandardScaler(), encoder), LogisticRegression()), seen)
    read = read_sklearn_table(model, seen, encoding_of(TABLE))
    assert not read.encoding.outside
    group = Individuals.read(TABLE, schema_of(TABLE))
    assert np.array_equal(read.inputs(read.encoding.encode(group)), dense(model[:-1].transform(TABLE)))


def test_ordinal_codes_of_unknown_values():
    seen = TABLE[TABLE["city"] != "Emden"].reset_index(drop=True)
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    model = fitted(make_pipeline(columns(StandardScaler(), encoder), LogisticRegression()), seen)
    read = read_sklearn_table(model, seen, encoding_of(TABLE))
    group = Individuals.read(TABLE, schema_of(TABLE))
    assert np.array_equal(read.inputs(read.encoding.encode(group)), dense(model[:-1].transform(TABLE)))


def test_an_estimator_without_names_reads_columns_by_their_place():
    table = TABLE[["age", "income"]]
    model = LogisticRegression().fit(table.to_numpy(), labels(TABLE))
    read = read_sklearn_table(
        model, table, Encoding.fit(table, schema_of(TABLE[["age", "income", "code"]]).infer(table))
    )
    assert_same_decisions(read, Individuals.read(table, read.encoding.schema))


REFUSED = {
    "PowerTransformer": (columns(PowerTransformer(), OneHotEncoder()), LogisticRegression()),
    "PolynomialFeatures": (make_pipeline(PREPROCESSING["drop"], PolynomialFeatures()), LogisticRegression()),
    "KNeighborsClassifier": (PREPROCESSING["standard"], KNeighborsClassifier()),
    'transformer "codes"': (
        columns(StandardScaler(), OneHotEncoder(), SimpleImputer(missing_values=0)),
        RidgeClassifier(),
    ),
    "isotonic": (PREPROCESSING["raw"], CalibratedClassifierCV(LinearSVC(), method="isotonic", ensemble=False, cv=3)),
    "averages 3 models": (PREPROCESSING["raw"], CalibratedClassifierCV(LinearSVC(), cv=3)),
    '"tanh"': (PREPROCESSING["raw"], MLPClassifier(activation="tanh", **MLP)),
    "computed in two ways": (
        ColumnTransformer([("a", StandardScaler(), ["age"]), ("b", "passthrough", ["age"])]),
        LogisticRegression(),
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_exactly_representable_is_refused_by_name(words: str):
    model = fitted(make_pipeline(*REFUSED[words]))
    with pytest.raises(NetworkError, match=words):
        read_sklearn_table(model, TABLE, encoding_of(TABLE))


def test_a_number_that_the_model_codes_value_by_value_must_be_a_category():
    model = fitted(make_pipeline(columns("passthrough", OneHotEncoder(), OneHotEncoder()), LogisticRegression()))
    loose = Encoding.fit(TABLE, schema_of(TABLE).infer(TABLE))
    with pytest.raises(NetworkError, match=r'categorical=\["code"\]'):
        read_sklearn_table(model, TABLE, loose)
