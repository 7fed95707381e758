"""Counts of verdicts, accumulated chunk by chunk in constant memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.certification.verdicts import Audit, Certificates
from lcifr.errors import LcifrError
from lcifr.models.rule import Kind


@final
@dataclass
class Fit:
    """Predicted numbers beside the true ones.

    Parameters
    ----------
    people : how many. mean, spread : of the true numbers, Σ(y − mean)².
    squared, absolute : of the errors, Σ(y − predicted)² and Σ|y − predicted|.
    of_mean, of_mean_squared : the same sums of whoever always says the mean of training; None where it is not known.
    """

    people: int = 0
    mean: float = 0.0
    spread: float = 0.0
    squared: float = 0.0
    absolute: float = 0.0
    of_mean: float | None = None
    of_mean_squared: float | None = None

    def add(self, true: NDArray[Any], predicted: NDArray[Any], learned_mean: float | None) -> None:
        """These people too. Means are merged as Chan, Golub and LeVeque do: no large squares that cancel."""
        y = np.asarray(true, dtype=np.float64)
        if not len(y):
            return
        error, mean, people = y - np.asarray(predicted, dtype=np.float64), float(y.mean()), self.people + len(y)
        apart = mean - self.mean
        self.spread += float(np.square(y - mean).sum()) + apart**2 * self.people * len(y) / people
        self.mean += apart * len(y) / people
        self.people = people
        self.squared += float(np.square(error).sum())
        self.absolute += float(np.abs(error).sum())
        if learned_mean is not None:
            self.of_mean = (self.of_mean or 0.0) + float(np.abs(y - learned_mean).sum())
            self.of_mean_squared = (self.of_mean_squared or 0.0) + float(np.square(y - learned_mean).sum())

    def figures(self) -> dict[str, float]:
        """R² (not where all true numbers are one), mean absolute error, and both of always saying the mean."""
        found = {"mean_error": self.absolute / self.people}
        if self.of_mean is not None:
            found["mean_error_of_mean"] = self.of_mean / self.people
        if self.spread > 0:
            found["r2"] = 1.0 - self.squared / self.spread
            if self.of_mean_squared is not None:
                found["r2_of_mean"] = 1.0 - self.of_mean_squared / self.spread
        return found


@dataclass
class SubgroupCount:
    """Counts of one group of people. Without labels there is no ``right``, nor ``fit`` of numbers.

    ``decisions`` says how many are decided how; it is empty where a model predicts numbers.
    """

    people: int = 0
    certified: int = 0
    violated: int = 0
    right: int | None = None
    fit: Fit | None = None
    decisions: Counter[str] = field(default_factory=Counter)


@final
@dataclass
class Tally:
    """All counts of a run; they do not depend on how people are divided into chunks.

    Parameters
    ----------
    all : everybody examined. not_examined : rows of the table beside them, in which a value is missing.
    vacuous : certificates that say nothing. alone, singletons : people similar to nobody but themselves, with and
        without those to whom nobody is similar at all.
    on : for ball and box, who is certified there; missing where that was not asked. reasons : of the undecided.
    looked_up : people certified by a cell of a sweep, without a search; in_checked : of these, by one that is checked.
    labels : for each true label who has it. groups : for each attribute and value who is in it.
    """

    all: SubgroupCount = field(default_factory=SubgroupCount)
    not_examined: int = 0
    vacuous: int = 0
    alone: int = 0
    singletons: int = 0
    on: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    looked_up: int = 0
    in_checked: int = 0
    labels: dict[Any, SubgroupCount] = field(default_factory=dict)
    groups: dict[str, dict[str, SubgroupCount]] = field(default_factory=dict)
    _decisions: set[Any] = field(default_factory=set)

    def add(self, found: Certificates | Audit, y: ArrayLike | None, by: Mapping[str, ArrayLike]) -> None:
        """Count these people too, with their labels where they are known, and by subgroup."""
        labels, masks = _labels(found, y), _Masks.of(found, _labels(found, y))
        if found.model.rule.kind is Kind.NUMBER:
            labels = None  # numbers are no classes to count by
        masks.add_to(self.all)
        certain = masks.certified
        self.vacuous += int((found.vacuous & found.certified).sum())
        self.reasons.update(str(reason) for reason in found.reason[~(certain | masks.violated)] if str(reason))
        if isinstance(found, Audit):
            self.not_examined += len(found.left_out)
            self.alone += int(found.alone.sum())
            self.singletons += int((found.alone & ~found.vacuous).sum())
            if found.looked_up is not None:
                self.looked_up += int(found.looked_up.found.sum())
                self.in_checked += int(found.looked_up.checked.sum())
            for name, mask in (("ball", found.ball), ("box", found.box)):
                if mask is not None:
                    self.on[name] += int(mask.sum())
        if found.prediction.ndim == 1 and len(self._decisions) < 2:
            self._decisions |= set(np.unique(found.prediction)[:2].tolist())
        for label in [] if labels is None else np.unique(labels):
            masks.take(labels == label).add_to(self.labels.setdefault(label, SubgroupCount()))
        for name, values in by.items():
            column, counts = np.asarray(values).astype(str), self.groups.setdefault(name, {})
            for value in np.unique(column):
                masks.take(column == value).add_to(counts.setdefault(str(value), SubgroupCount()))

    @property
    def constant(self) -> str | None:
        """The decision that everybody gets, where there is but one; never of a single person."""
        return str(next(iter(self._decisions))) if self.all.people > 1 and len(self._decisions) == 1 else None

    def figures(self) -> dict[str, float]:
        """Accuracy, balanced accuracy and the share of the most frequent label; of numbers see :class:`Fit`.

        Nothing without labels.
        """
        if self.all.fit is not None:
            return self.all.fit.figures()
        if not self.labels:
            return {}
        shares = [(count.right or 0) / count.people for _, count in sorted(self.labels.items())]
        most = max(count.people for count in self.labels.values())
        return {
            "accuracy": (self.all.right or 0) / self.all.people,
            "balanced_accuracy": float(np.mean(shares)),
            "majority_rate": most / self.all.people,
        }

    def decided(self) -> dict[str, Any]:
        """How many are decided how: of all, of every group, and of everybody with one true label."""
        groups = {
            name: {value: dict(count.decisions) for value, count in sorted(values.items())}
            for name, values in self.groups.items()
        }
        confusion = {decision_name(label): dict(count.decisions) for label, count in sorted(self.labels.items())}
        return {
            "decisions": dict(self.all.decisions),
            "group_decisions": groups if self.all.decisions else {},
            "confusion": confusion,
        }

    def modularity(self) -> dict[str, float]:
        """Shares certified on the ball and on the box where that was asked, end to end, and really violated.

        They are shares of all rows of the table, examined or not.
        """
        counted = {name: self.on[name] for name in ("ball", "box") if name in self.on}
        counted |= {"end_to_end": self.all.certified, "violated": self.all.violated}
        return {name: count / (self.all.people + self.not_examined) for name, count in counted.items()}


@dataclass(frozen=True)
class _Masks:
    """(people,) of one chunk; ``true`` and ``predicted`` of numbers, ``right`` of classes, None without labels."""

    certified: NDArray[np.bool_]
    violated: NDArray[np.bool_]
    right: NDArray[np.bool_] | None
    true: NDArray[Any] | None
    predicted: NDArray[Any]
    mean: float | None
    numbers: bool

    @classmethod
    def of(cls, found: Certificates | Audit, labels: NDArray[Any] | None) -> _Masks:
        certified, predicted = found.certified, np.asarray(found.prediction)
        violated = found.violated if isinstance(found, Audit) else np.zeros_like(certified)
        numbers = found.model.rule.kind is Kind.NUMBER
        right = None if labels is None or numbers else predicted == labels
        true = labels if numbers and predicted.ndim == 1 else None
        return cls(certified, violated, right, true, predicted, found.model.mean, numbers)

    def take(self, some: NDArray[np.bool_]) -> _Masks:
        right, true = (None if part is None else part[some] for part in (self.right, self.true))
        return replace(
            self,
            certified=self.certified[some],
            violated=self.violated[some],
            right=right,
            true=true,
            predicted=self.predicted[some],
        )

    def add_to(self, count: SubgroupCount) -> None:
        count.people += len(self.certified)
        count.certified += int(self.certified.sum())
        count.violated += int(self.violated.sum())
        if self.right is not None:
            count.right = (count.right or 0) + int(self.right.sum())
        if self.true is not None:
            count.fit = count.fit or Fit()
            count.fit.add(self.true, self.predicted, self.mean)
        if not self.numbers:
            values, people = np.unique(self.predicted, return_counts=True)
            count.decisions.update({decision_name(v): int(n) for v, n in zip(values, people, strict=True)})


def decision_name(value: Any) -> str:
    """A decision or a label as text: the same for 1, 1.0 and their numpy types."""
    plain = value.item() if isinstance(value, np.generic) else value
    return str(int(plain)) if isinstance(plain, float) and plain.is_integer() else str(plain)


def _labels(found: Certificates | Audit, y: ArrayLike | None) -> NDArray[Any] | None:
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.shape != (len(found),):
        raise LcifrError(f"y has the shape {labels.shape}, there are {len(found)} people", fix="one label per person")
    return labels
