"""Loader of scikit-learn: fitted estimators, thresholds on their scores, pipelines on a table and on latents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data import Encoding
from lcifr.data.frames import is_missing, text_of
from lcifr.display.text import count
from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.arithmetic import FORMATS
from lcifr.models.columns import FLOAT64, Block, Dtype, RawColumn, encoding_of, inputs_of, runtime_of
from lcifr.models.loaders.lightgbm import LIGHTGBM, is_of_lightgbm
from lcifr.models.loaders.sklearn_preprocessing import (
    ENCODERS,
    MIXERS,
    SCALERS,
    AffineFactors,
    Columns,
    Mixture,
    as_mixture,
    read_mixer,
    read_preprocessing,
    read_scaler_behind,
)
from lcifr.models.loaders.sklearn_trees import share_trees
from lcifr.models.loaders.tree_ensembles import (
    FORESTS,
    SINGLE,
    TreeSource,
    build_trees,
    estimator_matrix,
    is_tree_model,
    made_up_names,
    read_source,
    trees_in_words,
    with_leaves,
)
from lcifr.models.model import Model, own_model
from lcifr.models.network import Chain, Network, chain_of, identity
from lcifr.models.rule import ASSUMED_ROUNDOFFS, Kind, MarginBand, Rule, behind_line, probability_band
from lcifr.models.source import LibraryAnswer, ModelInput, ModelOutline, PositionalColumns, TableModel, rule_words

# Estimators of scikit-learn on numbers: linear models and networks with ReLU or without any activation.

CLASSIFIERS = (
    "LogisticRegression",
    "LogisticRegressionCV",
    "LinearSVC",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "LinearDiscriminantAnalysis",
    "Perceptron",
    "SGDClassifier",
    "PassiveAggressiveClassifier",
    "MLPClassifier",
)
REGRESSORS = (
    "LinearRegression",
    "Ridge",
    "RidgeCV",
    "Lasso",
    "LassoCV",
    "ElasticNet",
    "ElasticNetCV",
    "SGDRegressor",
    "LinearSVR",
    "HuberRegressor",
    "TheilSenRegressor",
    "QuantileRegressor",
    "BayesianRidge",
    "ARDRegression",
    "Lars",
    "LarsCV",
    "LassoLars",
    "LassoLarsCV",
    "LassoLarsIC",
    "OrthogonalMatchingPursuit",
    "OrthogonalMatchingPursuitCV",
    "PassiveAggressiveRegressor",
    "MLPRegressor",
)
WORKS = ", ".join((*CLASSIFIERS, *REGRESSORS))


def read_estimator(model: Any, dtype: Dtype = FLOAT64) -> Model:
    """The function of a fitted classifier or regressor, without anything before or around it.

    Parameters
    ----------
    dtype : of the array that it is given: numpy computes in the wider of that and of the weights.
    """
    name = type(model).__name__
    if name not in (*CLASSIFIERS, *REGRESSORS) or not type(model).__module__.startswith("sklearn."):
        raise _unreadable(model)
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if not isinstance(getattr(model, "coef_", None), np.ndarray | None):
        raise NetworkError(f"{name} has sparse weights", fix="call densify() on it")
    networks = _multilayer(model) if name.startswith("MLP") else [_linear(model)]
    native = runtime_of(np.result_type(dtype, weights_of(model).dtype))
    return _with_rule(model, chain_of(network.of_runtime(native) for network in networks), name in CLASSIFIERS)


def _unreadable(model: Any) -> NetworkError:
    return NetworkError(
        f"{type(model).__name__} is neither linear nor a ReLU network that can be read", fix=f"use {WORKS}"
    )


def weights_of(model: Any) -> NDArray[Any]:
    """Those of the first layer."""
    return np.asarray(model.coefs_[0] if hasattr(model, "coefs_") else model.coef_)


def _linear(model: Any) -> Network:
    weight = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    bias = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(weight),))
    return Network.from_arrays([(weight, bias)])


def _multilayer(model: Any) -> list[Network]:
    """One network with ReLU; without any activation each layer is a factor of its own."""
    layers = [(w.T, b) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]
    if model.activation == "relu":
        return [Network.from_arrays(layers)]
    if model.activation == "identity":
        return [Network.from_arrays([layer]) for layer in layers]
    raise NetworkError(
        f'{type(model).__name__} with activation="{model.activation}" is no ReLU network',
        fix='train it with activation="relu"',
    )


def _with_rule(model: Any, function: Network | Chain, classifies: bool) -> Model:
    """scikit-learn decides by > 0 between two classes, for the first of the largest between several: as our rule."""
    if not classifies:
        if function.outputs != 1:
            raise NetworkError(f"{type(model).__name__} predicts {function.outputs} numbers", fix="fit one at a time")
        return Model(function, Rule(Kind.NUMBER, 1))
    classes = model.classes_
    if (
        _is_multilabel(model)
        or isinstance(classes, list)
        or np.ndim(classes) != 1
        or function.outputs != (1 if len(classes) == 2 else len(classes))
    ):
        raise NetworkError(f"{type(model).__name__} decides several labels at once", fix="fit one at a time")
    return Model(function, Rule.of(function.outputs), np.asarray(classes))


def _is_multilabel(model: Any) -> bool:
    """Whether each output is a binary label of its own."""
    return str(getattr(getattr(model, "_label_binarizer", None), "y_type_", "")).startswith("multilabel")


# Decisions of scikit-learn by a score and a threshold: calibrated, fixed and tuned ones, and the scores behind them.
#
# A wrapper compares a score with a threshold. Where the score is a probability, the threshold is taken back through
# every logistic function and line to a band of what networks or trees give; the probability of a forest is a mean of
# shares itself.

WRAPPERS = ("CalibratedClassifierCV", "FixedThresholdClassifier", "TunedThresholdClassifierCV", "FrozenEstimator")
LOGISTIC = ("LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis", "MLPClassifier")
"""Whose probability of the second class is the logistic function of the score."""


def read_decision(model: Any, dtype: Dtype = FLOAT64) -> Model | TreeSource:
    """A fitted classifier or regressor, wrapped or not; what comes before it in pipelines is passed over.

    Parameters
    ----------
    dtype : of the array that a linear model or network is given.

    Returns
    -------
    The estimator with the rule that the wrappers around it make; trees as the library has them, over the columns of its
    matrix.

    Raises
    ------
    NetworkError
        For what cannot be read exactly, by name.
    """
    name = type(model).__name__
    if name in ("Pipeline", "FrozenEstimator"):
        return read_decision(_inside(model), dtype)
    if name not in WRAPPERS:
        return read_source(model) if is_tree_model(model) else _own_decision(model, dtype)
    if wraps_trees(model) and len(model.classes_) != 2:
        raise NetworkError(f"{name} decides between {len(model.classes_)} classes", fix="use two classes")
    if name == "CalibratedClassifierCV":
        return _decided(model, _calibrated(model, dtype), 0.5, second=True)
    threshold, label = threshold_of(model)
    second = label is None or label == model.classes_[1]
    used = response_of(model, inner := inner_estimator(model))
    if getattr(model, "threshold", None) == "auto":
        threshold = 0.5 if used == "predict_proba" else 0.0
    return _decided(model, _score(inner, used, dtype, second), float(threshold), second)


def read_network_decision(model: Any, dtype: Dtype = FLOAT64) -> Model:
    """:func:`read_decision` of a linear model or network; trees are refused."""
    found = read_decision(model, dtype)
    if isinstance(found, TreeSource):
        raise _unreadable(innermost(model))
    return found


def _own_decision(model: Any, dtype: Dtype) -> Model:
    """A linear model or network with its own rule, without any wrapper."""
    read, name = read_estimator(model, dtype), type(model).__name__
    if name != "MLPClassifier":
        known = read.rule.kind is Kind.SIGN and _is_logistic(model)
        return replace(read, rule=replace(read.rule, log_odds=(1.0, 0.0))) if known else read
    unit = FORMATS[read.function.native].unit
    if read.rule.kind is Kind.SIGN:
        return replace(read, rule=_rule(probability_band(0.5, unit, name), log_odds=(1.0, 0.0)))
    lead = 2 * ASSUMED_ROUNDOFFS * unit  # of a softmax: two exponentials, each as exact as assumed
    return replace(read, rule=replace(read.rule, band=(-lead, lead)))


def _rule(band: MarginBand, log_odds: tuple[float, float] | None) -> Rule:
    return Rule(Kind.SIGN, 1, band=(band.lower, band.upper), log_odds=log_odds)


def _is_logistic(estimator: Any) -> bool:
    """Whether the probability of the second class is the logistic function of the decision function."""
    name = type(estimator).__name__
    if getattr(estimator, "multi_class", None) == "multinomial":  # before scikit-learn 1.8: that of twice the score
        return False
    return name in LOGISTIC or (name == "SGDClassifier" and estimator.loss == "log_loss")


def inner_estimator(model: Any) -> Any:
    """The estimator inside a wrapper; None for anything that is not a wrapper."""
    if type(model).__name__ not in WRAPPERS:
        return None
    if type(model).__name__ == "CalibratedClassifierCV":
        return model.calibrated_classifiers_[0].estimator
    if type(model).__name__ == "FrozenEstimator":  # it answers for what is inside: its estimator_ is a forest's pattern
        return model.estimator
    return getattr(model, "estimator_", None) or model.estimator


def _inside(model: Any) -> Any:
    """The last step of a pipeline, or what a wrapper decides with; None for an estimator itself."""
    return model.steps[-1][1] if type(model).__name__ == "Pipeline" else inner_estimator(model)


def innermost(model: Any) -> Any:
    """The estimator inside all pipelines and wrappers."""
    inner = _inside(model)
    return model if inner is None else innermost(inner)


def wraps_trees(model: Any) -> bool:
    """Whether trees decide inside."""
    return is_tree_model(innermost(model))


@dataclass(frozen=True)
class _Score:
    """The score of a class: logistic functions behind the only output of networks or trees, from inside out.

    Parameters
    ----------
    links : slope and shift of each logistic function of slope · f + shift; slope > 0. The score of the first class is
        1 minus that of the second; without any link it is the negative one, or, where ``of_first``, the output itself.
    """

    base: Model | TreeSource
    links: tuple[tuple[float, float], ...] = ()
    of_first: bool = False

    @property
    def roundoff(self) -> float:
        """Of the format that scores are computed in."""
        native = self.base.native if isinstance(self.base, TreeSource) else self.base.function.native
        return FORMATS[native].unit

    def behind(self, slope: float, shift: float) -> _Score:
        return replace(self, links=(*self.links, (slope, shift)))

    def negated(self) -> _Score:
        base = self.base
        if isinstance(base, TreeSource):
            turned = tuple(with_leaves(tree, lambda values: tuple(-v for v in values)) for tree in base.trees)
            return replace(self, base=replace(base, trees=turned, base=-base.base))
        *others, last = base.factors
        return replace(self, base=replace(base, function=chain_of((*others, last.negated()))))

    def band(self, threshold: float, second: bool, where: str) -> MarginBand:
        """Of the output, for a threshold of the outermost score of the second class, or of the first."""
        if not second and not self.links:
            threshold, second = -threshold, True
        found = MarginBand(threshold, threshold)
        for slope, shift in reversed(self.links):
            ends = [probability_band(end, self.roundoff, where, second=second) for end in (found.lower, found.upper)]
            found, second = MarginBand(min(e.lower for e in ends), max(e.upper for e in ends)), True
            if (slope, shift) != (1.0, 0.0):
                found = behind_line(found, slope, shift, self.roundoff)
        return found


def _decided(model: Any, score: _Score, threshold: float, second: bool) -> Model | TreeSource:
    """Class 1 from the threshold on, where the score is that of the second class; else class 0 from there on."""
    labels = np.asarray(model.classes_)
    if isinstance(score.base, TreeSource) and type(innermost(model)).__name__ in SINGLE and not score.links:
        return replace(_decided_leaves(score.base, threshold, second), labels=labels)
    if score.of_first:  # class 0 where the share of the first class is at least the threshold
        score, threshold, second = score.negated(), -threshold, True
    band = score.band(threshold, second, type(model).__name__)
    if isinstance(score.base, TreeSource):
        band = score.base.widened(band)
    return replace(score.base, rule=_rule(band, score.links[0] if len(score.links) == 1 else None), labels=labels)


def _decided_leaves(source: TreeSource, threshold: float, second: bool) -> TreeSource:
    """Of one tree nothing is rounded: every leaf has decided, at a tie too."""
    sign = 1.0 if second else -1.0
    trees = [with_leaves(tree, lambda v: (sign if v[0] >= threshold else -sign,)) for tree in source.trees]
    return replace(source, trees=tuple(trees), rule=Rule(Kind.SIGN, 1))


def threshold_of(model: Any) -> tuple[Any, Any]:
    """The threshold of a wrapper, and the class whose score it is compared with; None for the second class."""
    if type(model).__name__ == "FixedThresholdClassifier":
        return model.threshold, model.pos_label
    return model.best_threshold_, model._curve_scorer._get_pos_label()


def response_of(model: Any, inner: Any) -> str:
    """Which score the threshold is compared with."""
    asked = model.response_method
    candidates = ("predict_proba", "decision_function") if asked == "auto" else (asked,)
    for name in candidates:
        if hasattr(inner, name):
            return name
    raise NetworkError(f"{type(inner).__name__} has no {asked}")


def _score(model: Any, response: str, dtype: Dtype, second: bool) -> _Score:
    """What a threshold is compared with: of the second class, or of the first where the two are not complements."""
    name = type(model).__name__
    if name == "CalibratedClassifierCV":
        return _calibrated(model, dtype)
    if (inner := _inside(model)) is not None:  # which may cut elsewhere, and changes no score
        return _score(inner, response, dtype, second)
    if is_tree_model(model) and name in (*SINGLE, *FORESTS):
        return _share(model, second)
    base = read_source(model) if is_tree_model(model) else read_estimator(model, dtype)
    if base.rule.kind is not Kind.SIGN:
        raise NetworkError(f"{name} decides between several classes, or predicts numbers", fix="use two classes")
    score = _Score(base)
    return score if response == "decision_function" else score.behind(_slope(model, base), 0.0)


def _share(model: Any, second: bool) -> _Score:
    """The mean share of a class in the leaves; scikit-learn has no other score of a forest."""
    source, trees = read_source(model), share_trees(model, 1 if second else 0)
    if source.labels is None:
        raise NetworkError(f"{type(model).__name__} predicts numbers", fix="use a classifier")
    mean = replace(source, trees=trees, base=np.zeros(1), scale=Fraction(1, len(trees)), rule=Rule(Kind.SIGN, 1))
    return _Score(mean, of_first=not second)


def _slope(model: Any, base: Model | TreeSource) -> float:
    """The probability of the second class is the logistic function of this times the output; others are refused."""
    name = type(model).__name__
    if isinstance(base, TreeSource):
        boosted = type(model).__module__.startswith("xgboost.")
        if base.slope is None or (boosted and model.objective != "binary:logistic"):
            raise NetworkError(
                f"the probability of {name} with {model.objective} is not read", fix="let it be the logistic function"
            )
        return base.slope
    if getattr(model, "multi_class", None) == "multinomial":  # of versions before 1.8: the logistic function of 2 f
        raise NetworkError(f'the probability of {name} with multi_class="multinomial" is another one of two classes')
    if not _is_logistic(model):
        raise NetworkError(
            f"the probability of {name} is not the logistic function of a linear score or network",
            fix='use response_method="decision_function", or one of ' + ", ".join(LOGISTIC),
        )
    return 1.0


def _calibrated(model: Any, dtype: Dtype) -> _Score:
    """logistic(−(a·f + b)), f the decision function, or of trees without any the probability."""
    (a, b), inner = calibration_of(model), inner_estimator(model)
    response = "decision_function" if hasattr(inner, "decision_function") else "predict_proba"
    if response == "predict_proba" and not wraps_trees(inner):
        raise NetworkError(
            f"CalibratedClassifierCV calibrates the probability of {type(inner).__name__}",
            fix="calibrate a model that has a decision_function",
        )
    score = _score(inner, response, dtype, second=True)
    if a < 0:
        return score.behind(-a, -b)
    if score.links:  # rarer than rare: the more probable, the less
        raise NetworkError("CalibratedClassifierCV turns the order of probabilities around", fix="calibrate it anew")
    return score.negated().behind(a, -b)


def calibration_of(model: Any) -> tuple[float, float]:
    """The a and b of logistic(−(a·f + b)), with which one model of two classes is calibrated."""
    fitted = model.calibrated_classifiers_
    if model.method != "sigmoid" or len(fitted) != 1 or len(model.classes_) != 2:
        raise NetworkError(
            f'CalibratedClassifierCV with method="{model.method}" averages {len(fitted)} models of '
            f"{len(model.classes_)} classes",
            fix='use method="sigmoid", ensemble=False and two classes',
        )
    sigmoid = fitted[0].calibrators[0]
    a, b = float(sigmoid.a_), float(sigmoid.b_)
    if a == 0:
        raise NetworkError(
            "CalibratedClassifierCV has slope 0: it predicts the same probability for every row",
            fix="calibrate a model whose score depends on its inputs",
        )
    return a, b


# Fitted models of scikit-learn themselves: their decisions, and the outputs behind these.


@dataclass(frozen=True)
class FittedModel:
    """A fitted estimator or pipeline, and the columns that it reads, in its order.

    Parameters
    ----------
    categories : the pandas dtypes of columns that hold categories; trees take them as the table has them.
    labels : the names of the model's classes, in their order, where they replace its own; else None.
    """

    model: Any
    columns: tuple[str, ...]
    categories: dict[str, Any] = field(default_factory=dict)
    labels: NDArray[Any] | None = field(default=None, compare=False)

    def predict(self, frame: Any) -> NDArray[Any]:
        """(people,) the library's decisions about the rows of a pandas frame."""
        return self._decisions(self._rows(frame))

    @property
    def has_outputs(self) -> bool:
        """Whether the library says the numbers that it decides by: networks give nothing but probabilities."""
        inner = innermost(self.model)
        return type(inner).__name__ in REGRESSORS or hasattr(inner, "decision_function")

    def predict_with_outputs(self, frame: Any) -> LibraryAnswer:
        """Decisions, and the numbers before any threshold, sigmoid or calibration, as the library computes them.

        A pipeline prepares the columns once, which is most of its work.
        """
        model, rows = self.model, self._rows(frame)
        while _predicts_by_its_last_step(model):
            rows = model[:-1].transform(rows) if len(model.steps) > 1 else rows
            model = model.steps[-1][1]
        last = replace(self, model=model)
        return LibraryAnswer(last._decisions(rows), last._numbers(rows))

    def _decisions(self, rows: Any) -> NDArray[Any]:
        found = np.asarray(self.model.predict(rows))
        found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found  # of a label that was a column
        if self.labels is None:
            return found
        names = dict(zip(self.model.classes_.tolist(), self.labels.tolist(), strict=True))
        return np.array([names[one] for one in found.tolist()], dtype=self.labels.dtype)

    def _numbers(self, rows: Any) -> NDArray[np.float64]:
        found = np.asarray(_outputs(self.model, rows), dtype=np.float64)
        found = found[:, None] if found.ndim == 1 else found
        return -found if _turned(self.model) else found

    def _rows(self, frame: Any) -> Any:
        chosen = frame[list(self.columns)]
        chosen = chosen.astype(self.categories) if self.categories else chosen
        known = getattr(reads_the_table(self.model), "feature_names_in_", None)
        unnamed = known is None or made_up_names(len(known)) == list(known) != list(self.columns)
        return chosen.to_numpy() if unnamed else chosen


