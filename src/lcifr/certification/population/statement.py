"""From people to a population: the certified share with an exact confidence bound.

The bound (Clopper and Pearson) speaks about the population only if the people were drawn from it and nobody trained on
them. Only the user knows that, so a bound is given only where the user declares it. Where rows were left out because
values are missing, the others are no random sample any more, whatever the table was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lcifr.certification.population.tally import Tally
from lcifr.certification.verdicts import Audit, Certificates
from lcifr.drawing.text import at_least, fixed, not_examined_words, percent, quantity, vacuous_words
from lcifr.errors import LcifrError


@dataclass(frozen=True)
class Statement:
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
    constant : the decision that everybody gets, where there is but one: then the share says nothing about the model.
    warnings : why the share may mean less than it seems; of a constant model that comes first.
    subgroups : a pandas frame, one row per value of every attribute asked for; None if none was.
    decisions : for each decision how many people get it; empty where a model predicts numbers.
    group_decisions : the same for each attribute asked for and each value of it.
    confusion : the same for each true label; empty without labels.
    not_examined : rows of the table that were left out because a value is missing.
    """

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
    subgroups: Any = None
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, subgroups as records."""
        groups = [] if self.subgroups is None else self.subgroups.to_dict("records")
        return {**asdict(self), "rows": self.rows, "warnings": list(self.warnings), "subgroups": groups}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Statement:
        """What :meth:`to_dict` gave, read again; other keys are not looked at.

        Results from before rows were counted as not examined are read as what they should have said.
        """
        import pandas as pd

        if "not_examined" not in plain and (left_out := int(plain.get("left_out") or 0)):
            people = int(plain["people"]) + left_out
            plain = {**plain, "not_examined": left_out, "share": plain["certified"] / people, "lower": None}
            groups = plain.get("subgroups") or ()
            plain["subgroups"] = [{key: row[key] for key in row if key != "at_least"} for row in groups]
        known = {one.name: plain[one.name] for one in fields(cls) if one.name in plain}
        rows = known.get("subgroups")
        known |= {"warnings": tuple(map(str, plain.get("warnings") or ())), "lower": plain["lower"]}
        return cls(**known | {"subgroups": pd.DataFrame(rows) if rows else None})

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
    held_out : whether these people were drawn from the population and nobody trained on them. Even then there is no
        bound where rows were left out because of missing values.
    by : for each name the (people,) subgroup of everybody.
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
    except ImportError:
        raise LcifrError(
            "group metrics come from fairlearn, which is not installed", fix="pip install lcifr[fairlearn]"
        ) from None
    return MetricFrame(
        metrics=dict(metrics), y_true=np.asarray(y), y_pred=np.asarray(found.prediction), sensitive_features=sensitive
    )
