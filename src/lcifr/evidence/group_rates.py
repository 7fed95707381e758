"""Decision rates and impact ratios by group and intersection, as New York City's Local Law 144 has them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcifr.display.text import count, percent
from lcifr.report.sections import Table

UNKNOWN = (
    "?",
    "",
    "unknown",
    "not known",
    "missing",
    "not stated",
    "not disclosed",
    "undisclosed",
    "n/a",
    "na",
    "none given",
)
"""Values that stand for an unknown category, in whatever case."""
SMALL = 0.02
"""A category with a smaller share of the people may be left out of impact ratios (6 RCNY § 5-301)."""


@dataclass(frozen=True)
class GroupRate:
    """People of one group, how many of them get the favourable decision, and that rate over the highest one.

    ``ratio`` is None where the group is not compared; ``note`` says why.
    """

    attributes: tuple[str, ...]
    values: tuple[str, ...]
    people: int
    selected: int
    rate: float
    ratio: float | None
    note: str


@dataclass(frozen=True)
class GroupRates:
    """Rates of all groups; favourable : what counts as selected. source : what computed the rates."""

    favourable: str
    rows: tuple[GroupRate, ...]
    source: str

    def tables(self) -> Iterator[Table]:
        """One table for each attribute and each pair of them."""
        head = ("People", "Selected", "Rate", "Impact ratio", "Note")
        for attributes in dict.fromkeys(row.attributes for row in self.rows):
            rows = tuple(_cells(row) for row in self.rows if row.attributes == attributes)
            numbers = (False,) * len(attributes) + (True,) * 4 + (False,)
            yield Table(" × ".join(attributes), (*attributes, *head), rows, numbers)

    def to_csv(self) -> str:
        """Every row with all digits."""
        made = io.StringIO()
        writer = csv.writer(made, lineterminator="\n")
        writer.writerow(["attributes", "values", "people", "selected", "rate", "impact_ratio", "note"])
        for row in self.rows:
            ratio = "" if row.ratio is None else repr(row.ratio)
            names = (" × ".join(row.attributes), " × ".join(row.values))
            writer.writerow([*names, row.people, row.selected, repr(row.rate), ratio, row.note])
        return made.getvalue()


def _cells(row: GroupRate) -> tuple[str, ...]:
    ratio = "–" if row.ratio is None else f"{row.ratio:.3f}"
    return (*row.values, count(row.people), count(row.selected), percent(row.rate), ratio, row.note)


def find_group_rates(
    people: pd.DataFrame, selected: NDArray[np.bool_], by: Sequence[str], favourable: str, unknown: Sequence[str] = ()
) -> GroupRates:
    """Rates by every attribute of ``by``, and by every pair of them.

    Parameters
    ----------
    people : their attributes. selected : (people,) who gets the favourable decision, ``favourable`` in words.
    unknown : further values that stand for an unknown category.
    """
    odd = {*UNKNOWN, *(value.casefold() for value in unknown)}
    frame = people[list(by)].astype(str)
    rows: list[GroupRate] = []
    for attributes in (*((name,) for name in by), *combinations(by, 2)):
        rows += _group_rows(frame[list(attributes)], selected, attributes, odd)
    return GroupRates(favourable, tuple(rows), _source())


def _group_rows(
    frame: pd.DataFrame, selected: NDArray[np.bool_], attributes: tuple[str, ...], unknown: set[str]
) -> Iterator[GroupRate]:
    """The groups of one attribute or pair; who has an unknown category is counted, and not compared."""
    values = list(zip(*(frame[name] for name in attributes), strict=True))
    is_known = [not any(value.strip().casefold() in unknown for value in one) for one in values]
    sizes, rates = pd.Series(values).value_counts(), _rates(frame, selected, attributes)
    chosen = pd.Series(values)[np.asarray(selected)].value_counts()
    kept = {one for one, sure in zip(values, is_known, strict=True) if sure and sizes[one] >= SMALL * len(values)}
    highest = max((rates[one] for one in kept), default=0.0)
    for one in sorted(set(values)):
        note = "" if one in kept else "under 2 % of people: not compared"
        if any(value.strip().casefold() in unknown for value in one):
            note = "unknown category: not compared"
        ratio = rates[one] / highest if one in kept and highest > 0 else None
        yield GroupRate(attributes, one, int(sizes[one]), int(chosen.get(one, 0)), rates[one], ratio, note)


def _rates(
    frame: pd.DataFrame, selected: NDArray[np.bool_], attributes: tuple[str, ...]
) -> dict[tuple[str, ...], float]:
    """The share of every group that is selected: Fairlearn's ``selection_rate`` where it is installed."""
    chosen = np.asarray(selected, np.int64)
    metrics = _fairlearn()
    if metrics is None:
        found = pd.Series(chosen).groupby([frame[name].to_numpy() for name in attributes]).mean()
    else:
        rate = metrics.selection_rate
        found = metrics.MetricFrame(metrics=rate, y_true=chosen, y_pred=chosen, sensitive_features=frame).by_group
    known: dict[Any, Any] = found.dropna().to_dict()  # a pair of attributes has a pair as its key
    keys = ((str(key),) if len(attributes) == 1 else tuple(map(str, key)) for key in known)
    return dict(zip(keys, map(float, known.values()), strict=True))


def _source() -> str:
    metrics = _fairlearn()
    if metrics is None:
        return "counted by lcifr (Fairlearn is not installed)"
    from importlib.metadata import version

    return f"selection_rate of Fairlearn {version('fairlearn')}"


def _fairlearn() -> Any:
    try:
        import fairlearn.metrics
    except ImportError:
        return None
    return fairlearn.metrics
