"""Decisions of scikit-learn by a score and a threshold: calibrated, fixed and tuned ones, and what they stand on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.chain import Chain, chain_of, factors_of
from lcifr.models.columns import FLOAT64, Dtype
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.probability import ASSUMED_ROUNDOFFS, MarginBand, behind_line, probability_band
from lcifr.models.rule import Kind, Rule
from lcifr.models.sklearn.estimators import read_estimator, weights_of

WRAPPERS = ("CalibratedClassifierCV", "FixedThresholdClassifier", "TunedThresholdClassifierCV", "FrozenEstimator")
CUT_OFFS = ("FixedThresholdClassifier", "TunedThresholdClassifierCV")
LOGISTIC = ("LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis", "MLPClassifier")
"""Whose probability of the second class is the logistic function of the score."""
UNIT = 2.0**-53


def read_decision(model: Any, dtype: Dtype = FLOAT64) -> Model:
    """A fitted classifier or regressor, wrapped or not; what comes before it in pipelines is passed over.

    Parameters
    ----------
    dtype : of the array that the estimator is given.

    Raises
    ------
    NetworkError
        For what cannot be read exactly, by name.
    """
    name = type(model).__name__
    if name == "Pipeline":
        return read_decision(model.steps[-1][1], dtype)
    if name not in WRAPPERS:
        read = read_estimator(model, dtype)
        if name != "MLPClassifier":
            known = read.rule.kind is Kind.SIGN and _is_logistic(model)
            return replace(read, rule=replace(read.rule, log_odds=(1.0, 0.0))) if known else read
        if read.rule.kind is Kind.SIGN:
            rule = _rule(probability_band(0.5, _roundoff(model, dtype), name))
            return replace(read, rule=replace(rule, log_odds=(1.0, 0.0)))
        lead = (
            2 * ASSUMED_ROUNDOFFS * _roundoff(model, dtype)
        )  # of a softmax: two exponentials, each as exact as assumed
        return replace(read, rule=replace(read.rule, band=(-lead, lead)))
    if name == "FrozenEstimator":
        return read_decision(model.estimator, dtype)
    if name == "CalibratedClassifierCV":
        return _decided(model, _calibrated(model, dtype), 0.5, second=True)
    inner = inner_estimator(model)
    threshold, label = threshold_of(model)
    second = label is None or label == model.classes_[1]
    used = response_of(model, inner)
    score = _probability(inner, dtype) if used == "predict_proba" else _Score.of(inner, dtype)
    if getattr(model, "threshold", None) == "auto":
        threshold = 0.5 if used == "predict_proba" else 0.0
    return _decided(model, score, float(threshold), second)


def _is_logistic(estimator: Any) -> bool:
    """Whether the probability of the second class is the logistic function of the decision function."""
    name = type(estimator).__name__
    if getattr(estimator, "multi_class", None) == "multinomial":  # before scikit-learn 1.8: that of twice the score
        return False
    return name in LOGISTIC or (name == "SGDClassifier" and estimator.loss == "log_loss")


def inner_estimator(model: Any) -> Any:
    """What a wrapper decides with; None for what is none."""
    if type(model).__name__ not in WRAPPERS:
        return None
    if type(model).__name__ == "CalibratedClassifierCV":
        return model.calibrated_classifiers_[0].estimator
    if type(model).__name__ == "FrozenEstimator":  # it answers for what is inside: its estimator_ is a forest's pattern
        return model.estimator
    return getattr(model, "estimator_", None) or model.estimator


def innermost(model: Any) -> Any:
    """What decides inside pipelines and wrappers."""
    if type(model).__name__ == "Pipeline":
        return innermost(model.steps[-1][1])
    return innermost(inner_estimator(model)) if type(model).__name__ in WRAPPERS else model


@dataclass(frozen=True)
class _Score:
    """The output of a function, or the logistic function of slope · output + shift.

    Parameters
    ----------
    logistic : whether the score is a probability.
    """

    function: Network | Chain
    logistic: bool = False
    slope: float = 1.0
    shift: float = 0.0
    roundoff: float = UNIT

    @classmethod
    def of(cls, estimator: Any, dtype: Dtype) -> _Score:
        """The decision function of an estimator."""
        inner = estimator
        while type(inner).__name__ in ("FrozenEstimator", "Pipeline", *CUT_OFFS):
            inner = inner.steps[-1][1] if hasattr(inner, "steps") else inner_estimator(inner)
        read = read_estimator(inner, dtype)
        if read.rule.kind is not Kind.SIGN:
            raise NetworkError(f"{type(inner).__name__} decides between several classes", fix="use two classes")
        return cls(chain_of(read.factors), roundoff=_roundoff(inner, dtype))

    def band(self, threshold: float, second: bool, where: str) -> MarginBand:
        """Of the function's output, for this threshold of the score of the second class, or of the first."""
        if not self.logistic:
            return MarginBand(threshold, threshold) if second else MarginBand(-threshold, -threshold)
        found = probability_band(threshold, self.roundoff, where, second=second)
        if (self.slope, self.shift) == (1.0, 0.0):
            return found
        return behind_line(found, self.slope, self.shift, self.roundoff)


