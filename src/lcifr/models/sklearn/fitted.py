"""Fitted models of scikit-learn as they are: their own decisions, and the numbers that those rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.models.sklearn.estimators import REGRESSORS
from lcifr.models.sklearn.thresholds import WRAPPERS, inner_estimator, innermost
from lcifr.models.table_model import LibraryAnswer


@dataclass(frozen=True)
class FittedModel:
    """A fitted estimator or pipeline, and the columns that it reads, in its order."""

    model: Any
    columns: tuple[str, ...]

    def predict(self, frame: Any) -> NDArray[Any]:
        """(people,) the library's decisions about the rows of a pandas frame."""
        return self._decisions(self._rows(frame))

    @property
    def has_outputs(self) -> bool:
        """Whether the library says the numbers that it decides by: networks give nothing but probabilities."""
        inner = innermost(self.model)
        return type(inner).__name__ in REGRESSORS or hasattr(inner, "decision_function")

    def outputs(self, frame: Any) -> NDArray[np.float64]:
        """(people, outputs) the numbers before any threshold, sigmoid or calibration, as the library computes them."""
        return self._numbers(self._rows(frame))

    def both(self, frame: Any) -> LibraryAnswer:
        """Decisions and numbers; a pipeline prepares the columns once, which is most of its work."""
        model, rows = self.model, self._rows(frame)
        while _predicts_by_its_last_step(model):
            rows = model[:-1].transform(rows) if len(model.steps) > 1 else rows
            model = model.steps[-1][1]
        last = FittedModel(model, self.columns)
        return LibraryAnswer(last._decisions(rows), last._numbers(rows))

    def _decisions(self, rows: Any) -> NDArray[Any]:
        found = np.asarray(self.model.predict(rows))
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found  # of a label that was a column

    def _numbers(self, rows: Any) -> NDArray[np.float64]:
        found = np.asarray(_outputs(self.model, rows), dtype=np.float64)
        found = found[:, None] if found.ndim == 1 else found
        return -found if _turned(self.model) else found

    def _rows(self, frame: Any) -> Any:
        chosen = frame[list(self.columns)]
        return chosen if hasattr(reads_the_table(self.model), "feature_names_in_") else chosen.to_numpy()


def _predicts_by_its_last_step(model: Any) -> bool:
    """Whether it is a pipeline of scikit-learn itself, with its own ``predict``: anybody else's may do more."""
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
    name = type(model).__name__
    if name == "Pipeline":
        return _outputs(model.steps[-1][1], model[:-1].transform(rows) if len(model.steps) > 1 else rows)
    if name in WRAPPERS:
        return _outputs(inner_estimator(model), rows)
    return model.predict(rows) if name in REGRESSORS else model.decision_function(rows)


def _turned(model: Any) -> bool:
    """Whether a calibration reverses the order of the scores: the function that decides is then the negative one."""
    name = type(model).__name__
    if name == "CalibratedClassifierCV":
        return bool(model.calibrated_classifiers_[0].calibrators[0].a_ > 0)
    if name == "Pipeline":
        return _turned(model.steps[-1][1])
    return _turned(inner_estimator(model)) if name in WRAPPERS else False
