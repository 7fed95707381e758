"""The producer's and the consumer's folders, read together and only if they belong together."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.network import choose_for
from lcifr.runs.auditing.subject import AuditSubject
from lcifr.runs.folders.summaries import (
    DatasetNotes,
    classes_of,
    read_consumer,
    read_producer,
    read_saved_encoder,
    read_saved_head,
)
from lcifr.runs.formulas import read_formula
from lcifr.runs.people.source import PeopleSource, PeopleTable, source_in_memory
from lcifr.runs.people.tables import sample_people, scan_people
from lcifr.runs.people.train_test import HELD_OUT, TRAIN

if TYPE_CHECKING:
    from lcifr.certification.handover import FrozenEncoder
    from lcifr.certification.saved_models import SavedHead, SavedProducer
    from lcifr.data import Schema
    from lcifr.models.model import Model
    from lcifr.phi import Similarity
    from lcifr.phi.lint import Finding
    from lcifr.runs.auditing.result import ModelSummary
    from lcifr.runs.executors.crew import Workers

ENCODER, MODEL, FORMULA, SCHEMA = "encoder.safetensors", "model.safetensors", "similar.phi", "schema.toml"


@dataclass(frozen=True, eq=False)
class Parties(AuditSubject):
    """The whole model h ∘ f with its φ.

    Parameters
    ----------
    saved : the producer's encoder as it was trained. encoder : with the φ that is asked about.
    head : the consumer's model as it was trained.
    producer, consumer : their folders. target, producer_target : what each of them predicted.
    learned_from : people whom the producer learned from, and whose standard deviations φ speaks of.
    data : what the producer knows of a dataset by name, to be said beside every figure.
    english, findings : what the producer's φ says, and what lint said to them of it, or None.
    """

    saved: SavedProducer
    encoder: FrozenEncoder
    head: SavedHead
    producer: Path
    consumer: Path
    target: str
    producer_target: str
    task: str
    tolerance: float | None
    trained_on: int | None
    english: str
    arithmetic: Arithmetic
    learned_from: int
    data: DatasetNotes | None = None
    findings: tuple[Finding, ...] | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether the consumer's model was trained elsewhere, and nobody knows on whom."""
        return self.trained_on is None

    @property
    def is_unaware(self) -> bool:
        """Whether the encoder is the unaware baseline: learned for the label alone, without what φ leaves free."""
        return self.saved.is_unaware

    @property
    def is_producers_formula(self) -> bool:
        """Whether the φ that is asked about is the one that the encoder was trained for."""
        return self.encoder.similarity.hash == self.saved.similarity.hash

    @cached_property
    def model(self) -> Model:
        """What decides on z, as proofs see it."""
        return self.head.model.agreeing(tolerance=self.tolerance)

    def copy_into(self, folder: Path) -> None:
        """What a reader of the results needs of both folders."""
        shutil.copyfile(self.producer / ENCODER, folder / ENCODER)
        shutil.copyfile(self.consumer / MODEL, folder / MODEL)
        (folder / FORMULA).write_text(self.encoder.similarity.text, encoding="utf-8")
        self.schema.save(folder / SCHEMA)

    def training(self, producer: Path) -> PeopleTable | None:
        """Whom the producer learned from; None where the consumer's label is another one."""
        return _stored(producer, TRAIN, self.schema) if self.target == self.producer_target else None

    def summary(self) -> ModelSummary:
        """What is said of both in every result."""
        from lcifr.certification.population import scale_sources
        from lcifr.runs.auditing.result import FormulaSummary, ModelHashes, ModelSummary

        similarity, encoder, is_producers = self.encoder.similarity, self.encoder, self.is_producers_formula
        english = self.english if is_producers else similarity.explain()
        model = self.head.model.function
        return ModelSummary(
            target=self.target,
            task=self.task,
            classes=classes_of(self.head.model),
            tolerance=self.tolerance,
            trained_on=self.trained_on,
            arithmetic=str(self.arithmetic),
            data=self.data,
            phi=FormulaSummary(similarity.text, english, similarity.hash, similarity.source, is_producers),
            hashes=ModelHashes(encoder.function.hash, model.hash, similarity.hash, encoder.encoding.hash),
            scales=scale_sources(similarity, "the producer's training people", self.learned_from),
        )


