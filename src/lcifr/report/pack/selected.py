"""Who gets the favourable decision, read from the folder of an audit, for tables by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lcifr.errors import LcifrError, did_you_mean
from lcifr.report.pack.group_rates import GroupRates, find_group_rates
from lcifr.runs.auditing.result import AuditResult


@dataclass(frozen=True, eq=False)
class SelectedPeople:
    """People of an audit; selected : (people,) who gets the favourable decision. groups : attributes of the audit."""

    people: pd.DataFrame
    selected: NDArray[np.bool_]
    favourable: str
    groups: tuple[str, ...]

    @classmethod
    def read(cls, folder: Path, result: AuditResult, favourable: str | None) -> SelectedPeople:
        """From the files of an audit."""
        people = pd.read_parquet(folder / "people.parquet")
        predicted = pd.read_parquet(folder / "audited" / "audit.parquet", columns=["prediction"])["prediction"]
        groups = tuple(result.statement.group_decisions) or _compared(result)
        if not result.model.classes:
            numbers = predicted.to_numpy(np.float64)
            return cls(people, numbers > np.median(numbers), "a prediction above the median of these people", groups)
        classes, shown = ([text(one) for one in result.model.classes] for text in (str, result.model.shown))
        named = favourable if favourable in classes or favourable not in shown else classes[shown.index(favourable)]
        chosen = _chosen(classes, named)
        words = f"the decision is {shown[classes.index(chosen)]!r}"
        return cls(people, (predicted.astype(str) == chosen).to_numpy(), words, groups)

    def rates(self, by: Sequence[str] | None, unknown: Sequence[str]) -> GroupRates:
        """Rates by these attributes; by those that the audit looked at if None."""
        for name in by or ():
            if name not in self.people.columns:
                raise LcifrError(
                    f'--by: there is no attribute "{name}".{did_you_mean(name, self.people.columns)}',
                    fix=f"one of {', '.join(self.people.columns)}",
                )
        return find_group_rates(self.people, self.selected, by or self.groups, self.favourable, unknown)


def _compared(result: AuditResult) -> tuple[str, ...]:
    """Of predicted numbers no decisions are counted; the certified shares have the attributes."""
    groups = result.statement.subgroups
    return () if groups is None else tuple(dict.fromkeys(map(str, groups["attribute"])))


def _chosen(classes: list[str], favourable: str | None) -> str:
    if favourable is None:
        if len(classes) != 2:
            raise LcifrError(
                f"the model decides between {len(classes)} classes: which one is favourable?",
                fix=f"say --favourable {classes[-1]!r}, or another of {', '.join(classes)}",
            )
        return classes[1]
    if favourable not in classes:
        raise LcifrError(
            f"--favourable {favourable!r}: the model decides between {', '.join(classes)}."
            + did_you_mean(favourable, classes),
            fix=f"say --favourable {classes[-1]!r}, or another of them",
        )
    return favourable
