"""Audits on the page: asked for, finished ones explored, and sweeps."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.verdicts import Audit, Verdict
from lcifr.data import Attribute, Categorical, Individuals
from lcifr.data.codec import from_json
from lcifr.display.charts import KINDS, SweepMap, ValueParts
from lcifr.display.scores import Freedom, person_sentence, signed
from lcifr.display.text import format_value, visible
from lcifr.errors import LcifrError
from lcifr.phi.core import PairedPeople
from lcifr.phi.lint import find_false_part
from lcifr.report.content import PersonRow, Report, Value
from lcifr.report.folder import read_folder
from lcifr.report.page import ReportRequest, write_report
from lcifr.report.people import Shown, show
from lcifr.report.sections import Document, put_into_words
from lcifr.workbench.models import ChosenModel, OwnDecision, own_decision, row_of
from lcifr.workbench.people_tables import read_person, stamp
from lcifr.workbench.work_folder import WorkFolder, command_line, command_words
from lcifr.workflows.auditing import AuditRequest
from lcifr.workflows.folders import Command, RunSettings
from lcifr.workflows.results import ModelSummary
from lcifr.workflows.sweeping import SweepResult, WorstPair

# Answers to the page about an audit: its people, one person, and a changed copy of a person.


@dataclass(frozen=True)
class PersonLine:
    """A person in the list."""

    id: str
    kind: str
    decision: str


@dataclass(frozen=True)
class OpenedAudit:
    """An audit in the words of its report, and its people; commands : that show and check the same."""

    audit: str
    document: Document
    formula: str
    people: tuple[PersonLine, ...]
    complete: bool
    commands: tuple[str, ...]


@dataclass(frozen=True)
class MovableAttribute:
    """An attribute that can be moved: within φ to what ``within`` allows, and beyond to what the schema allows.

    own : the person's value. low, high : of a number, the ends of its slider: those of the schema or of the people
    audited.
    """

    attribute: Attribute
    own: Value
    within: Freedom
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class AddedScore:
    """What one attribute adds to the output, and could add for a similar person."""

    name: str
    adds: float
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class ExploredPerson:
    """One person: verdict and words as in the report, what can be moved, and of an additive model the scores.

    other : the attributes of the counterexample; None where there is none.
    """

    shown: Shown
    other: Mapping[str, Value] | None
    movable: tuple[MovableAttribute, ...]
    scores: tuple[AddedScore, ...]
    score_words: str
    can_ask: bool


@dataclass(frozen=True)
class WhatIf:
    """A changed copy of a person of the audit.

    Parameters
    ----------
    similar : whether φ calls the two similar; None where that is unknown. failing : the part of φ that does not hold.
    same : whether both are decided alike. covered : whether the proof for the person speaks of this one.
    """

    own: OwnDecision
    same: bool
    similar: bool | None
    failing: str
    covered: bool
    sentence: str


# AuditPlan: an audit as the page asks for it, checked, and as the words of the command that does it.


@dataclass(frozen=True, kw_only=True)
class AuditPlan(ChosenModel):
    """An audit as the page's form has it, perhaps not complete yet; paths are relative to the folder, empty for none.

    With a producer, no table means the people that it held out, and no formula its own. The other fields are options of
    ``lcifr audit``.
    """

    out: str
    phi: str = ""
    reference: str = ""
    target: str = ""
    id_column: str = ""
    sample: int | None = None
    population: bool = False

    def words(self) -> list[str]:
        """The command after ``lcifr``."""
        folders = [] if self.model else [self.producer, self.consumer]
        people = [self.table] if self.table or self.model else []
        names = ("model", "phi", "schema", "reference", "target", "tolerance", "sample", "population")
        options = {name: getattr(self, name) for name in names}
        return command_words("audit", *folders, *people, **options, id=self.id_column, out=self.out)

    def check(self, folder: WorkFolder) -> None:
        """Refuse what is not there, or not below the folder, before anything is started."""
        self.need_model()
        if self.model and not (self.table and self.phi):
            missing = "table of people" if not self.table else "formula"
            raise LcifrError(f"no {missing} is chosen", fix=f"choose a {missing}")
        for name in (self.model, self.table, self.phi, self.schema, self.reference):
            if name:
                folder.file(name)
        for name in (self.producer, self.consumer):
            if name and not self.model:
                folder.folder(name)
        if folder.new(self.out).exists():
            raise LcifrError(f"{self.out} already exists", fix="choose another name for the result")

    @property
    def request(self) -> AuditRequest:
        """What the command asks the run for."""
        asked = {name: value for name, value in asdict(self).items() if value not in ("", None)}
        return from_json(AuditRequest, asked)

    @classmethod
    def of_settings(cls, settings: RunSettings, out: str) -> AuditPlan | None:
        """The plan whose command made these settings; None where it was asked for something else.

        Only what a plan can say is ever started from the page: anyone may have written the settings file.
        """
        if settings.command != "audit":
            return None
        known = {one.name for one in fields(cls)} - {"out"}
        try:
            given = {name: value for name, value in settings.arguments.items() if name in known and value is not None}
            plan = cls(out=out, **given)
            again = RunSettings.of(Command.of("audit", plan.request), {}).arguments
        except (AttributeError, TypeError, ValueError, LcifrError):
            return None
        return plan if again == settings.arguments else None


# The explorer of a finished audit: its people, one person, and "what if" questions about changed copies.


@dataclass(frozen=True, eq=False)
class _OpenAudit:
    report: Report

    @property
    def verdicts(self) -> Audit:
        if not isinstance(self.report.found, Audit):
            raise LcifrError("this folder contains a consumer's certificates, but no people", fix="choose an audit")
        return self.report.found

    @property
    def encoder(self) -> FrozenEncoder:
        if self.report.encoder is None:
            raise LcifrError(
                "φ ranks people who are not in this folder, so “what if” does not work",
                fix="audit with a formula without ranks",
            )
        return self.report.encoder


class AuditExplorer:
    """Audits of a folder; the last one is held in memory."""

    def __init__(self, folder: WorkFolder) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._known: dict[tuple[object, ...], _OpenAudit] = {}

    def open(self, audit: str) -> OpenedAudit:
        """What an audit found, once its folder is known to be as it was written."""
        report = self._read(audit).report
        people = tuple(
            PersonLine(visible(one.id), one.verdict.lower(), visible(one.decision)) for one in report.explorer.people
        )
        commands = [command_line("report", audit)]
        if report.about.checked is not None:
            commands.append(command_line("check", f"{audit}/bundle"))
        document = replace(put_into_words(report), sections=())
        formula, complete = report.promise.text or "", report.explorer.complete
        return OpenedAudit(audit, document, formula, people, complete, tuple(commands))

    def person(self, audit: str, name: str) -> ExploredPerson:
        """One person of an audit."""
        found = self._read(audit)
        explorer = found.report.explorer
        one = row_of(explorer.people, name)
        people = found.verdicts.people
        score = one.score
        added = () if score is None else score.contributions
        return ExploredPerson(
            show(one, explorer),
            one.other,
            tuple(_movable(attribute, one, people) for attribute in people.schema),
            tuple(
                AddedScore(visible(term.attribute), term.adds, term.low, term.high, signed(term.adds)) for term in added
            ),
            "" if score is None else person_sentence(score),
            found.report.encoder is not None,
        )

    def what_if(self, audit: str, name: str, values: Mapping[str, Any]) -> WhatIf:
        """Whether a changed copy of a person is similar to them, its decision, and whether the proof covers it."""
        found = self._read(audit)
        encoder, verdicts = found.encoder, found.verdicts
        row = verdicts.ids.index(row_of(found.report.explorer.people, name).id)
        person, other = verdicts.people.take([row]), read_person(values, verdicts.people.schema)
        outputs = verdicts.model.function(encoder.transform(other))
        decided = verdicts.model.decide(np.asarray(outputs, np.float64))
        same = not bool(verdicts.model.differ(verdicts.prediction[[row]], decided)[0])
        similar = bool(encoder.similarity.holds(person, other)[0])
        covered = similar and verdicts.verdict[row] == Verdict.CERTIFIED
        if covered and not same:
            raise LcifrError(
                f"the proof for {name} covers this person, and the model decides otherwise: one of the two is wrong",
                fix="please report it with this audit’s folder, and do not rely on the audit",
            )
        own = own_decision(verdicts.model, outputs, found.report.about.decisions)
        return WhatIf(
            own, same, similar, _failing(found, person, other, similar), covered, _sentence(found, row, similar, same)
        )

    def write_page(self, audit: str) -> str:
        """The report as a page in the audit's folder; its name."""
        made = write_report(ReportRequest(folder=self._folder.folder(audit)))
        return f"{audit}/{made.file.name}"

    def _read(self, audit: str) -> _OpenAudit:
        path = self._folder.folder(audit)
        key = (audit, stamp(path / "settings.json"), stamp(path / "result.json"))
        with self._lock:
            if key not in self._known:
                self._known = {key: _OpenAudit(read_folder(path))}
            return self._known[key]


