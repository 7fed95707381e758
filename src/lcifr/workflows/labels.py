"""A model's decisions compared with the true labels of a table, to see whether its score ranks people backwards.

A model whose inputs, scales or classes are read wrongly is audited as faithfully as any other. Where labels are at
hand, they are the only sign of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data.files import json_value
from lcifr.display.text import percent
from lcifr.errors import LcifrError
from lcifr.models.rule import Kind
from lcifr.workflows.events import note, warn

if TYPE_CHECKING:
    from lcifr.models.model import Model

Z_99 = 2.5758293035489004
"""Of a two-sided interval of 99 %."""


@dataclass(frozen=True)
class LabelComparison:
    """Decisions beside true labels.

    Parameters
    ----------
    people : with a label that is a class of the model. accuracy : share whose decision is their label.
    majority : share of the most frequent label. positive : the second of two classes, which a score speaks for.
    auc : of two people with different labels, how often the one of ``positive`` has the higher score (a tie counts as
        half); None with more than two classes, and where all have the same label. lower, upper : its 99 % interval.
    """

    people: int
    accuracy: float
    majority: float
    positive: str = ""
    auc: float | None = None
    lower: float = 0.0
    upper: float = 1.0

    @property
    def is_backwards(self) -> bool:
        """Whether the whole interval lies below one half: no accident, at that confidence."""
        return self.auc is not None and self.upper < 0.5

    def __str__(self) -> str:
        if self.auc is None:
            return f"accuracy {percent(self.accuracy)}, majority rate {percent(self.majority)} ({self.people:,} people)"
        interval = f"99 % interval {self.lower:.3f} to {self.upper:.3f}"
        return f"accuracy {percent(self.accuracy)}, AUC {self.auc:.3f} ({interval}; {self.people:,} people)"


def compare_with_labels(model: Model, values: NDArray[np.float64], labels: Sequence[Any]) -> LabelComparison | None:
    """Compare outputs (people, outputs) with labels; None where the model predicts numbers or no label is a class."""
    if model.labels is None:
        return None
    numbers = {json_value(label): number for number, label in enumerate(model.labels)}
    own = np.array([numbers.get(json_value(label), -1) for label in labels], dtype=np.int64)
    known = own >= 0
    if not known.any():
        return None
    own, values = own[known], values[known]
    counts = np.bincount(own, minlength=len(numbers))
    decided = model.rule.decide(values)
    found = LabelComparison(len(own), float((decided == own).mean()), float(counts.max() / len(own)))
    if len(numbers) != 2 or not counts.all():
        return found
    score = values[:, 0] if model.rule.kind is Kind.SIGN else values[:, 1] - values[:, 0]
    auc = _auc(score, own == 1)
    lower, upper = auc_interval(auc, int(counts[0]), int(counts[1]))
    return LabelComparison(
        found.people, found.accuracy, found.majority, str(json_value(model.labels[1])), auc, lower, upper
    )


def _auc(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """The Mann–Whitney statistic with mid-ranks, as a share of all pairs."""
    from scipy.stats import rankdata

    count = int(positive.sum())
    above = float(rankdata(score)[positive].sum()) - count * (count + 1) / 2
    return above / (count * (len(score) - count))


def auc_interval(auc: float, first: int, second: int) -> tuple[float, float]:
    """The 99 % score interval of an area under the ROC curve of ``first`` and ``second`` people.

    Newcombe's method 5 (Statistics in Medicine 25, 2006): all t with |auc − t| ≤ z·√V(t), for Hanley and McNeil's
    variance V with both sizes replaced by their mean. Unlike a Wald interval it is of use for few people and for an auc
    of 0 or 1, where the estimated variance is 0. At t = ½ it is the variance of the Mann–Whitney test, so the interval
    lies below ½ where that test says so. Ties only make the variance smaller.
    """
    mean = (first + second) / 2 - 1

    def variance(t: float) -> float:
        return t * (1 - t) * (1 + mean * ((1 - t) / (2 - t) + t / (1 + t))) / (first * second)

    def end(outer: float) -> float:
        inner = auc
        for _ in range(60):
            middle = (inner + outer) / 2
            within = abs(middle - auc) <= Z_99 * math.sqrt(variance(middle))
            inner, outer = (middle, outer) if within else (inner, middle)
        return outer

    return end(0.0), end(1.0)


def refuse_backwards(found: LabelComparison, source: str, *, accept: bool) -> str | None:
    """Stop where a score ranks labels backwards, and warn where always guessing the majority would be right more often.

    Parameters
    ----------
    source : of the labels, for messages. accept : whether the user knows, and goes on.

    Returns
    -------
    What was accepted, for the results; None where there is nothing to accept.

    Raises
    ------
    LcifrError
        If it is backwards and not accepted.
    """
    if found.is_backwards:
        text = (
            f"the model ranks the labels of {source} backwards: of two people with different labels, the one with "
            f'"{found.positive}" gets the higher score in {percent(found.auc or 0.0)} of pairs (99 % interval '
            f"{percent(found.lower)} to {percent(found.upper)}; {found.people:,} people). Its inputs, their scales or "
            "its classes may be misread"
        )
        if not accept:
            raise LcifrError(
                text,
                fix="see that the columns, steps and codes of the description are those of the training code, and its "
                "classes in the model's order; if the model really decides so, `--accept-accuracy` on the command line "
                "goes on",
            )
        note(f"{text}; accepted with --accept-accuracy")
        return f"{text[:1].upper()}{text[1:]}; accepted with --accept-accuracy."
    if found.accuracy < found.majority:
        warn(
            f"accuracy on the labels of {source} is {percent(found.accuracy)}, below the majority rate of "
            f"{percent(found.majority)} ({found.people:,} people): the model may be misread"
        )
    return None
