"""The producer's and the consumer's folders, read together and only if they belong together."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, did_you_mean
from lcifr.runs.formulas import describe_formula, read_formula
from lcifr.runs.learning import classes_of
from lcifr.runs.people.source import PeopleSource, sample_people, scan_people, source_in_memory
from lcifr.runs.people.tables import HELD_OUT, TRAIN, DatasetNotes, PeopleTable
from lcifr.runs.results import read_consumer, read_producer

if TYPE_CHECKING:
    from lcifr.certification.bundles.hashes import Hashes
    from lcifr.certification.encoder import FrozenEncoder
    from lcifr.data import Individuals, Schema
    from lcifr.estimators import FairEncoder
    from lcifr.estimators.base_head import Head
    from lcifr.models.model import Model
    from lcifr.runs.auditing.result import ModelSummary

ENCODER, MODEL, FORMULA, SCHEMA = "encoder.safetensors", "model.safetensors", "similar.phi", "schema.toml"


@dataclass(frozen=True, eq=False)
class Parties:
    """The whole model h ∘ f with its φ.

    Parameters
    ----------
    fitted : the producer's encoder as it was trained. encoder : with the φ that is asked about.
    producer, consumer : their folders. target, producer_target : what each of them predicted.
    data : what the producer knows of a dataset by name, to be said beside every figure.
    """

    fitted: FairEncoder
    encoder: FrozenEncoder
    head: Head
    producer: Path
    consumer: Path
    target: str
    producer_target: str
    task: str
    tolerance: float | None
    trained_on: int
    data: DatasetNotes | None = None

    @property
    def schema(self) -> Schema:
        return self.encoder.encoding.schema

    @property
    def is_unaware(self) -> bool:
        """Whether the encoder is the unaware baseline: learned for the label alone, without what φ leaves free."""
        return bool(self.fitted.tie_free and self.fitted.gamma == 0)

    @cached_property
    def model(self) -> Model:
        """What decides on z, as proofs see it."""
        from lcifr.models.load import read_model

        return read_model(self.head, tolerance=self.tolerance)

    @cached_property
    def hashes(self) -> Hashes:
        """What all verdicts must be about."""
        from lcifr.certification.bundles.hashes import Hashes

        return Hashes.of(self.encoder, self.model)

    def copy_into(self, folder: Path) -> None:
        """What a reader of the results needs of both folders."""
        shutil.copyfile(self.producer / ENCODER, folder / ENCODER)
        shutil.copyfile(self.consumer / MODEL, folder / MODEL)
        (folder / FORMULA).write_text(self.encoder.similarity.text, encoding="utf-8")
        self.schema.save(folder / SCHEMA)

    def training(self, producer: Path) -> PeopleTable | None:
        """Whom the producer learned from; None where the consumer's label is another one."""
        return _stored(producer, TRAIN, self.schema) if self.target == self.producer_target else None

    def decide(self, people: Individuals) -> Any:
        """(people,) decisions in the model's own labels."""

        if not len(people):
            return []
        return self.model.predict(self.encoder.transform(people))

    def check_groups(self, asked: tuple[str, ...] | None) -> None:
        """Refuse subgroups by what is no attribute, before anything is proved."""
        for name in asked or ():
            if name not in self.schema:
                raise LcifrError(f'--by: there is no attribute "{name}".{did_you_mean(name, self.schema.names)}')

    def groups(self, people: Individuals, asked: tuple[str, ...] | None) -> dict[str, Any]:
        """Subgroups by category: those that were asked for, or those that φ leaves free."""
        from lcifr.language.constrained_attributes import free_attributes, sometimes_free_attributes

        formula = self.encoder.similarity.formula
        free = {*free_attributes(formula, self.schema), *sometimes_free_attributes(formula, self.schema)}
        wanted = asked or [one.name for one in self.schema.categorical if one.name in free]
        return {name: people.to_pandas()[name].to_numpy() for name in wanted}

    def summary(self) -> ModelSummary:
        """What is said of both in every result."""
        from lcifr.runs.auditing.result import FormulaSummary, ModelHashes, ModelSummary

        similarity, encoder = self.encoder.similarity, self.encoder
        is_producers = similarity.hash == self.fitted.similarity_.hash
        return ModelSummary(
            target=self.target,
            task=self.task,
            classes=tuple(classes_of(self.head)),
            tolerance=self.tolerance,
            trained_on=self.trained_on,
            data=None if self.data is None else asdict(self.data),
            phi=FormulaSummary(**describe_formula(similarity), is_producers=is_producers),
            hashes=ModelHashes(encoder.network.hash, self.head.network_.hash, similarity.hash, encoder.encoding.hash),
        )


