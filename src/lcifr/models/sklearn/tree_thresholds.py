"""Decisions of tree models inside scikit-learn's wrappers: calibrated, fixed and tuned thresholds of two classes.

A wrapper compares a score with a threshold. Where the score is a probability of boosting, the threshold is taken back
through every logistic function and line to a band of the sum of trees; that of a forest is a mean of shares itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from lcifr.errors import NetworkError
from lcifr.models.dataflow.tree_outputs import with_leaves
from lcifr.models.probability import SINGLE_UNIT, MarginBand, behind_line, probability_band
from lcifr.models.rule import Kind, Rule
from lcifr.models.sklearn.thresholds import (
    UNIT,
    WRAPPERS,
    calibration_of,
    inner_estimator,
    innermost,
    response_of,
    threshold_of,
)
from lcifr.models.trees import lightgbm
from lcifr.models.trees.sklearn import share_trees
from lcifr.models.trees.tables import FORESTS, SINGLE, TreeSource, is_tree_model, read_source


def wraps_trees(model: Any) -> bool:
    """Whether trees decide inside."""
    return is_tree_model(innermost(model))


def read_wrapped_trees(model: Any) -> TreeSource:
    """The trees inside, and the rule that the wrappers around them make.

    Raises
    ------
    NetworkError
        For more than two classes, and for scores that are not known here, by name.
    """
    name = type(model).__name__
    if name == "Pipeline":
        return read_wrapped_trees(model.steps[-1][1])
    if name == "FrozenEstimator":
        return read_wrapped_trees(model.estimator)
    if name not in WRAPPERS:
        return read_source(model)
    if len(model.classes_) != 2:
        raise NetworkError(f"{name} decides between {len(model.classes_)} classes", fix="use two classes")
    if name == "CalibratedClassifierCV":
        return _decided(model, _score(model, "predict_proba", second=True), 0.5, second=True)
    threshold, label = threshold_of(model)
    second = label is None or label == model.classes_[1]
    used = response_of(model, inner := inner_estimator(model))
    if getattr(model, "threshold", None) == "auto":
        threshold = 0.5 if used == "predict_proba" else 0.0
    return _decided(model, _score(inner, used, second), float(threshold), second)


@dataclass(frozen=True)
class _Link:
    """slope · f + shift, or its logistic function; slope > 0. ``roundoff`` of the format it is computed in."""

    slope: float = 1.0
    shift: float = 0.0
    logistic: bool = True
    roundoff: float = UNIT


@dataclass(frozen=True)
class _TreeScore:
    """A score: links behind the only output of trees, from inside out.

    Parameters
    ----------
    complement : whether the score of the first class is 1 minus that of the second; else it is the negative one, or,
        where ``of_first``, what the trees give.
    """

    source: TreeSource
    links: tuple[_Link, ...] = ()
    complement: bool = False
    of_first: bool = False

    def behind(self, link: _Link) -> _TreeScore:
        return replace(self, links=(*self.links, link), complement=link.logistic)

    def negated(self) -> _TreeScore:
        turned = tuple(with_leaves(tree, lambda values: tuple(-v for v in values)) for tree in self.source.trees)
        return replace(self, source=replace(self.source, trees=turned, base=-self.source.base))

    def band(self, threshold: float, second: bool, where: str) -> MarginBand:
        """Of the trees' output, for a threshold of the outermost score."""
        if not second and not self.complement:
            threshold, second = -threshold, True
        found = MarginBand(threshold, threshold)
        for link in reversed(self.links):
            if link.logistic:
                ends = [
                    probability_band(end, link.roundoff, where, second=second) for end in (found.lower, found.upper)
                ]
                found, second = MarginBand(min(e.lower for e in ends), max(e.upper for e in ends)), True
            if (link.slope, link.shift) != (1.0, 0.0):
                found = behind_line(found, link.slope, link.shift, link.roundoff)
        return found


