"""Decision rates: how many people get which decision, by group and by true label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lcifr.certification.population import Statement, decision_name
from lcifr.certification.verdicts import Audit, Certificates
from lcifr.models.model import Model
from lcifr.report.content import DecisionRow, Decisions

MOST = 6
"""Decisions with a column of their own; of more, the frequent ones have one and the others share the last."""
OTHERS = "any other"


def read_decisions(found: Audit | Certificates, statement: Statement, words: Mapping[str, str]) -> Decisions | None:
    """What a statement counts, in the order of the model's own labels; None where a model predicts numbers."""
    if not statement.decisions:
        return None
    known = _names(found.model, statement)
    often = sorted(known, key=lambda name: (-statement.decisions.get(name, 0), known.index(name)))
    names = known if len(known) <= MOST else [name for name in known if name in often[: MOST - 1]]

    def counts(of: Mapping[str, int]) -> tuple[int, ...]:
        own = tuple(of.get(name, 0) for name in names)
        return own if len(names) == len(known) else (*own, sum(of.values()) - sum(own))

    return Decisions(
        names=tuple(words.get(name, name) for name in names) + ((OTHERS,) if len(names) < len(known) else ()),
        people=counts(statement.decisions),
        groups=tuple(
            DecisionRow(attribute, value, counts(of))
            for attribute, values in statement.group_decisions.items()
            for value, of in values.items()
        ),
        labels=tuple(
            DecisionRow("", words.get(label, label), counts(statement.confusion[label]))
            for label in sorted(statement.confusion, key=lambda label: known.index(label))
        ),
    )


def _names(model: Model, statement: Statement) -> list[str]:
    """Every decision that the model can take, that was taken, or that would have been right."""
    labels: Any = range(model.rule.classes) if model.labels is None else model.labels
    names = [decision_name(label) for label in labels]
    return list(dict.fromkeys([*names, *statement.decisions, *statement.confusion]))