def _failing(found: _OpenAudit, person: Individuals, other: Individuals, similar: bool) -> str:
    """The part of φ that does not hold for two people."""
    if similar:
        return ""
    similarity = found.encoder.similarity
    span = find_false_part(similarity.core, PairedPeople(person, other))
    text = similarity.text if span is None else similarity.text[span.start : span.end]
    return visible(" ".join(text.split()))


def _sentence(found: _OpenAudit, row: int, similar: bool, same: bool) -> str:
    verdict = found.verdicts.verdict[row]
    alike = "The model makes the same decision here" if same else "The model makes a different decision here"
    if not similar:
        return f"Beyond φ: this person is not similar, so no proof covers them. {alike}."
    if verdict == Verdict.CERTIFIED:
        return "Within φ, and covered by the proof: everyone similar gets the same decision."
    if not same:
        return "Within φ, but with a different decision: this is a counterexample."
    return f"Within φ, but there is no proof for this person. {alike}; someone else similar may get a different one."


def _movable(attribute: Attribute, one: PersonRow, people: Individuals) -> MovableAttribute:
    own, within = one.values[attribute.name], one.may.get(attribute.name)
    if isinstance(attribute, Categorical):
        return MovableAttribute(attribute, own, within or Freedom(values=(str(own),)))
    numbers, within = people.number(attribute.name), within or Freedom(intervals=((float(own), float(own)),))
    ends = [end for interval in within.intervals for end in interval]
    low = attribute.lower if attribute.lower is not None else min(float(numbers.min()), *ends)
    high = attribute.upper if attribute.upper is not None else max(float(numbers.max()), *ends)
    return MovableAttribute(attribute, own, within, low, high)