def _decided(model: Any, score: _TreeScore, threshold: float, second: bool) -> TreeSource:
    """Class 1 from the threshold on, where the score is that of the second class; else class 0 from there on."""
    if type(innermost(model)).__name__ in SINGLE and not score.links:
        return _decided_leaves(model, score.source, threshold, second)
    if score.of_first:  # class 0 where the share of the first class is at least the threshold
        score, threshold, second = score.negated(), -threshold, True
    band = score.band(threshold, second, type(model).__name__)
    width = max(map(abs, score.source.rule.band)) if score.source.runtime.startswith("xgboost") else 0.0
    known = [(link.slope, link.shift) for link in score.links if link.logistic]
    log_odds = known[0] if len(known) == len(score.links) == 1 else None
    ends = band.lower - width, band.upper + width  # its base score is rounded in float32
    rule = Rule(Kind.SIGN, 1, band=ends, log_odds=log_odds)
    return replace(score.source, rule=rule, labels=np.asarray(model.classes_))


def _decided_leaves(model: Any, source: TreeSource, threshold: float, second: bool) -> TreeSource:
    """Of one tree nothing is rounded: every leaf has decided, at a tie too."""
    sign = 1.0 if second else -1.0
    trees = [with_leaves(tree, lambda v: (sign if v[0] >= threshold else -sign,)) for tree in source.trees]
    return replace(source, trees=tuple(trees), rule=Rule(Kind.SIGN, 1), labels=np.asarray(model.classes_))


def _score(model: Any, response: str, second: bool) -> _TreeScore:
    """What a threshold is compared with: of the second class, or of the first where the two are not complements."""
    name = type(model).__name__
    if name == "Pipeline":
        return _score(model.steps[-1][1], response, second)
    if name == "FrozenEstimator":
        return _score(model.estimator, response, second)
    if name == "CalibratedClassifierCV":
        return _calibrated(model)
    if name in WRAPPERS:
        return _score(inner_estimator(model), response, second)
    if name in (*SINGLE, *FORESTS):
        return _share(model, second)
    source = read_source(model)
    if source.rule.kind is not Kind.SIGN:
        raise NetworkError(f"{name} decides between several classes, or predicts numbers", fix="use two classes")
    if response == "decision_function":
        return _TreeScore(source)
    return _TreeScore(source).behind(_link(model, source))


def _share(model: Any, second: bool) -> _TreeScore:
    """The mean share of a class in the leaves; scikit-learn has no other score of a forest."""
    source, trees = read_source(model), share_trees(model, 1 if second else 0)
    if source.labels is None:
        raise NetworkError(f"{type(model).__name__} predicts numbers", fix="use a classifier")
    mean = replace(source, trees=trees, base=np.zeros(1), scale=Fraction(1, len(trees)), rule=Rule(Kind.SIGN, 1))
    return _TreeScore(mean, of_first=not second)


def _link(model: Any, source: TreeSource) -> _Link:
    """How boosting makes a probability of its margin."""
    place, name = type(model).__module__.split(".")[0], type(model).__name__
    if place == "sklearn" or (place == "interpret" and model.link_ == "logit"):
        return _Link()
    if place == "lightgbm":
        objective = lightgbm.read_text(model.booster_.model_to_string(), name).objective
        return _Link(slope=lightgbm.slope_of(objective))
    if place != "xgboost" or model.objective != "binary:logistic":
        raise NetworkError(
            f"the probability of {name} with {model.objective} is not read", fix="let it be the logistic function"
        )
    return _Link(roundoff=SINGLE_UNIT)


def _calibrated(model: Any) -> _TreeScore:
    """logistic(−(a·f + b)), f the decision function, or the probability where there is none."""
    a, b = calibration_of(model)
    inner = inner_estimator(model)
    response = "decision_function" if hasattr(inner, "decision_function") else "predict_proba"
    score = _score(inner, response, second=True)
    roundoff = max((link.roundoff for link in score.links), default=UNIT)
    if a < 0:
        return score.behind(_Link(-a, -b, roundoff=roundoff))
    if score.links:  # rarer than rare: the more probable, the less
        raise NetworkError("CalibratedClassifierCV turns the order of probabilities around", fix="calibrate it anew")
    return score.negated().behind(_Link(a, -b, roundoff=roundoff))
