"""Models on the page: what they are, what they decide about a person, and whether everyone similar is decided alike."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.certification.audit import audit_region
from lcifr.certification.population import decision_name
from lcifr.certification.subject import Subject
from lcifr.certification.verdicts import Audit
from lcifr.data import Individuals, Schema
from lcifr.data.files import json_value
from lcifr.display.text import quantity, short, visible
from lcifr.errors import LcifrError
from lcifr.models.description import description_beside
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.phi import Similarity
from lcifr.report.content import PersonRow
from lcifr.report.people import Shown, explore, show
from lcifr.workbench.people_tables import OpenTable, PeopleTables, read_person, stamp
from lcifr.workbench.work_folder import PageRequest, WorkFolder, command_line
from lcifr.workflows.diagnosis import described_words
from lcifr.workflows.people import PeopleTable, source_in_memory
from lcifr.workflows.results import read_consumer, read_producer
from lcifr.workflows.subjects import (
    FileOrigin,
    FolderOrigin,
    example_rows,
    open_model,
    people_of_reference,
    read_subject,
)

# Models of a folder, ready to decide: files of other libraries, and what lcifr learned.

NO_FORMULA = "same(all)"
"""φ where no formula is chosen: only the person themselves is similar, so that nothing needs proof."""
KEPT = 4
"""Models that are held in memory."""


@dataclass(frozen=True)
class ChosenModel(PageRequest):
    """Which model: a file, or the folders of a producer and a consumer; and the table whose columns it reads.

    tolerance : of a model that predicts numbers, how far two may be apart and count as the same.
    """

    model: str = ""
    producer: str = ""
    consumer: str = ""
    table: str = ""
    schema: str = ""
    tolerance: float | None = None

    def need_model(self) -> None:
        """Refuse a form in which no model is chosen."""
        if not self.model and not (self.producer and self.consumer):
            raise LcifrError("no model is chosen", fix="choose a model’s file, or what lcifr produced and consumed")


class Subjects:
    """Models of a folder, each read once until it changes."""

    def __init__(self, folder: WorkFolder, tables: PeopleTables) -> None:
        self._folder, self._tables, self._lock = folder, tables, threading.RLock()
        self._known: dict[tuple[object, ...], Subject] = {}

    def sentences(self, choice: ChosenModel) -> Iterator[str]:
        """What a model is, as ``lcifr model show`` says it."""
        choice.need_model()
        if choice.model:
            found = open_model(self._folder.file(choice.model), drafts=True)
            yield from found.outline().sentences()
            if (described := found.description) is not None:
                yield described_words(replace(described, source=Path(described.source).name))
            yield f"sha256 {found.sha256}"
            return
        yield from _learned(self._folder.folder(choice.producer), self._folder.folder(choice.consumer))

    def predicts_number(self, choice: ChosenModel) -> bool:
        """Whether the model predicts a number, so that a tolerance is needed."""
        return bool(choice.model) and open_model(self._folder.file(choice.model)).outline().is_number

    def schema(self, choice: ChosenModel) -> Schema:
        """What is to be known of a person: the schema of the table, or of what lcifr learned."""
        if choice.model:
            return self._table(choice).schema
        return self.subject(choice).schema

    def subject(self, choice: ChosenModel, formula: str = "") -> Subject:
        """The model with a formula's text, ready to decide and to be asked."""
        choice.need_model()
        if choice.model:
            model = self._folder.file(choice.model)
            described = description_beside(model)
            files = [model, self._folder.file(choice.table), *([] if described is None else [described])]
        else:
            files = [self._folder.folder(name) / "settings.json" for name in (choice.producer, choice.consumer)]
        table = self._table(choice) if choice.model else None
        key = (choice, formula, table, *(stamp(file) for file in files))
        with self._lock:
            if key not in self._known:
                while len(self._known) >= KEPT:
                    self._known.pop(next(iter(self._known)))
                self._known[key] = self._read(choice, table, formula)
            return self._known[key]

    def _table(self, choice: ChosenModel) -> OpenTable:
        if not choice.table:
            raise LcifrError(
                "a model’s file does not say what its columns mean", fix="choose a table with the columns of the model"
            )
        return self._tables.open(choice.table, choice.schema)

    def _read(self, choice: ChosenModel, table: OpenTable | None, formula: str) -> Subject:
        if table is None:
            return self._learned(choice, formula)
        file = open_model(self._folder.file(choice.model))
        if file.outline().is_number and choice.tolerance is None:
            raise LcifrError(
                f"{choice.model} predicts a number: how far apart may two predictions be and still count as the same?",
                fix="enter a tolerance, in the unit of the prediction",
            )
        similarity = Similarity(formula or NO_FORMULA, table.schema, table.encoding)
        source = source_in_memory(PeopleTable(table.frame, table.rows), table.schema)
        origin = FileOrigin(file, similarity, table.schema.target or "decision", table.name)
        return read_subject(origin, example_rows(source), tolerance=choice.tolerance)

    def _learned(self, choice: ChosenModel, formula: str) -> Subject:
        found = FolderOrigin.read(self._folder.folder(choice.producer), self._folder.folder(choice.consumer)).subject()
        return found.with_formula(Similarity(formula, found.similarity.schema, found.encoding)) if formula else found