def _predicts_by_its_last_step(model: Any) -> bool:
    """Whether it is a pipeline of scikit-learn itself, with its own ``predict``: a subclass may do more."""
    kind, home = type(model), "sklearn.pipeline"
    written = getattr(vars(kind).get("predict"), "fn", None)  # inside scikit-learn's descriptor
    plain = getattr(written, "__module__", "") == home and "predict" not in vars(model)
    return kind.__module__ == home and kind.__name__ == "Pipeline" and plain


def reads_the_table(model: Any) -> Any:
    """The model, or of a pipeline the first step that does anything: it knows the columns that it was fitted on."""
    if type(model).__name__ != "Pipeline":
        return model
    steps = [step for _, step in model.steps if step is not None and not isinstance(step, str)]
    return reads_the_table(steps[0]) if steps else model


def _outputs(model: Any, rows: Any) -> Any:
    if (inner := _inside(model)) is not None:
        prepared = model[:-1].transform(rows) if type(model).__name__ == "Pipeline" and len(model.steps) > 1 else rows
        return _outputs(inner, prepared)
    return model.predict(rows) if type(model).__name__ in REGRESSORS else model.decision_function(rows)


def _turned(model: Any) -> bool:
    """Whether a calibration reverses the order of the scores: the function that decides is then the negative one."""
    if type(model).__name__ == "CalibratedClassifierCV":
        return bool(model.calibrated_classifiers_[0].calibrators[0].a_ > 0)
    inner = _inside(model)
    return inner is not None and _turned(inner)


