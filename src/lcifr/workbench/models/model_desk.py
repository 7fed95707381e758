"""The model desk: what a model is, what it decides about a person, and whether everybody similar is decided alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcifr.certification.audit import audit_region
from lcifr.certification.population import decision_name
from lcifr.certification.verdicts import Audit
from lcifr.data import Individuals
from lcifr.data.files import json_value
from lcifr.display.text import quantity, short, visible
from lcifr.errors import LcifrError
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.report.content import PersonRow
from lcifr.report.people import Shown, explore, show
from lcifr.runs.auditing.subject import AuditSubject
from lcifr.workbench.command_lines import command_line
from lcifr.workbench.models.subjects import ChosenModel, Subjects
from lcifr.workbench.people_tables import read_person

PERSON = "person.csv"
"""What the command calls the table with one person."""


@dataclass(frozen=True)
class DecisionAsked:
    """Whom to decide about: attributes by name; formula : its text, for a verdict, or nothing. file : its file."""

    choice: ChosenModel
    values: Mapping[str, Any]
    formula: str = ""
    file: str = ""


@dataclass(frozen=True)
class ShownChoice:
    """A model in sentences, and whether it needs a tolerance; the command that says the same."""

    sentences: tuple[str, ...]
    is_number: bool
    command: str


@dataclass(frozen=True)
class OwnDecision:
    """What is decided about one person; distance : how far the output is from another decision, in words."""

    decision: str
    distance: str


@dataclass(frozen=True)
class PersonDecided:
    """A decision; library : what the model's own library says. asked : the verdict, where there is a formula.

    table : the person as the text of a table, for the command.
    """

    own: OwnDecision
    library: str
    asked: Shown | None
    command: str
    table: str


class ModelDesk:
    """Models of a folder."""

    def __init__(self, subjects: Subjects) -> None:
        self._subjects = subjects

    def show(self, choice: ChosenModel) -> ShownChoice:
        """What a model is."""
        sentences = tuple(visible(one) for one in self._subjects.sentences(choice))
        command = command_line("model", "show", choice.model) if choice.model else f"cat {choice.producer}/result.json"
        return ShownChoice(sentences, self._subjects.predicts_number(choice), command)

    def decide(self, asked: DecisionAsked) -> PersonDecided:
        """What a model decides about somebody, and with a formula whether everybody similar is decided alike."""
        choice = asked.choice
        subject = self._subjects.subject(choice, asked.formula)
        person = read_person(asked.values, subject.schema)
        library = ""
        if subject.library is not None:
            source = subject.library.source
            library = str(json_value(np.asarray(source.predict(source.frame(person)))[0]))
        verdict = ask(subject, person) if asked.formula else None
        return PersonDecided(
            own_decision(subject.model, subject.model.function(subject.encoder.transform(person))),
            library,
            None if verdict is None else shown_verdict(verdict, subject),
            _audit_line(asked),
            person.to_pandas().to_csv(index=False),
        )


def ask(subject: AuditSubject, person: Individuals) -> Audit:
    """The verdict about one person: the very question that ``lcifr audit`` asks of everybody."""
    encoder = subject.encoder
    library = None if subject.library is None else subject.library.decisions_about(person)
    options: dict[str, Any] = {"modular": False, "arithmetic": subject.arithmetic, "library": library}
    return audit_region(encoder, subject.model, person, encoder.region(person), ("this person",), **options)


def shown_verdict(found: Audit, subject: AuditSubject) -> Shown:
    """A verdict about one person in the words of a report."""
    explorer = explore(found, subject.encoder, subject.encoder.similarity, None, {})
    return show(explorer.people[0], explorer)


def own_decision(model: Model, outputs: Any, labels: Mapping[str, str] | None = None) -> OwnDecision:
    """Outputs (1, outputs) of one person as a decision, and how far from another one.

    ``labels`` : what decisions are called.
    """
    rule, values = model.rule, np.asarray(outputs, np.float64)
    decision = json_value(model.decide(values)[0])
    if rule.kind is Kind.NUMBER:
        return OwnDecision(
            quantity(float(np.ravel(values)[0]), rule.tolerance or 0.0), "A predicted number has no threshold"
        )
    if rule.kind is Kind.SIGN:
        lead = abs(float(values[0, 0]) - rule.middle)
    else:
        group = rule.group_of
        first = int(values[0].argmax())
        lead = float(values[0, first] - np.max(values[0][group != group[first]], initial=-np.inf))
    shown = (labels or {}).get(decision_name(decision), str(decision))
    return OwnDecision(visible(shown), f"{short(lead)} from a different decision, in units of the output")


def _audit_line(asked: DecisionAsked) -> str:
    """``lcifr audit`` of a table with this person."""
    choice, phi = asked.choice, asked.file or "NAME.phi"
    if choice.model:
        about = {"model": choice.model, "phi": phi, "reference": choice.table, "schema": choice.schema}
        return command_line("audit", PERSON, **about, tolerance=choice.tolerance, out="OUT")
    return command_line("audit", choice.producer, choice.consumer, PERSON, phi=phi, out="OUT")


def row_of(people: tuple[PersonRow, ...], name: str) -> PersonRow:
    """A person of an explorer by their id."""
    found = next((one for one in people if one.id == name), None)
    if found is None:
        raise LcifrError(f"“{name}” is not among the people shown", fix="choose one of the list")
    return found