# Sweeps on the page: shares of everyone who can exist, their map, and the pairs that are furthest apart.


@dataclass(frozen=True)
class OpenedSweep:
    """A sweep in words, and its map.

    Parameters
    ----------
    standings : every status of a cell, with the class that colours it. lines : shares and universe, in words.
    worst : pairs in a line each.
    """

    sweep: str
    lines: tuple[str, ...]
    formula: str
    standings: tuple[tuple[str, str], ...]
    map: SweepMap
    worst: tuple[str, ...]
    commands: tuple[str, ...]


def open_sweep(folder: WorkFolder, name: str) -> OpenedSweep:
    """What a sweep found, once its cells are known to be those that were written."""
    result = SweepResult.read(folder.folder(name))
    checked = () if result.checked is None else (str(result.checked),)
    commands = [command_line("report", name)]
    if result.checked is not None:
        commands.append(command_line("check", f"{name}/bundle"))
    return OpenedSweep(
        name,
        (*str(result.sweep).splitlines(), *result.people_lines, *checked),
        result.model.phi.text,
        tuple(KINDS.items()),
        _shown_map(result.sweep.map()),
        tuple(visible(_pair(pair, result.model)) for pair in result.worst),
        tuple(commands),
    )


def _shown_map(found: SweepMap) -> SweepMap:
    """With units beside the names of attributes, and no hidden characters in names and values."""
    strips, grid = tuple(replace(strip, bins=_shown(strip.bins)) for strip in found.strips), found.grid
    return SweepMap(strips, grid and replace(grid, across=_shown(grid.across), down=_shown(grid.down)))


def _shown(bins: ValueParts) -> ValueParts:
    name = f"{bins.attribute} ({bins.unit})" if bins.unit else bins.attribute
    return replace(bins, attribute=visible(name), labels=tuple(map(visible, bins.labels)))


def _pair(pair: WorstPair, model: ModelSummary) -> str:
    differs = "; ".join(
        f"{name} {format_value(own)} → {format_value(other)}" for name, (own, other) in pair.differs.items()
    )
    alike = ", ".join(f"{name} {format_value(value)}" for name, value in pair.alike.items())
    own, other = model.shown(pair.decision), model.shown(pair.other_decision)
    return f"{differs}: the decisions are {own} and {other}. Both: {alike or 'nothing'}"