def _learned(producer: Path, consumer: Path) -> Iterator[str]:
    """What lcifr learned, in sentences."""
    made, used = read_producer(producer), read_consumer(consumer)
    kind = "A sum of step functions, one for each attribute" if made.learner == "trees" else "A network"
    learned = sum(size for name, size in made.sizes.items() if name == "train")
    yield f"{kind}, learned by lcifr from {learned:,} people ({producer.name})."
    if made.scores:
        yield f"It reads {len(made.scores)} attributes: {', '.join(made.scores)}."
    if made.unread:
        yield f"It does not read: {', '.join(made.unread)}."
    decides = " or ".join(str(one) for one in used.classes) if used.classes else "a number"
    yield f"It decides {used.target}: {decides}."
    yield f"It was learned for this φ ({made.phi.source or 'a formula'}): {made.phi.english}"
    yield from made.warnings
    yield f"sha256 {made.encoder} (encoder), {used.model} (model)"


# The model desk: what a model is, its decision about a person, and whether everyone similar gets the same one.

PERSON = "person.csv"
"""What the command calls the table with one person."""


@dataclass(frozen=True)
class DecisionAsked(PageRequest):
    """A person to decide about, by attribute; formula : its text, for a verdict, or nothing. file : its file."""

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
        """What a model decides about a person, and with a formula whether everyone similar gets the same decision."""
        choice = asked.choice
        subject = self._subjects.subject(choice, asked.formula)
        person = read_person(asked.values, subject.schema)
        library = ""
        if subject.reference is not None:
            source = subject.reference.source
            library = str(json_value(np.asarray(source.predict(source.frame(person)))[0]))
        verdict = ask(subject, person) if asked.formula else None
        return PersonDecided(
            own_decision(subject.model, subject.model.function(subject.encoder.transform(person))),
            library,
            None if verdict is None else shown_verdict(verdict, subject),
            _audit_line(asked),
            person.to_pandas().to_csv(index=False),
        )


def ask(subject: Subject, person: Individuals) -> Audit:
    """The verdict about one person, as ``lcifr audit`` gives it for each person."""
    if subject.reference is not None:
        subject = subject.agreeing_among(people_of_reference(subject))
    predicted, region = subject.predicted(person), subject.region(person)
    return audit_region(subject, person, region, ("this person",), modular=False, predicted=predicted)


def shown_verdict(found: Audit, subject: Subject) -> Shown:
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
        raise LcifrError(f"“{name}” is not among the people shown", fix="choose one from the list")
    return found
