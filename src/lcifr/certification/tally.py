"""Verdicts counted chunk by chunk: figures of a large run need no memory for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.certification.auditor import Audit
from lcifr.certification.verdicts import Certificates
from lcifr.errors import LcifrError


@dataclass
class Count:
    """Some people: how many, and of whom what is true. ``right`` is None without labels."""

    people: int = 0
    certified: int = 0
    violated: int = 0
    right: int | None = None


@final
@dataclass
class Tally:
    """Everything that is said of people together; the same figures however they are divided into chunks.

    Parameters
    ----------
    all : everybody. vacuous : certificates that say nothing. alone, lonely : people similar to nobody but themselves,
        with and without those to whom nobody is similar at all.
    on : for ball and box, who is certified there; missing where that was not asked. reasons : of the undecided.
    labels : for each true label who has it. groups : for each attribute and value who is in it.
    """

    all: Count = field(default_factory=Count)
    vacuous: int = 0
    alone: int = 0
    lonely: int = 0
    on: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    labels: dict[Any, Count] = field(default_factory=dict)
    groups: dict[str, dict[str, Count]] = field(default_factory=dict)
    _decisions: set[Any] = field(default_factory=set)

    def add(self, found: Certificates | Audit, y: ArrayLike | None, by: Mapping[str, ArrayLike]) -> None:
        """Count these people too, with their labels where they are known, and by subgroup."""
        of_numbers = found.model.decision.kind == "within"
        labels = None if of_numbers else _labels(found, y)
        masks = _Masks.of(found, labels)
        masks.add_to(self.all)
        self.vacuous += int((found.vacuous & found.certified).sum())
        self.reasons.update(str(reason) for reason in found.reason if str(reason))
        if isinstance(found, Audit):
            self.alone += int(found.alone.sum())
            self.lonely += int((found.alone & ~found.vacuous).sum())
            for name, mask in (("ball", found.ball), ("box", found.box)):
                if mask is not None:
                    self.on[name] += int(mask.sum())
        if not of_numbers and len(self._decisions) < 2:
            self._decisions |= set(np.unique(found.prediction).tolist())
        for label in [] if labels is None else np.unique(labels):
            masks.take(labels == label).add_to(self.labels.setdefault(label, Count()))
        for name, values in by.items():
            column, counts = np.asarray(values).astype(str), self.groups.setdefault(name, {})
            for value in np.unique(column):
                masks.take(column == value).add_to(counts.setdefault(str(value), Count()))

    @property
    def constant(self) -> str | None:
        """The decision that everybody gets, where there is but one; never of a single person, or of numbers."""
        return str(next(iter(self._decisions))) if self.all.people > 1 and len(self._decisions) == 1 else None

    def figures(self) -> dict[str, float]:
        """Accuracy, balanced accuracy and the share of the most frequent label; nothing without labels."""
        if not self.labels:
            return {}
        shares = [(count.right or 0) / count.people for _, count in sorted(self.labels.items())]
        most = max(count.people for count in self.labels.values())
        return {
            "accuracy": (self.all.right or 0) / self.all.people,
            "balanced_accuracy": float(np.mean(shares)),
            "majority_rate": most / self.all.people,
        }

    def modularity(self) -> dict[str, float]:
        """Shares certified on the ball and on the box where that was asked, end to end, and really violated."""
        counted = {name: self.on[name] for name in ("ball", "box") if name in self.on}
        counted |= {"end_to_end": self.all.certified, "violated": self.all.violated}
        return {name: count / self.all.people for name, count in counted.items()}


@dataclass(frozen=True)
class _Masks:
    """(people,) of one chunk."""

    certified: NDArray[np.bool_]
    violated: NDArray[np.bool_]
    right: NDArray[np.bool_] | None

    @classmethod
    def of(cls, found: Certificates | Audit, labels: NDArray[Any] | None) -> _Masks:
        certified = found.certified
        violated = found.violated if isinstance(found, Audit) else np.zeros_like(certified)
        return cls(certified, violated, None if labels is None else np.asarray(found.prediction) == labels)

    def take(self, some: NDArray[np.bool_]) -> _Masks:
        return _Masks(self.certified[some], self.violated[some], None if self.right is None else self.right[some])

    def add_to(self, count: Count) -> None:
        count.people += len(self.certified)
        count.certified += int(self.certified.sum())
        count.violated += int(self.violated.sum())
        if self.right is not None:
            count.right = (count.right or 0) + int(self.right.sum())


def _labels(found: Certificates | Audit, y: ArrayLike | None) -> NDArray[Any] | None:
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.shape != (len(found),):
        raise LcifrError(f"y has the shape {labels.shape}, there are {len(found)} people", fix="one label per person")
    return labels