# Fitted scikit-learn estimators and pipelines on the raw columns of a table.


def read_sklearn_table(
    model: Any, table: Any, encoding: Encoding, rename: Callable[[NDArray[Any]], NDArray[Any]] | None = None
) -> TableModel:
    """A fitted estimator, alone or in a Pipeline, wrapped or not.

    Parameters
    ----------
    table : a pandas frame with the columns that the model was fitted on; its dtypes are part of the model's arithmetic.
    encoding : the schema, and the scales that φ speaks of.
    rename : the names of its classes, from its own names in their order.

    Raises
    ------
    NetworkError
        For what is not exactly representable, with the name of the step that stands in the way.
    """
    _check_fitted(model)
    names = _names(model, table, encoding)
    columns: Columns = tuple(RawColumn(encoding.schema[name], _dtype(table[name])) for name in names)
    for name, step in preprocessing_of(model):
        columns = read_preprocessing(step, columns, f'step "{name}"')
    trees = wraps_trees(model)
    read, own, inputs, runtime = (_read_trees if trees else _read_networks)(model, columns, table, encoding)
    labels = read.labels
    if rename is not None and labels is not None and (named := rename(labels)).tolist() != labels.tolist():
        labels = named
    fitted = FittedModel(
        model,
        tuple(names),
        {name: table[name].dtype for name in names if trees and hasattr(table[name].dtype, "categories")},
        None if labels is read.labels else labels,
    )
    has_outputs = not trees and fitted.has_outputs
    return TableModel(
        encoding=own,
        inputs=inputs,
        model=replace(read, labels=labels),
        predict=fitted.predict,
        table=table,
        runtime=runtime,
        predict_with_outputs=fitted.predict_with_outputs if has_outputs else None,
        positional=_positional(model, names),
    )


