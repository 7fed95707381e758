"""What skl2onnx makes of scikit-learn pipelines: read by the names of its columns, and compared with onnxruntime."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge, RidgeClassifier, SGDClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from lcifr.data import Encoding, Individuals, Schema
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loaders.onnx import runtime
from lcifr.models.loaders.onnx.reader import read_onnx
from lcifr.models.network import DeployedNetworks, Stage
from lcifr.models.rule import Kind
from lcifr.models.source import TableModel
from tests.story import write_german

RNG = np.random.default_rng(0)
PEOPLE = 120
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(40, 11, PEOPLE),
        "income": RNG.lognormal(8, 1, PEOPLE),
        "children": RNG.integers(0, 5, PEOPLE),
        "sex": RNG.choice(["f", "m"], PEOPLE),
        "job": RNG.choice(["none", "clerk", "nurse", "rare"], PEOPLE, p=[0.4, 0.3, 0.28, 0.02]),
    }
)
TWO = ((TABLE.age / 10 + TABLE.children + 2 * (TABLE.sex == "m")) > 6).astype(int).to_numpy()
THREE = np.digitize(TABLE.age, [35, 45])
NUMBERS = ["age", "income"]
CODED = OneHotEncoder(handle_unknown="ignore")


def prepared(*scalers: Any, coded: Any = CODED, categories: tuple[str, ...] = ("sex", "job")) -> Any:
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(*scalers), NUMBERS),
            ("rest", "passthrough", ["children"]),
            ("categories", coded, list(categories)),
        ]
    )


def converted(model: Any, target: Any, floats: Any = FloatTensorType) -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(TABLE, target)
        kinds = [(name, _kind(TABLE[name], floats)([None, 1])) for name in TABLE.columns]
        named = {} if floats is FloatTensorType else {"zipmap": False}  # whose input has to be float32
        return bytes(to_onnx(model, initial_types=kinds, options=named or None).SerializeToString())


def _kind(column: Any, floats: Any) -> Any:
    return floats if column.dtype.kind == "f" else Int64TensorType if column.dtype.kind == "i" else StringTensorType


def read(data: bytes) -> TableModel:
    return read_onnx(data).read_table(TABLE, Encoding.fit(TABLE, Schema.infer(TABLE)))


def made_up(schema: Schema) -> Individuals:
    """Real people, generated ones, and both one unit in the last place beside."""
    rng = np.random.default_rng(7)
    real = Individuals.read(TABLE, schema)
    numbers = np.concatenate([real.numbers, real.numbers * rng.uniform(0.2, 3.0, real.numbers.shape)])
    whole = [attribute.integer for attribute in schema.numeric]
    numbers[:, whole] = np.rint(numbers[:, whole])
    beside = [numbers.copy() for _ in range(3)]
    for one, change in zip(beside, (np.inf, -np.inf), strict=False):
        one[:, ~np.array(whole)] = np.nextafter(numbers, change)[:, ~np.array(whole)]
    beside[2][:, ~np.array(whole)] = np.nextafter(numbers.astype(np.float32), np.float32(np.inf))[:, ~np.array(whole)]
    codes = rng.permuted(np.concatenate([real.codes, real.codes]), axis=0)
    return Individuals(schema, np.concatenate([numbers, *beside]), np.concatenate([codes] * 4))


def check(model: TableModel, people: Individuals | None = None) -> None:
    """The runtime decides as the model does wherever the proved rounding leaves no doubt, and that is nearly always."""
    people = made_up(model.encoding.schema) if people is None else people
    encoded = model.encoding.encode(people)
    values = model.model.function(model.inputs(encoded))
    stages = [Stage(factor, factor.native) for factor in model.factors]  # type: ignore[attr-defined, arg-type]
    error = DeployedNetworks.on_people(model.encoding, *stages).error_at(encoded)
    said = model.library_decides(people)
    rule = model.model.rule
    if (numbers := model.library_says(people).outputs) is not None:
        assert (np.abs(numbers - values) <= error).all()
    if rule.kind is Kind.NUMBER:
        assert (np.abs(said - values[:, 0]) <= error[:, 0]).all()
        return
    if rule.kind is Kind.SIGN:
        sure = (values[:, 0] - error[:, 0] > rule.band[1]) | (values[:, 0] + error[:, 0] < rule.band[0])
    else:
        best = np.sort(values, axis=1)
        sure = best[:, -1] - best[:, -2] > 2 * error.max(1) + rule.band[1]
    decided = model.model.decide(values)
    assert sure.mean() > 0.9
    assert (said[sure] == decided[sure]).all()
    assert len(set(decided)) > 1


MLP = {"hidden_layer_sizes": (5, 4), "max_iter": 40, "random_state": 0}
UNACTIVATED = MLPClassifier(**MLP | {"activation": "identity"})
WHITENED = (PCA(3, whiten=True), StandardScaler())
CLASSIFIERS: dict[str, Any] = {
    "standard, logistic": make_pipeline(prepared(StandardScaler()), LogisticRegression()),
    "imputed, minmax": make_pipeline(prepared(SimpleImputer(), MinMaxScaler(clip=True)), LogisticRegression()),
    "maxabs, robust, hinge": make_pipeline(prepared(MaxAbsScaler(), RobustScaler()), SGDClassifier(random_state=0)),
    "ridge": make_pipeline(prepared(StandardScaler()), RidgeClassifier()),
    "discriminant": make_pipeline(prepared(StandardScaler()), LinearDiscriminantAnalysis()),
    "perceptron": make_pipeline(prepared(StandardScaler()), Perceptron(random_state=0)),
    "network": make_pipeline(prepared(StandardScaler()), MLPClassifier(**MLP)),
    "network without activation": make_pipeline(prepared(StandardScaler()), UNACTIVATED),
    "components": make_pipeline(prepared(StandardScaler()), PCA(3), LogisticRegression()),
    "whitened, scaled": make_pipeline(prepared(StandardScaler()), *WHITENED, LogisticRegression()),
    "selected": make_pipeline(prepared(StandardScaler()), SelectKBest(k=4), LogisticRegression()),
    "dropped": make_pipeline(prepared(StandardScaler(), coded=OneHotEncoder(drop="first")), LogisticRegression()),
    "ordinal": make_pipeline(prepared(StandardScaler(), coded=OrdinalEncoder()), LogisticRegression()),
    "ordinal, scaled": make_pipeline(
        prepared(StandardScaler(), coded=make_pipeline(OrdinalEncoder(), StandardScaler())), LogisticRegression()
    ),
}  # fmt: skip
OF_TWO: dict[str, Any] = {
    "log loss": make_pipeline(prepared(StandardScaler()), SGDClassifier(loss="log_loss", random_state=0)),
    "calibrated": make_pipeline(prepared(StandardScaler()), CalibratedClassifierCV(LinearSVC(), ensemble=False)),
}
REGRESSORS: dict[str, Any] = {
    "least squares": make_pipeline(prepared(StandardScaler()), LinearRegression()),
    "ridge": make_pipeline(prepared(MinMaxScaler()), PCA(4), Ridge()),
    "network": make_pipeline(prepared(StandardScaler()), MLPRegressor(**MLP)),
}


@pytest.mark.parametrize("labels", ["two", "three", "texts"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_decides_as_onnxruntime_does(name: str, labels: str) -> None:
    target = {"two": TWO, "three": THREE, "texts": np.where(TWO, "yes", "no")}[labels]
    model = read(converted(CLASSIFIERS[name], target))
    assert model.model.labels is not None
    assert list(model.model.labels) == sorted(set(target.tolist()))
    assert {factor.native for factor in model.factors} == {Arithmetic.FLOAT32}  # type: ignore[attr-defined]
    check(model)


@pytest.mark.parametrize("name", OF_TWO)
def test_a_probability_decides_as_onnxruntime_does(name: str) -> None:
    model = read(converted(OF_TWO[name], TWO))
    assert model.model.rule.band[0] < 0 < model.model.rule.band[1]
    check(model)


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_says_what_onnxruntime_says_within_the_bound(name: str) -> None:
    check(read(converted(REGRESSORS[name], TABLE.age + TABLE.children)))


def test_a_network_in_float64_is_of_float64() -> None:
    model = read(converted(CLASSIFIERS["network"], TWO, DoubleTensorType))
    assert {factor.native for factor in model.factors} == {Arithmetic.FLOAT64}  # type: ignore[attr-defined]
    check(model)


def test_a_category_at_which_the_runtime_raises_is_outside() -> None:
    known = OneHotEncoder(categories=[["f", "m"], ["none", "clerk", "nurse"]], handle_unknown="error")
    table = TABLE[TABLE.job != "rare"]
    model = make_pipeline(ColumnTransformer([("c", known, ["sex", "job"])]), LogisticRegression())
    model.fit(table[["sex", "job"]], TWO[TABLE.job != "rare"])
    kinds = [(name, StringTensorType([None, 1])) for name in ("sex", "job")]
    found = read(to_onnx(model, initial_types=kinds).SerializeToString())
    assert {str(feature) for feature in found.encoding.outside} == {"job=rare"}


def test_a_table_without_a_column_of_the_model_is_refused_by_name() -> None:
    data = converted(CLASSIFIERS["ridge"], TWO)
    table = TABLE.rename(columns={"income": "incomes"})
    with pytest.raises(NetworkError, match=r'"income".*Did you mean "incomes"'):
        read_onnx(data).read_table(table, Encoding.fit(table, Schema.infer(table)))


def test_a_coded_number_has_to_be_a_category_of_the_schema() -> None:
    data = converted(
        make_pipeline(prepared(StandardScaler(), categories=("sex", "children")), LogisticRegression()), TWO
    )
    with pytest.raises(NetworkError, match="declare it categorical"):
        read(data)
    outline = read_onnx(data).outline()  # so that `lcifr init` and audits infer such a schema
    assert [one.name for one in outline.inputs if one.is_category] == ["children"]
    schema = Schema.infer(TABLE, categorical=["children"])
    check(read_onnx(data).read_table(TABLE, Encoding.fit(TABLE, schema)))


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(max_iter=500), MLPClassifier(**MLP)], ids=["linear", "network"]
)
def test_german_people_are_decided_as_onnxruntime_does(estimator: Any, tmp_path: Path) -> None:
    write_german(tmp_path, 400)
    table = pd.read_csv(tmp_path / "people.csv", dtype_backend="numpy_nullable")
    table = table.astype({name: object if kind == "string" else np.int64 for name, kind in table.dtypes.items()})
    labels = table.pop("repaid")
    numbers = [name for name in table.columns if table[name].dtype.kind == "i"]
    texts = [name for name in table.columns if name not in numbers]
    both = ColumnTransformer([("n", StandardScaler(), numbers), ("c", OneHotEncoder(handle_unknown="ignore"), texts)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = make_pipeline(both, estimator).fit(table, labels)
        data = to_onnx(fitted, table[:1]).SerializeToString()
    schema = Schema.infer(table)
    model = read_onnx(data).read_table(table, Encoding.fit(table, schema))
    assert (model.predict_with_outputs is not None) == isinstance(estimator, MLPClassifier)
    check(model, Individuals.read(table, schema))


@pytest.mark.parametrize("name", ["standard, logistic", "network", "ordinal"])
def test_without_onnxruntime_the_reference_evaluator_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = converted(CLASSIFIERS[name], THREE)
    expected = read(data).predict(TABLE)
    found = importlib.util.find_spec
    monkeypatch.setattr(runtime, "find_spec", lambda package: None if package == "onnxruntime" else found(package))
    runtime._session.cache_clear()
    model = read(data)
    assert model.runtime.startswith("the reference evaluator of onnx")
    assert list(model.predict(TABLE)) == list(expected)
    runtime._session.cache_clear()
