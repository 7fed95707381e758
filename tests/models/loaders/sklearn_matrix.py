"""Every estimator and every preprocessing that is read, to be put together."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    HuberRegressor,
    Lars,
    Lasso,
    LassoLars,
    LinearRegression,
    LogisticRegression,
    OrthogonalMatchingPursuit,
    Perceptron,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
    TheilSenRegressor,
)
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
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
from sklearn.svm import LinearSVC, LinearSVR

MLP: dict[str, Any] = {"hidden_layer_sizes": (4, 3), "max_iter": 15, "random_state": 0}

CLASSIFIERS = {
    "logistic": LogisticRegression(),
    "svc": LinearSVC(),
    "sgd": SGDClassifier(random_state=0),
    "ridge": RidgeClassifier(),
    "lda": LinearDiscriminantAnalysis(),
    "perceptron": Perceptron(),
    "relu": MLPClassifier(**MLP),
    "identity": MLPClassifier(activation="identity", **MLP),
    "calibrated": CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3),
    "fixed": FixedThresholdClassifier(LogisticRegression(), threshold=0.4),
    "fixed network": FixedThresholdClassifier(MLPClassifier(activation="identity", **MLP), threshold=0.45),
    "tuned": TunedThresholdClassifierCV(LogisticRegression(), cv=3),
}
REGRESSORS = {
    "linear": LinearRegression(),
    "ridge": Ridge(),
    "lasso": Lasso(),
    "elastic": ElasticNet(),
    "lars": Lars(),
    "lasso lars": LassoLars(),
    "omp": OrthogonalMatchingPursuit(),
    "huber": HuberRegressor(max_iter=500),
    "quantile": QuantileRegressor(solver="highs"),
    "theil-sen": TheilSenRegressor(random_state=0, max_subpopulation=50),
    "bayesian": BayesianRidge(),
    "ard": ARDRegression(),
    "sgd": SGDRegressor(random_state=0),
    "svr": LinearSVR(),
    "relu": MLPRegressor(**MLP),
    "identity": MLPRegressor(activation="identity", **MLP),
}


def preprocessing(numbers: list[str], texts: list[str], codes: list[str]) -> dict[str, Any]:
    """What comes before, by name; ``codes`` are whole numbers and booleans that stand for categories."""

    def columns(scaler: Any, encoder: Any, coder: Any = "passthrough", **options: Any) -> ColumnTransformer:
        parts = [("numbers", scaler, numbers), ("texts", encoder, texts), ("codes", coder, codes)]
        return ColumnTransformer(parts, **options)

    dense = columns(StandardScaler(), OneHotEncoder(), OneHotEncoder(), sparse_threshold=0)
    rare = OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist")
    filled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    plain = {
        "standard": columns(StandardScaler(), OneHotEncoder(drop="first"), OneHotEncoder()),
        "clipped": columns(MinMaxScaler(clip=True), rare, OrdinalEncoder()),
        "max abs": columns(MaxAbsScaler(), OneHotEncoder(max_categories=3), OneHotEncoder(drop="if_binary")),
        "robust": columns(RobustScaler(), OrdinalEncoder(), OneHotEncoder()),
        "raw": columns("passthrough", OneHotEncoder(dtype=np.float32), OrdinalEncoder()),
        "imputed": columns(filled, OneHotEncoder(), OneHotEncoder()),
        "two scalers": make_pipeline(clone(dense), MinMaxScaler((-1, 1))),
        "sparse": make_pipeline(columns(StandardScaler(), OneHotEncoder(), OneHotEncoder()), MaxAbsScaler()),
    }
    selected = {
        "k best": make_pipeline(clone(dense), VarianceThreshold(0.01), SelectKBest(k=4)),
        "percentile": make_pipeline(clone(dense), SelectPercentile(percentile=50)),
        "from a model": make_pipeline(clone(dense), SelectFromModel(Ridge(), max_features=4)),
        "eliminated": make_pipeline(clone(dense), RFE(Ridge(), n_features_to_select=4)),
    }
    inner = make_pipeline(StandardScaler(), PCA(min(2, len(numbers)), random_state=0))
    mixed = {
        "pca": make_pipeline(clone(dense), PCA(4, random_state=0)),
        "whitened": make_pipeline(clone(dense), PCA(3, whiten=True, random_state=0)),
        "incremental": make_pipeline(clone(dense), IncrementalPCA(3)),
        "svd": make_pipeline(
            columns(MinMaxScaler(), OneHotEncoder(), OneHotEncoder()), TruncatedSVD(3, random_state=0)
        ),
        "pca of the numbers": columns(inner, OneHotEncoder(), OneHotEncoder()),
        "behind pca": make_pipeline(
            clone(dense), PCA(4, random_state=0), StandardScaler(), MinMaxScaler(), RobustScaler()
        ),
        "chosen behind pca": make_pipeline(clone(dense), PCA(5, random_state=0), SelectKBest(k=3), MaxAbsScaler()),
    }
    return plain | selected | mixed