ReadModel = tuple[Model, Encoding, Network, str]
"""A model, the encoding and the look-up layer before it, and the library that computes it."""


def _read_networks(model: Any, columns: Columns, table: Any, encoding: Encoding) -> ReadModel:
    """A linear model or network behind its preprocessing."""
    numbers = as_mixture(columns, type(model).__name__)
    decision = read_network_decision(model, numbers.behind.dtype)
    if decision.function.inputs != numbers.behind.width:
        raise NetworkError(
            f"the model takes {decision.function.inputs} numbers, its preprocessing gives {numbers.behind.width}"
        )
    whole = replace(decision, function=chain_of((*numbers.behind.factors, *decision.factors)))
    inputs = inputs_of(numbers.block, encoding)
    return whole, encoding_of(numbers.block, encoding), inputs, f"scikit-learn {version('scikit-learn')}"


def _read_trees(model: Any, columns: Columns, table: Any, encoding: Encoding) -> ReadModel:
    """Trees, which read the encoded columns themselves."""
    source, estimator = read_decision(model), innermost(model)
    assert isinstance(source, TreeSource)
    block = estimator_matrix(estimator, source, without_mixtures(columns), table)
    function, own = build_trees(source, block, encoding, type(estimator).__name__)
    return Model(function, source.rule, source.labels), own, identity(len(own.features)), source.runtime