def read_parties(producer: Path, consumer: Path, phi: str | None = None, arithmetic: str | None = None) -> Parties:
    """Both folders, computed in an arithmetic; refused where the consumer's model was learned from another encoder.

    ``arithmetic`` : None for float64, and for what a consumer's trees from elsewhere are added up in.
    """
    from lcifr.certification.handover import FrozenEncoder

    made, used = read_producer(producer), read_consumer(consumer)
    saved, head = read_saved_encoder(producer), read_saved_head(consumer, used.task)
    refuse_mixed(producer, "encoder", made.encoder, saved.function.hash)
    refuse_mixed(producer, "φ", made.phi.hash, saved.similarity.hash)
    refuse_mixed(consumer, "model", used.model, head.model.function.hash)
    if used.provenance.weights != saved.function.hash:
        raise LcifrError(
            f"the model in {consumer} was learned on the hand-over of another encoder than the one in {producer}",
            fix="give the folders that belong together, or run `lcifr consume` on this producer's hand-over",
        )
    similarity = saved.similarity if phi is None else _other_formula(phi, saved.similarity)
    return Parties(
        saved,
        FrozenEncoder(saved.function, similarity, saved.whole_numbers),
        head,
        producer,
        consumer,
        used.target,
        made.target,
        used.task,
        used.tolerance,
        used.trained_on,
        made.phi.english,
        choose_for(arithmetic, (saved.function, *head.model.computed)),
        made.sizes[TRAIN],
        made.data,
        made.findings,
    )


def refuse_mixed(folder: Path, what: str, said: Any, found: str) -> None:
    """Files of two runs in one folder: what its result says of itself is not what is there."""
    if said != found:
        raise LcifrError(
            f"{folder}: the {what} in it is not the one that its result.json is about: the hashes differ",
            fix="give the folder as it was written, or make it again",
        )


def _other_formula(phi: str, producers: Similarity) -> Similarity:
    from lcifr.phi import Similarity
    from lcifr.runs.events import note

    text, source = read_formula(phi)
    similarity = Similarity(text, producers.schema, producers.encoding, source=source)
    same = "the very φ that the producer used" if similarity.hash == producers.hash else "not the producer's φ"
    note(f"{phi} is {same}")
    return similarity


def open_people(
    parties: Parties,
    producer: Path,
    table: Path | None,
    id_column: str | None,
    work: Path,
    sample: int | None = None,
    seed: int = 0,
    workers: Workers = None,
) -> PeopleSource:
    """The people of a table or some of them, or those whom the producer held out; labels where they are known."""

    if table is None:
        if sample is not None:
            raise LcifrError("--sample draws people of a TABLE, and there is none", fix="name it, or leave it out")
        stored = _stored(producer, HELD_OUT, parties.schema)
        return source_in_memory(
            stored if parties.target == parties.producer_target else PeopleTable(stored.X, stored.ids), parties.schema
        )
    known = replace(parties.schema, target=parties.target) if parties.target not in parties.schema else parties.schema
    return (
        scan_people(table, known, id_column, work, workers=workers)
        if sample is None
        else sample_people(table, known, id_column, sample, seed)
    )


def _stored(producer: Path, name: str, schema: Schema) -> PeopleTable:
    """People whom the producer keeps, with ids and labels."""
    from lcifr.data import read_frame
    from lcifr.data.files import read_json
    from lcifr.data.ingest import column_names
    from lcifr.runs.people.loading import LabelTable

    file = producer / "people" / f"{name}.parquet"
    if not file.is_file():
        raise LcifrError(f"{file} is not there", fix="give the producer's whole folder, or a TABLE of people")
    X = read_frame(file).select(list(schema.names))
    ids = read_json(producer / "handover" / name / "ids.json")
    path = producer / "labels.csv"
    id_column, target = column_names(path)
    labels = LabelTable.read(path, target, id_column).find(ids, learned=False)
    return PeopleTable(X, tuple(ids), labels.values)
