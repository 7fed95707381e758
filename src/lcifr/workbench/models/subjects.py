"""Models of a folder, ready to decide: files of other libraries, and what lcifr learned."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Schema
from lcifr.errors import LcifrError
from lcifr.models.description import description_beside
from lcifr.phi import Similarity
from lcifr.runs.auditing.parties import Parties, read_parties
from lcifr.runs.auditing.subject import AuditSubject
from lcifr.runs.folders.summaries import read_consumer, read_producer
from lcifr.runs.models.opening import open_model
from lcifr.runs.models.preparing import example_rows
from lcifr.runs.models.showing import show_model
from lcifr.runs.models.subject import read_subject
from lcifr.runs.people.source import PeopleTable, source_in_memory
from lcifr.workbench.people_tables import OpenTable, PeopleTables, stamp
from lcifr.workbench.work_folder import WorkFolder

NO_FORMULA = "same(all)"
"""Who is asked about where no formula is chosen: nobody but the person, for whom nothing needs proof."""
KEPT = 4
"""Models that are held in memory."""


@dataclass(frozen=True)
class ChosenModel:
    """Which model: a file, or the folders of a producer and a consumer; and the table whose columns it reads.

    tolerance : of a model that predicts numbers, how far two may be apart and count as the same.
    """

    model: str = ""
    producer: str = ""
    consumer: str = ""
    table: str = ""
    schema: str = ""
    tolerance: float | None = None

    def __post_init__(self) -> None:
        if not self.model and not (self.producer and self.consumer):
            raise LcifrError("no model is chosen", fix="choose a model’s file, or what lcifr produced and consumed")


class Subjects:
    """Models of a folder, each read once until it changes."""

    def __init__(self, folder: WorkFolder, tables: PeopleTables) -> None:
        self._folder, self._tables, self._lock = folder, tables, threading.RLock()
        self._known: dict[tuple[object, ...], AuditSubject] = {}

    def sentences(self, choice: ChosenModel) -> Iterator[str]:
        """What a model is, as ``lcifr model show`` says it."""
        if choice.model:
            found = show_model(self._folder.file(choice.model))
            yield from found.outline.sentences()
            if found.description:
                yield replace(found, description=Path(found.description).name).described_words
            yield f"sha256 {found.sha256}"
            return
        yield from _learned(self._folder.folder(choice.producer), self._folder.folder(choice.consumer))

    def predicts_number(self, choice: ChosenModel) -> bool:
        """Whether somebody has to say how far two predictions may be apart."""
        return bool(choice.model) and open_model(self._folder.file(choice.model)).outline().is_number

    def schema(self, choice: ChosenModel) -> Schema:
        """What is to be known of a person: the schema of the table, or of what lcifr learned."""
        if choice.model:
            return self._table(choice).schema
        return self.subject(choice).schema

    def subject(self, choice: ChosenModel, formula: str = "") -> AuditSubject:
        """The model with a formula's text, ready to decide and to be asked."""
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
            raise LcifrError("a model’s file does not say what its columns mean", fix="choose a table of such people")
        return self._tables.open(choice.table, choice.schema)

    def _read(self, choice: ChosenModel, table: OpenTable | None, formula: str) -> AuditSubject:
        if table is None:
            return self._parties(choice, formula)
        file = open_model(self._folder.file(choice.model))
        if file.outline().is_number and choice.tolerance is None:
            raise LcifrError(
                f"{choice.model} predicts a number: how far apart may two predictions be and still count as the same?",
                fix="enter a tolerance, in the unit of the prediction",
            )
        similarity = Similarity(formula or NO_FORMULA, table.schema, table.encoding)
        source = source_in_memory(PeopleTable(table.frame, table.rows), table.schema)
        return read_subject(
            file,
            example_rows(source),
            similarity,
            target=table.schema.target or "decision",
            reference=table.name,
            tolerance=choice.tolerance,
        )

    def _parties(self, choice: ChosenModel, formula: str) -> Parties:
        found = read_parties(self._folder.folder(choice.producer), self._folder.folder(choice.consumer))
        if not formula:
            return found
        similarity = Similarity(formula, found.saved.similarity.schema, found.saved.similarity.encoding)
        return replace(found, encoder=FrozenEncoder(found.saved.function, similarity, found.saved.whole_numbers))


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