def _check_fitted(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NetworkError(f"{type(model).__name__} is not fitted yet", fix="fit it first: model.fit(X, y)") from None
    except TypeError:
        raise NetworkError(f"{type(model).__name__} is not a model of scikit-learn") from None


def preprocessing_of(model: Any) -> list[tuple[str, Any]]:
    """The steps before the decision, in their order, through pipelines and wrappers."""
    before = model.steps[:-1] if type(model).__name__ == "Pipeline" else []
    inner = _inside(model)
    return before if inner is None else [*before, *preprocessing_of(inner)]


def without_mixtures(columns: Columns) -> tuple[RawColumn, ...] | Block:
    """Columns that read one attribute each, which trees need."""
    if isinstance(columns, Mixture):
        raise NetworkError(
            "trees stand behind a step that mixes columns, such as PCA, so their splits are about no attribute",
            fix="leave that step out, and train the trees on the columns themselves",
        )
    return columns


def _names(model: Any, table: Any, encoding: Encoding) -> list[str]:
    """The columns that the model reads, in its order."""
    schema = encoding.schema
    first = reads_the_table(model)
    if _knows_names(first, [str(name) for name in table.columns]):
        names = [str(name) for name in first.feature_names_in_]
    else:
        names = [str(name) for name in table.columns if name != schema.target]
        if len(names) != first.n_features_in_:
            raise NetworkError(
                f"the model was fitted on {first.n_features_in_} columns without names, the table has {len(names)}",
                fix="fit it on a frame with column names, or give exactly its columns in their order",
            )
    unknown = [name for name in names if name not in schema]
    if unknown:
        raise NetworkError(
            f'the model reads the column "{unknown[0]}", which the schema does not know.'
            f"{did_you_mean(unknown[0], schema.names)}",
            fix="add it to the schema: Schema.infer(X) takes all columns",
        )
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise NetworkError(
            f'the model reads the column "{absent[0]}", which the table does not have.'
            f"{did_you_mean(absent[0], [str(name) for name in table.columns])}",
            fix="give the columns that the model was fitted on",
        )
    return names


def _knows_names(first: Any, columns: Sequence[str]) -> bool:
    """Whether it goes by the names of columns; LightGBM and interpret make names up where they are fitted without any.

    ``columns`` : of the table. If it has all the names that interpret made up, interpret goes by them after all.
    """
    if not hasattr(first, "feature_names_in_"):
        return False
    names = [str(name) for name in first.feature_names_in_]
    if type(first).__module__.startswith("interpret."):
        return names != made_up_names(len(names)) or set(names) <= set(columns)
    return not is_of_lightgbm(first) or names != [f"Column_{place}" for place in range(len(names))]


def _positional(model: Any, names: Sequence[str]) -> PositionalColumns | None:
    """The columns, where nothing that is asked for a decision compares their names with those at fit."""
    if not _knows_names(reads_the_table(model), names):
        return PositionalColumns("The model was fitted without column names. It reads its columns", tuple(names))
    does_nothing = [step is None or isinstance(step, str) or _passes(step) for _, step in preprocessing_of(model)]
    if is_of_lightgbm(innermost(model)) and all(does_nothing):
        return PositionalColumns(LIGHTGBM, tuple(names))
    return None


def _passes(step: Any) -> bool:
    return type(step).__name__ == "FunctionTransformer"


def _dtype(column: Any) -> Dtype:
    """How numpy holds the column: extension types of numbers become float64 in scikit-learn, texts are objects."""
    if isinstance(column.dtype, np.dtype):
        return column.dtype
    kind = getattr(column.dtype, "numpy_dtype", np.dtype(object))
    if kind in (np.float16, np.float32):
        raise NetworkError(f'column "{column.name}" is {column.dtype}', fix="use float64, or numpy's float32")
    return np.dtype(np.float64) if kind.kind in "fiub" else np.dtype(object)


# Fitted scikit-learn models on latents: estimators, in pipelines behind scalers and affine maps, as factors.

FIX = (
    f"use {WORKS}, alone or in {', '.join(WRAPPERS)}; "
    f"in a Pipeline behind {', '.join((*SCALERS, *MIXERS))} or feature selection"
)


def read_sklearn(model: Any) -> Model:
    """A fitted model on stored numbers, which decides what the model predicts.

    Parameters
    ----------
    model : linear or a network, or a pipeline of affine steps with such a model at its end; it may be one of ours.

    Raises
    ------
    NetworkError
        For anything else, with the list of what works.
    """
    name = type(model).__name__
    if not type(model).__module__.startswith("sklearn."):
        raise NetworkError(f"{name} is not a model of scikit-learn or of this package", fix=FIX)
    if name != "Pipeline":
        return read_network_decision(model)
    before = AffineFactors(int(model.n_features_in_), FLOAT64)
    for step, transformer in model.steps[:-1]:
        before = _read_step(transformer, before, f'pipeline step "{step}"')
    last = own_model(model.steps[-1][1]) or read_network_decision(model.steps[-1][1], before.dtype)
    return replace(last, function=chain_of((*before.factors, *last.factors)))


def _read_step(transformer: Any, before: AffineFactors, where: str) -> AffineFactors:
    kind = type(transformer).__name__
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return before
    module = type(transformer).__module__
    if kind in MIXERS and module.startswith("sklearn."):
        return read_mixer(transformer, before, where)
    if kind in SCALERS and module.startswith("sklearn."):
        return read_scaler_behind(transformer, before, where)
    if module.startswith("sklearn.feature_selection."):
        return before.take(np.flatnonzero(transformer.get_support()).tolist())
    raise NetworkError(f"{where} is {kind}, which is not affine here", fix=FIX)


# Outline of a fitted scikit-learn model: its columns, steps and rule, in words.


def outline_sklearn(model: Any) -> ModelOutline:
    """What a fitted estimator or Pipeline is, without a table.

    Raises
    ------
    NetworkError
        For a decision that cannot be read exactly, by name. Preprocessing is read with a table.
    """
    import sklearn

    decision = read_decision(model)
    if isinstance(decision, TreeSource):
        native, outputs, steps = decision.native, len(decision.base), [trees_in_words(decision.trees)]
    else:
        native, outputs = decision.factors[0].native, decision.function.outputs
        steps = [words for factor in decision.factors for words in _layers(factor)]
    return ModelOutline(
        library=f"scikit-learn ({type(model).__name__})",
        runtime=f"scikit-learn {sklearn.__version__}",
        inputs=_inputs(model),
        steps=(*_steps(model), *steps, *_wrappers(model)),
        outputs=outputs,
        rule=rule_words(decision.rule, decision.labels),
        arithmetic=native,
        classes=() if decision.labels is None else tuple(decision.labels.tolist()),
        is_number=decision.rule.kind is Kind.NUMBER,
    )


def _inputs(model: Any) -> tuple[ModelInput, ...]:
    if not hasattr(model, "feature_names_in_"):
        return (ModelInput("X", int(model.n_features_in_), is_column=False),)
    found = {str(name): ModelInput(str(name)) for name in model.feature_names_in_}
    for first in (step for _, step in preprocessing_of(model)[:1]):
        found |= _taken_by(first, list(found))
    return tuple(found.values())


def _taken_by(transformer: Any, names: list[str]) -> dict[str, ModelInput]:
    """How a transformer takes the table's own columns, where that shows: encoders take categories, scalers numbers."""
    kind = type(transformer).__name__
    if kind == "ColumnTransformer":
        places = transformer._transformer_to_input_indices
        parts = [
            (one, [names[j] for j in places[name]]) for name, one, _ in transformer.transformers_ if name in places
        ]
        return {name: known for one, taken in parts for name, known in _taken_by(one, taken).items()}
    if kind == "Pipeline":
        steps = [step for _, step in transformer.steps if type(step).__name__ != "SimpleImputer"]
        return _taken_by(steps[0], names) if steps else {}
    if kind in ENCODERS:
        known = zip(names, transformer.categories_, strict=True)
        return {
            name: ModelInput(
                name, is_category=True, values=tuple(text_of(v).strip() for v in values if not is_missing(v))
            )
            for name, values in known
        }
    return {name: ModelInput(name, is_category=False) for name in names} if kind in SCALERS else {}


def _steps(model: Any) -> Iterator[str]:
    for name, step in preprocessing_of(model):
        parts = getattr(step, "transformers_", None)
        if parts is None:
            yield f"{type(step).__name__}" if step not in (None, "passthrough") else f'"{name}" passes on'
            continue
        inside = [f"{_called(one)} of {count(len(columns))}" for _, one, columns in parts if len(columns)]
        yield f"{type(step).__name__} ({', '.join(inside)} columns)"


def _called(transformer: Any) -> str:
    """The name of a transformer, or of those that a pipeline has one after the other."""
    if isinstance(transformer, str):
        return transformer
    steps = getattr(transformer, "steps", None)
    return type(transformer).__name__ if steps is None else " → ".join(_called(one) for _, one in steps)


def _layers(network: Network) -> Iterator[str]:
    sizes = [network.layers[0].weight.shape[1], *(layer.weight.shape[0] for layer in network.layers)]
    kind = "linear model" if len(sizes) == 2 else "ReLU network"
    yield f"{kind} {' → '.join(map(count, sizes))}"


def _wrappers(model: Any) -> Iterator[str]:
    """The wrappers around the estimator, from inside out."""
    if (inner := _inside(model)) is not None:
        yield from _wrappers(inner)
    if type(model).__name__ in WRAPPERS:
        yield type(model).__name__