def _decided(model: Any, score: _Score, threshold: float, second: bool) -> Model:
    """Class 1 from the threshold on, where the score is that of the second class; else class 0 from there on."""
    band = score.band(threshold, second, type(model).__name__)
    known = (score.slope, score.shift) if score.logistic else None
    return Model(score.function, replace(_rule(band), log_odds=known), np.asarray(model.classes_))


def _rule(band: MarginBand) -> Rule:
    return Rule(Kind.SIGN, 1, band=(band.lower, band.upper))


def _roundoff(estimator: Any, dtype: Dtype) -> float:
    """Of the format in which an estimator computes on an array of this dtype."""
    return 2.0**-24 if np.result_type(dtype, weights_of(estimator).dtype) == np.float32 else UNIT


def threshold_of(model: Any) -> tuple[Any, Any]:
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


def _probability(estimator: Any, dtype: Dtype) -> _Score:
    """The probability of the second class."""
    name = type(estimator).__name__
    if name in ("FrozenEstimator", "Pipeline"):
        return _probability(estimator.steps[-1][1] if name == "Pipeline" else estimator.estimator, dtype)
    if name == "CalibratedClassifierCV":
        return _calibrated(estimator, dtype)
    if name in CUT_OFFS:  # which cut elsewhere, and change no probability
        return _probability(inner_estimator(estimator), dtype)
    if getattr(estimator, "multi_class", None) == "multinomial":  # of versions before 1.8: the logistic function of 2 f
        raise NetworkError(f'the probability of {name} with multi_class="multinomial" is another one of two classes')
    if _is_logistic(estimator):
        return replace(_Score.of(estimator, dtype), logistic=True)
    raise NetworkError(
        f"the probability of {name} is not the logistic function of a linear score or network",
        fix='use response_method="decision_function", or one of ' + ", ".join(LOGISTIC),
    )


def _calibrated(model: Any, dtype: Dtype) -> _Score:
    """logistic(−(a·f + b)), f the decision function of one estimator."""
    fitted, (a, b) = model.calibrated_classifiers_, calibration_of(model)
    if not hasattr(fitted[0].estimator, "decision_function"):
        raise NetworkError(
            f"CalibratedClassifierCV calibrates the probability of {type(fitted[0].estimator).__name__}",
            fix="calibrate a model that has a decision_function",
        )
    score = _Score.of(fitted[0].estimator, dtype)
    if a < 0:
        return replace(score, logistic=True, slope=-a, shift=-b)
    *others, last = factors_of(score.function)
    turned = chain_of((*others, last.negated()))
    return replace(score, function=turned, logistic=True, slope=a, shift=-b)


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
        raise NetworkError("CalibratedClassifierCV gives everybody the same probability")
    return a, b
