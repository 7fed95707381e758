"""What an audit says of a population: counts, shares with both ends, and how well the model fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.certification.verdicts import Audit, Certificates
from lcifr.data import Categorical
from lcifr.data.codec import Record, key
from lcifr.display.text import at_least, fixed, not_examined_words, percent, quantity, vacuous_words
from lcifr.errors import LcifrError, missing_extra
from lcifr.models.rule import Kind
from lcifr.phi.formula import Absolute, Comparison, Linear, Rank, Within, attributes_in, subformulas
from lcifr.phi.similarity import Similarity

# Standard deviations and ranks that a formula speaks of, each with the rows of the table that it was taken from.


@dataclass(frozen=True)
class ScaleSource:
    """Where a standard deviation, or the values among which a number is ranked, were taken from.

    Parameters
    ----------
    attribute : a number. by : of a rank, the category by which people are ranked; None for a standard deviation.
    sd : None for a rank. rows, of : rows that have all values that are needed, and rows of the table.
    source : what the table is called.
    """

    attribute: str
    by: str | None
    sd: float | None
    rows: int
    of: int
    source: str


def scale_sources(similarity: Similarity, source: str, rows: int | None = None) -> tuple[ScaleSource, ...]:
    """The standard deviations and ranks that a formula speaks of, in the order of the schema.

    Parameters
    ----------
    source : what the table is called that they were taken from.
    rows : of that table, in which nothing is missing, where it is not at hand; None for what the encoding was fitted
        on. Where no one knows, nothing is returned.
    """
    encoding, people = similarity.encoding, similarity.encoding.ranked
    if people is None and rows is None:
        return ()
    of = len(people) if people is not None else int(rows or 0)
    found = []
    for name in _in_sd(similarity):
        known = encoding.rows_of(name) or (of, of)
        found.append(ScaleSource(name, None, encoding.sd(name), *known, source))
    for name, by in _ranked(similarity):
        there = of if people is None else int(((people.code(by) >= 0) & ~np.isnan(people.number(name))).sum())
        found.append(ScaleSource(name, by, None, there, of, source))
    return tuple(found)


def _in_sd(similarity: Similarity) -> list[str]:
    """The numbers that φ compares in standard deviations."""
    schema, found = similarity.schema, set[str]()
    for part in subformulas(similarity.formula):
        if isinstance(part, Within) and part.in_sd:
            found |= {name for name in attributes_in(part.set, schema) if not isinstance(schema[name], Categorical)}
    return [name for name in schema.names_numeric if name in found]


def _ranked(similarity: Similarity) -> list[tuple[str, str]]:
    """The numbers that φ ranks, each with the category by which."""
    comparisons = (part for part in subformulas(similarity.formula) if isinstance(part, Comparison))
    ranks = (rank for part in comparisons for side in (part.left, part.right) for rank in _ranks(side))
    return list(dict.fromkeys((rank.attribute, rank.by) for rank in ranks))


def _ranks(linear: Linear) -> Iterator[Rank]:
    for _, variable in linear.terms:
        if isinstance(variable, Rank):
            yield variable
        elif isinstance(variable, Absolute):
            yield from _ranks(variable.inside)


# Counts of verdicts, accumulated chunk by chunk in constant memory.


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
    all : everyone examined. not_examined : rows of the table beside them, in which a value is missing.
    vacuous : certificates that say nothing. alone, singletons : people similar to no one but themselves, with and
        without those to whom no one is similar at all.
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
        """The decision that everyone gets, if there is only one; None for a single person."""
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
        """How many people get each decision: among all, in each group, and with each true label."""
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


# From people to a population: the certified share with an exact confidence bound.
#
# The bound (Clopper and Pearson) speaks about the population only if the people were drawn from it and no one trained
# on them. Only the user knows that, so a bound is given only where the user declares it. Where rows were left out
# because values are missing, the others are no random sample any more, whatever the table was.


def _records(subgroups: Any) -> list[dict[str, Any]]:
    return [] if subgroups is None else subgroups.to_dict("records")


def _frame(records: list[dict[str, Any]] | None) -> Any:
    import pandas as pd

    return pd.DataFrame(records) if records else None


@dataclass(frozen=True)
class Statement(Record):
    """The certified share of a population, beside what it must be read with.

    Parameters
    ----------
    people, certified, violated, undecided, vacuous : counts of people who were examined; vacuous certificates are among
        the certified.
    share : certified / rows: of all rows of the table, so that whoever was not examined counts as not certified.
    lower : the population's certified share is at least this, with ``confidence``; None if it was not declared that
        the people were held out and drawn from the population, or if some were not examined.
    accuracy, balanced_accuracy, majority_rate : of the model on these people; None without labels or for regression.
    r2, mean_error : of a regression on these people, the latter absolute and in the label's unit.
    r2_of_mean, mean_error_of_mean : of whoever always says the mean of the labels that were learned from, if known.
    baselines : named results to stand beside, as the user gave them.
    constant : the decision that everyone gets, if there is only one: then the share says nothing about the model.
    warnings : why the share may mean less than it seems; of a constant model that comes first.
    subgroups : a pandas frame, one row per value of every attribute asked for; None if none was.
    decisions : for each decision how many people get it; empty where a model predicts numbers.
    group_decisions : the same for each attribute asked for and each value of it.
    confusion : the same for each true label; empty without labels.
    not_examined : rows of the table that were left out because a value is missing.
    """

    also = ("rows",)
    people: int
    certified: int
    violated: int
    undecided: int
    vacuous: int
    share: float
    lower: float | None
    confidence: float
    accuracy: float | None = None
    balanced_accuracy: float | None = None
    majority_rate: float | None = None
    r2: float | None = None
    mean_error: float | None = None
    r2_of_mean: float | None = None
    mean_error_of_mean: float | None = None
    constant: str | None = None
    baselines: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    subgroups: Any = field(default=None, metadata=key(write=_records, read=_frame))
    decisions: Mapping[str, int] = field(default_factory=dict)
    group_decisions: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    confusion: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    not_examined: int = 0

    @property
    def rows(self) -> int:
        """Rows of the table: the people who were examined, and those who were not."""
        return self.people + self.not_examined

    @property
    def share_of_examined(self) -> float:
        """certified / people: only for comparisons with other models on the very same people."""
        return self.certified / self.people

    @classmethod
    def upgraded(cls, plain: Mapping[str, Any]) -> Mapping[str, Any]:
        """Results from before rows were counted as not examined are read as what they should have said."""
        if "not_examined" in plain or not (left_out := int(plain.get("left_out") or 0)):
            return plain
        people = int(plain["people"]) + left_out
        groups = [{name: row[name] for name in row if name != "at_least"} for row in plain.get("subgroups") or ()]
        now = {"not_examined": left_out, "share": plain["certified"] / people, "lower": None, "subgroups": groups}
        return {**plain, **now}

    def __str__(self) -> str:
        first = [] if self.constant is None else [constant_words(self.people, self.constant)]
        share = f"certified with respect to φ: {self.certified:,} of {self.rows:,} ({self.share:.1%})"
        lines = [*first, share + not_examined_words(self.not_examined)]
        if self.lower is None:
            lines.append(f"no statement about a population: {why_no_bound(self.not_examined)}")
        else:
            lines.append(
                f"of the population at least {at_least(self.lower)}, with {100 * self.confidence:g} % confidence"
            )
        lines.append(f"violated {self.violated}, undecided {self.undecided}{vacuous_words(self.vacuous)}")
        if self.accuracy is not None:
            lines.append(
                f"accuracy {self.accuracy:.1%}, balanced {self.balanced_accuracy:.1%}, "
                f"majority rate {self.majority_rate:.1%}"
            )
        if self.mean_error is not None:
            lines.append(fit_words(self))
        for name, figures in self.baselines.items():
            lines.append(f"{name}: " + ", ".join(f"{what} {_figure(what, value)}" for what, value in figures.items()))
        return "\n".join(lines + [f"warning: {warning}" for warning in self.warnings if warning not in first])


def state(
    found: Certificates | Audit,
    y: ArrayLike | None = None,
    *,
    held_out: bool,
    confidence: float = 0.95,
    by: Mapping[str, ArrayLike] | None = None,
    baselines: Mapping[str, Mapping[str, float | None]] | None = None,
) -> Statement:
    """Say what verdicts mean for the population.

    Parameters
    ----------
    y : (people,) true labels, for accuracy.
    held_out : whether these people were drawn from the population and no one trained on them. Even then there is no
        bound where rows were left out because of missing values.
    by : for each name the (people,) subgroup of everyone.
    baselines : for each name its figures, such as ``{"unaware": {"accuracy": 0.8, "certified": 1.0}}``.
    """
    tally = Tally()
    tally.add(found, y, by or {})
    return state_tally(tally, held_out=held_out, confidence=confidence, baselines=baselines)


def state_tally(
    tally: Tally,
    *,
    held_out: bool,
    confidence: float = 0.95,
    baselines: Mapping[str, Mapping[str, float | None]] | None = None,
) -> Statement:
    """As :func:`state`, from counts of verdicts."""
    if not 0 < confidence < 1:
        raise LcifrError(f"confidence is {confidence}; expected a number between 0 and 1", fix="for example 0.95")
    count, figures, not_examined = tally.all, tally.figures(), tally.not_examined
    counted: dict[str, Any] = {**figures, **tally.decided()}
    bounded = held_out and not not_examined
    return Statement(
        people=count.people,
        certified=count.certified,
        violated=count.violated,
        undecided=count.people - count.certified - count.violated,
        vacuous=tally.vacuous,
        share=count.certified / (count.people + not_examined),
        lower=lower_bound(count.certified, count.people, confidence) if bounded else None,
        confidence=confidence,
        constant=tally.constant,
        baselines=dict(baselines or {}),
        warnings=_warnings(tally, figures),
        subgroups=_subgroups(tally, confidence if bounded else None) if tally.groups else None,
        not_examined=not_examined,
        **counted,
    )


def why_no_bound(not_examined: int, *, trained_on: bool = False) -> str:
    """Why nothing is said about a population, as far as it is known.

    Parameters
    ----------
    not_examined : rows left out because a value is missing. trained_on : whether the model learned from people among
        these.
    """
    if not_examined:
        return (
            f"{not_examined:,} {'rows were' if not_examined > 1 else 'row was'} left out because of missing values, "
            "so the others are not a random sample of it"
        )
    if trained_on:
        return "people among these were used for training"
    return "it was not declared that these people were held out from training and drawn from it"


def lower_bound(successes: int, people: int, confidence: float) -> float:
    """The exact one-sided lower confidence bound of a share (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv  # scipy.stats takes most of a second to import

    return 0.0 if successes == 0 else float(betaincinv(successes, people - successes + 1, 1.0 - confidence))


def fit_words(said: Statement) -> str:
    """Goodness of fit in words, beside that of always predicting the mean."""
    of_mean, error = said.mean_error_of_mean, said.mean_error
    if error is None:
        return ""
    beside = "" if of_mean is None else f"; always predicting the mean errs by {quantity(of_mean)}"
    r2 = "R² unknown: all true labels are equal" if said.r2 is None else f"R² {fixed(said.r2)}"
    return f"{r2}, mean error {quantity(error)}{beside}"


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    return quantity(value) if name == "mean_error" else fixed(value) if name == "r2" else f"{value:.1%}"


def constant_words(people: int, decision: str) -> str:
    """The warning about a model that decides the same for everyone."""
    return (
        f"all {people:,} people get the same decision ({decision}): the model does not distinguish between people, so "
        "the certified share says nothing"
    )


def _warnings(tally: Tally, figures: dict[str, float]) -> tuple[str, ...]:
    said = []
    if tally.constant is not None:
        said.append(constant_words(tally.all.people, tally.constant))
    elif figures.get("r2", 0.0) < figures.get("r2_of_mean", 0.0):
        said.append("always predicting the mean of the training labels does better: R² is below that")
    elif "accuracy" in figures and figures["accuracy"] < figures["majority_rate"]:
        said.append(_below_majority(figures["balanced_accuracy"], len(tally.labels)))
    if tally.vacuous:
        said.append(f"{tally.vacuous} certificates are vacuous: no one is similar to these people, so they say nothing")
    if tally.singletons:
        said.append(
            f"for {tally.singletons} people, φ calls no one similar but the person: their certificates say nothing"
        )
    return tuple(said)


def _below_majority(balanced: float, classes: int) -> str:
    if balanced <= 1 / classes:
        return "accuracy is below the majority rate: deciding without looking does better"
    return (
        "accuracy is below the majority rate: always deciding for the most frequent class is right more often, though "
        f"its balanced accuracy is {percent(1 / classes)} and this model's {percent(balanced)}"
    )


def _subgroups(tally: Tally, confidence: float | None) -> Any:
    import pandas as pd

    rows = []
    for name, counts in tally.groups.items():
        for value, count in sorted(counts.items()):
            row = {"attribute": name, "value": value, "people": count.people}
            row["certified"] = count.certified / count.people
            if confidence is not None:
                row["at_least"] = lower_bound(count.certified, count.people, confidence)
            row["violated"] = count.violated / count.people
            if count.right is not None:
                row["accuracy"] = count.right / count.people
            if count.fit is not None:
                row["mean_error"] = count.fit.figures()["mean_error"]
            rows.append(row)
    return pd.DataFrame(rows)


def group_metrics(found: Certificates | Audit, y: ArrayLike, sensitive: ArrayLike, metrics: Mapping[str, Any]) -> Any:
    """Group metrics by fairlearn (an extra): its ``MetricFrame`` over these predictions."""
    try:
        from fairlearn.metrics import MetricFrame
    except ModuleNotFoundError as error:
        raise missing_extra(error, "a table of group metrics") from None
    return MetricFrame(
        metrics=dict(metrics), y_true=np.asarray(y), y_pred=np.asarray(found.prediction), sensitive_features=sensitive
    )
