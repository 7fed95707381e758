"""The explorer of a finished audit: its people, one of them, and what if somebody were a little different."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lcifr.certification.handover import FrozenEncoder
from lcifr.certification.verdicts import Audit, Verdict
from lcifr.data import Categorical, Individuals, Schema
from lcifr.display.scores import person_sentence, signed
from lcifr.display.text import visible
from lcifr.errors import LcifrError
from lcifr.phi.core import PairedPeople
from lcifr.phi.lint import find_false_part
from lcifr.report.content import PersonRow, Report
from lcifr.report.folder import FolderContent, read_content
from lcifr.report.page import ReportRequest, write_report
from lcifr.report.people import show
from lcifr.report.sections import put_into_words
from lcifr.workbench.audits.answers import AddedScore, ExploredPerson, MovableAttribute, OpenedAudit, PersonLine, WhatIf
from lcifr.workbench.command_lines import command_line
from lcifr.workbench.models.model_desk import own_decision, row_of
from lcifr.workbench.people_tables import read_person, stamp
from lcifr.workbench.work_folder import WorkFolder


@dataclass(frozen=True, eq=False)
class _OpenAudit:
    content: FolderContent
    report: Report

    @property
    def verdicts(self) -> Audit:
        if not isinstance(self.content.verdicts, Audit):
            raise LcifrError("this folder contains a consumer's certificates, but no people", fix="choose an audit")
        return self.content.verdicts

    @property
    def encoder(self) -> FrozenEncoder:
        if self.content.encoder is None:
            raise LcifrError(
                "φ ranks people who are not in this folder, so “what if” does not work",
                fix="audit with a formula without ranks",
            )
        return self.content.encoder


class AuditExplorer:
    """Audits of a folder; the last one is held in memory."""

    def __init__(self, folder: WorkFolder) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._known: dict[tuple[object, ...], _OpenAudit] = {}

    def open(self, audit: str) -> OpenedAudit:
        """What an audit found, once its folder is known to be as it was written."""
        report = self._read(audit).report
        said = put_into_words(report)
        head = said.headline
        people = tuple(
            PersonLine(visible(one.id), one.verdict.lower(), visible(one.decision)) for one in report.explorer.people
        )
        commands = [command_line("report", audit)]
        if report.checked is not None:
            commands.append(command_line("check", f"{audit}/bundle"))
        return OpenedAudit(
            audit,
            said.title,
            said.subtitle,
            head.figure,
            head.words,
            head.bound,
            head.parts,
            said.facts,
            tuple((one.title, one.text) for one in report.cautions),
            report.promise.text or "",
            people,
            report.explorer.complete,
            tuple(commands),
        )

    def person(self, audit: str, name: str) -> ExploredPerson:
        """One person of an audit."""
        found = self._read(audit)
        explorer = found.report.explorer
        one = row_of(explorer.people, name)
        schema, people = found.verdicts.people.schema, found.verdicts.people
        score = one.score
        added = () if score is None else score.contributions
        return ExploredPerson(
            show(one, explorer),
            one.other,
            tuple(_movable(attribute, one, schema, people) for attribute in schema.names),
            tuple(
                AddedScore(visible(term.attribute), term.adds, term.low, term.high, signed(term.adds)) for term in added
            ),
            "" if score is None else person_sentence(score),
            found.content.encoder is not None,
        )

    def what_if(self, audit: str, name: str, values: Mapping[str, Any]) -> WhatIf:
        """Whether somebody else is similar to a person, how they are decided, and whether the proof covers them."""
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
        own = own_decision(verdicts.model, outputs, found.content.about.decisions)
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
                content = read_content(path)
                self._known = {key: _OpenAudit(content, content.report())}
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


def _movable(name: str, one: PersonRow, schema: Schema, people: Individuals) -> MovableAttribute:
    attribute, own, free = schema[name], one.values[name], one.may.get(name)
    if isinstance(attribute, Categorical):
        allowed = free.values if free is not None else (str(own),)
        return MovableAttribute(name, "", False, attribute.values, allowed, 0.0, 0.0, (), own)
    numbers = people.number(name)
    within = free.intervals if free is not None else ((float(own), float(own)),)
    ends = [end for interval in within for end in interval]
    low = attribute.lower if attribute.lower is not None else min(float(numbers.min()), *ends)
    high = attribute.upper if attribute.upper is not None else max(float(numbers.max()), *ends)
    return MovableAttribute(name, attribute.unit or "", attribute.integer, (), (), low, high, within, own)
