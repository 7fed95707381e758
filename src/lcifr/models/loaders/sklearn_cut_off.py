"""A cut-off that a description declares for a fitted scikit-learn classifier, in place of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import model_selection

from lcifr.models.description import DescribedOutput, Meaning, ScoreComparison, check_meaning
from lcifr.models.rule import Kind, Rule


class FixedThresholdClassifier(model_selection.FixedThresholdClassifier):  # type: ignore[misc]
    """scikit-learn's wrapper around a classifier that is fitted already, and so read by the same rules (by its name).

    Its threshold is compared with ``>=``: for ``>`` it is the next float64. Decisions compare as the description says.
    """

    def __init__(self, estimator: Any, output: DescribedOutput) -> None:
        above = output.comparison is ScoreComparison.ABOVE
        super().__init__(
            estimator,
            threshold=float(np.nextafter(output.threshold, np.inf)) if above else output.threshold,
            pos_label=estimator.classes_[1],
            response_method="predict_proba" if output.meaning is Meaning.PROBABILITY else "decision_function",
        )
        self.output = output
        self.estimator_ = estimator
        self.n_features_in_ = estimator.n_features_in_
        if hasattr(estimator, "feature_names_in_"):
            self.feature_names_in_ = estimator.feature_names_in_

    def predict(self, X: Any) -> NDArray[Any]:
        """(people,) classes, by the estimator's probability or decision function and the declared comparison."""
        found = np.asarray(getattr(self.estimator_, self.response_method)(X))
        scores = found[:, 1] if self.response_method == "predict_proba" else found
        return np.asarray(self.classes_[self.output.is_second(scores).astype(np.int64)])


def with_declared_rule(model: Any, output: DescribedOutput | None, where: str) -> Any:
    """The fitted model that decides as a description says; ``model`` itself where that is its own rule.

    Raises
    ------
    DescriptionError
        For what the model cannot mean.
    """
    if output is None:
        return model
    classes = getattr(model, "classes_", None)
    count = 0 if classes is None else len(classes)
    kind = {0: Kind.NUMBER, 2: Kind.SIGN}.get(count, Kind.CLASS)
    check_meaning(output, Rule(kind, count if kind is Kind.CLASS else 1), where)
    return FixedThresholdClassifier(model, output) if output.has_threshold else model
