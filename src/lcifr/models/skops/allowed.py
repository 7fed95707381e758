"""The allow-list of skops files: the classes, types and functions that may be in one, by their full names."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from lcifr.models.sklearn.categories import ENCODERS
from lcifr.models.sklearn.estimators import CLASSIFIERS, REGRESSORS
from lcifr.models.sklearn.mixtures import MIXERS
from lcifr.models.sklearn.scalers import SCALERS
from lcifr.models.sklearn.thresholds import WRAPPERS
from lcifr.models.trees.tables import BOOSTED, HISTOGRAM, KINDS

SELECTORS = (
    *("SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect"),
    *("VarianceThreshold", "SelectFromModel", "RFE", "RFECV", "SequentialFeatureSelector"),
)
MODULES = (
    *("calibration", "compose", "decomposition", "discriminant_analysis", "dummy", "ensemble", "feature_selection"),
    *("frozen", "impute", "linear_model", "model_selection", "neural_network", "pipeline", "preprocessing", "svm"),
    "tree",
)
"""Public modules in which the classes are looked for: their private homes differ between versions."""
CLASSES = (
    *CLASSIFIERS,
    *REGRESSORS,
    *SCALERS,
    *ENCODERS,
    *MIXERS,
    *WRAPPERS,
    *SELECTORS,
    *KINDS,
    *("DummyClassifier", "DummyRegressor", "LabelEncoder"),  # of boosting: where it starts, and what classes are called
    *("Pipeline", "ColumnTransformer", "SimpleImputer", "MissingIndicator", "FunctionTransformer", "LabelBinarizer"),
)
PRIVATE = {
    "sklearn.calibration": ("_CalibratedClassifier", "_SigmoidCalibration"),
    "sklearn.metrics._scorer": ("_CurveScorer", "_Scorer"),
    "sklearn._loss.loss": (
        *("AbsoluteError", "ExponentialLoss", "HalfBinomialLoss", "HalfMultinomialLoss", "HalfSquaredError"),
        *("HuberLoss", "PinballLoss"),
    ),
    "sklearn._loss.link": ("HalfLogitLink", "IdentityLink", "Interval", "LogitLink", "MultinomialLogit"),
    "sklearn.ensemble._hist_gradient_boosting.binning": ("_BinMapper",),
    "sklearn.ensemble._hist_gradient_boosting.predictor": ("TreePredictor",),
}
"""What calibrated and tuned classifiers are made of, and boosting: its link, and its trees."""
TREE = "sklearn.tree._tree.Tree"
METRICS = (
    *("accuracy_score", "balanced_accuracy_score", "cohen_kappa_score", "f1_score", "fbeta_score", "jaccard_score"),
    *("matthews_corrcoef", "precision_score", "recall_score", "class_likelihood_ratios"),
)
"""Functions that a tuned threshold names: it is asked for their default label, and they are never called."""
TYPES = frozenset(
    ["builtins.str", "builtins.int", "builtins.float", "builtins.bool"]
    + [f"numpy.{name}" for name in ("float32", "float64", "int32", "int64", "uint8", "bool", "bool_", "str_")]
)
"""Types that a file may name: of the keys of a dict, and of what an encoder gives."""
SCALARS = TYPES | {f"numpy.{name}" for name in ("int8", "int16", "uint16", "uint32", "uint64", "bytes_")}
UNREAD = frozenset(
    (
        *("n_jobs", "random_state", "_random_state", "_rng", "verbose", "memory", "cv", "scoring", "scorer_"),
        *("score_func", "_optimizer", "loss_function_", "_loss_function_", "_loss", "_metadata_request"),
        *("_feature_subsample_rng", "_scorer", "closs", "oob_score"),
    )
)
"""Attributes that no prediction reads: they are left out, whatever is in them."""
READ = {name: frozenset({"_loss"}) for name in (*BOOSTED, *HISTOGRAM)}
"""Of some classes these are read after all: the link of boosting's loss."""


def full_name(thing: Any) -> str:
    """As skops writes it."""
    return f"{thing.__module__}.{thing.__name__}"


@cache
def allowed_classes() -> frozenset[str]:
    """Full names of the classes that are loaded, in the installed version of scikit-learn."""
    modules = []
    for name in MODULES:
        try:
            modules.append(importlib.import_module(f"sklearn.{name}"))
        except ModuleNotFoundError:  # sklearn.frozen is new in 1.6
            continue
    public = {full_name(getattr(module, name)) for module in modules for name in CLASSES if hasattr(module, name)}
    private = {f"{module}.{name}" for module, names in PRIVATE.items() for name in names}
    return frozenset(name for name in public if name.startswith("sklearn.")) | private


@cache
def allowed_functions() -> frozenset[str]:
    """Full names of the functions that may be referred to."""
    import sklearn.metrics

    return frozenset(full_name(getattr(sklearn.metrics, name)) for name in METRICS if hasattr(sklearn.metrics, name))