def read_parties(producer: Path, consumer: Path, phi: str | None = None) -> Parties:
    """Both folders; refused where the consumer's model was learned from another encoder."""
    from lcifr.certification.encoder import freeze
    from lcifr.runs.learning import load_encoder, load_model

    made, used = read_producer(producer), read_consumer(consumer)
    fitted = load_encoder(producer)
    head = load_model(consumer / MODEL, used.task)
    refuse_mixed(producer, "encoder", made.encoder, fitted.network_.hash)
    refuse_mixed(producer, "φ", made.phi.hash, fitted.similarity_.hash)
    refuse_mixed(consumer, "model", used.model, head.network_.hash)
    if used.provenance.weights != fitted.network_.hash:
        raise LcifrError(
            f"the model in {consumer} was learned on the hand-over of another encoder than the one in {producer}",
            fix="give the folders that belong together, or run `lcifr consume` on this producer's hand-over",
        )
    similarity = fitted.similarity_ if phi is None else _other_formula(phi, fitted)
    return Parties(
        fitted,
        replace(freeze(fitted), similarity=similarity),
        head,
        producer,
        consumer,
        used.target,
        made.target,
        used.task,
        used.tolerance,
        used.trained_on,
        made.data,
    )


def refuse_mixed(folder: Path, what: str, said: Any, found: str) -> None:
    """Files of two runs in one folder: what its result says of itself is not what is there."""
    if said != found:
        raise LcifrError(
            f"{folder}: the {what} in it is not the one that its result.json is about: the hashes differ",
            fix="give the folder as it was written, or make it again",
        )


def _other_formula(phi: str, fitted: FairEncoder) -> Any:
    from lcifr.runs.events import note
    from lcifr.similarity import Similarity

    text, source = read_formula(phi)
    similarity = Similarity(text, fitted.schema_, fitted.encoding_, source=source)
    same = "the very φ that the producer used" if similarity.hash == fitted.similarity_.hash else "not the producer's φ"
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
) -> PeopleSource:
    """The people of a table or some of them, or those whom the producer held out; labels where they are known."""
    from dataclasses import replace

    if table is None:
        if sample is not None:
            raise LcifrError("--sample draws people of a TABLE, and there is none", fix="name it, or leave it out")
        stored = _stored(producer, HELD_OUT, parties.schema)
        return source_in_memory(
            stored if parties.target == parties.producer_target else PeopleTable(stored.X, stored.ids), parties.schema
        )
    known = replace(parties.schema, target=parties.target) if parties.target not in parties.schema else parties.schema
    return (
        scan_people(table, known, id_column, work)
        if sample is None
        else sample_people(table, known, id_column, sample, seed)
    )


def _stored(producer: Path, name: str, schema: Schema) -> PeopleTable:
    """People whom the producer keeps, with ids and labels."""
    import pandas as pd

    from lcifr.artifacts.folder import read_json
    from lcifr.data import read_frame
    from lcifr.runs.people.labels import find_labels

    file = producer / "people" / f"{name}.parquet"
    if not file.is_file():
        raise LcifrError(f"{file} is not there", fix="give the producer's whole folder, or a TABLE of people")
    X = read_frame(file).select(list(schema.names))
    ids = read_json(producer / "handover" / name / "ids.json")
    column = pd.read_csv(producer / "labels.csv", nrows=0).columns
    labels = find_labels(producer / "labels.csv", ids, str(column[1]), str(column[0]), learned=False)
    return PeopleTable(X, tuple(ids), labels.values)
