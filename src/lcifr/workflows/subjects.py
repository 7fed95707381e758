"""What a command is about: a model with φ, encoding and arithmetic, from a model file or from folders of lcifr."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.subject import Origin
from lcifr.data.codec import Arrays
from lcifr.data.files import json_value
from lcifr.data.frames import text_of
from lcifr.errors import ArtefactError, LcifrError, TableError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import description_beside
from lcifr.phi import Similarity
from lcifr.workflows.baselines import BaselineSettings, beaten_by
from lcifr.workflows.events import note, step, warn
from lcifr.workflows.labels import compare_with_labels, refuse_backwards
from lcifr.workflows.options import DeclaredByOption
from lcifr.workflows.people import (
    HELD_OUT,
    LEARNED,
    TRAIN,
    DatasetNotes,
    PeopleSource,
    PeopleTable,
    fit_similarity,
    read_formula,
    sample_people,
    scan_people,
    source_in_memory,
)
from lcifr.workflows.producing import load_encoder
from lcifr.workflows.results import (
    classes_of,
    decisions_of,
    learned_warnings,
    name_decisions,
    read_consumer,
    read_producer,
    read_saved_encoder,
    read_saved_head,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.certification.handover import FrozenEncoder
    from lcifr.certification.population import Statement
    from lcifr.certification.saved_models import SavedHead, SavedProducer
    from lcifr.certification.subject import Subject
    from lcifr.data import Individuals, Schema
    from lcifr.models.loading import ModelFile
    from lcifr.models.model import Model
    from lcifr.models.source import ModelOutline
    from lcifr.phi.lint import Finding
    from lcifr.workflows.executors import Workers
    from lcifr.workflows.options import ModelOptions, SubjectOptions
    from lcifr.workflows.people import LoadedTable
    from lcifr.workflows.results import ModelSummary


# Where a subject comes from: a model file that was read for the people of a table, or two folders of lcifr.

MODEL, DESCRIPTION, FORMULA, SCHEMA = "model", "model.toml", "similar.phi", "schema.toml"
SCALES, EXAMPLE = "scales.json", "model-input.parquet"


class RunOrigin(Origin):
    """Where the subject of a command comes from: what a command does differently for a model file and for folders."""

    @property
    def libraries(self) -> Mapping[str, str]:
        """Versions of the libraries that read the model and answer for it."""
        return {}

    @property
    def held_out(self) -> bool:
        """Whether there are people whom the model was not trained on, to audit where no table is given."""
        return False

    @abstractmethod
    def open(
        self,
        request: SubjectOptions,
        table: Path | None,
        work: Path,
        *,
        sample: int | None = None,
        seed: int = 0,
        workers: Workers = None,
        judged: bool = True,
    ) -> tuple[Subject, PeopleSource]:
        """The subject, and the people of the table or some of them.

        Parameters
        ----------
        work : where they may be stored. judged : whether their labels are used to compute accuracy.
        """

    @abstractmethod
    def summary(self, subject: Subject) -> ModelSummary:
        """What every result says of the subject."""

    def warnings(self, subject: Subject) -> tuple[str, ...]:
        """What a reader has to know about the model, whatever was found."""
        return ()

    @abstractmethod
    def remarks(self, subject: Subject, statement: Statement) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Warnings about what was found, and advice."""

    @abstractmethod
    def findings(self, subject: Subject) -> tuple[Finding, ...] | None:
        """What lint says of φ with the people that its scales come from; None where they are not there."""

    def refuse_baselines(self) -> None:
        """Refuse baselines where there is nobody to train them on."""
        return

    def note_no_baselines(self) -> None:
        """Say that baselines are left out because the people have no labels, if they could be trained."""
        return

    @abstractmethod
    def baselines(self, subject: Subject, seed: int) -> tuple[BaselineSettings, PeopleTable] | None:
        """How baselines are trained, and on which people; None where there are none."""


@final
@dataclass(frozen=True, eq=False)
class FileOrigin(RunOrigin):
    """A model file with φ; and, once it was read for the people of a table, what was noted about it.

    Parameters
    ----------
    similarity : φ with the scales of ``reference``, over the columns as the table has them.
    target : the column of true labels, or what stands for it. alike : classes that count as one decision.
    accepted : what the user was warned of and accepted, in sentences.
    table, table_columns : the people's file by its name, and its columns in their order; empty where there is none.
    training : the reference with its labels, to learn baselines from; None where it has none, or is the table.
    reference_warnings : what a reader should know about the reference.
    """

    file: ModelFile
    similarity: Similarity
    target: str
    reference: str
    alike: tuple[tuple[Any, ...], ...] = ()
    accepted: tuple[str, ...] = ()
    table: str = ""
    table_columns: tuple[str, ...] = ()
    training: LoadedTable | None = None
    reference_warnings: tuple[str, ...] = ()

    @property
    def libraries(self) -> Mapping[str, str]:
        return self.file.libraries

    def open(
        self,
        request: SubjectOptions,
        table: Path | None,
        work: Path,
        *,
        sample: int | None = None,
        seed: int = 0,
        workers: Workers = None,
        judged: bool = True,
    ) -> tuple[Subject, PeopleSource]:
        """The model as it is read for these people, and compared with their labels; rows with gaps are left out."""
        assert table is not None
        source = self._people(table, request.id_column, work, sample, seed, workers)
        groups, tolerance = request.groups, request.tolerance
        subject = read_for_people(self, source, table, groups, tolerance, request.arithmetic)
        if judged:
            source = without_strange_labels(source, subject)
        return check_labels(subject, source, str(table), accept=request.accept_accuracy), source

    def _people(
        self, table: Path, id_column: str | None, work: Path, sample: int | None, seed: int, workers: Workers
    ) -> PeopleSource:
        """The people of the table with no missing value; it is noted how many are left out."""
        schema = self.similarity.schema
        if sample is None:
            source = scan_people(table, schema, id_column, work, skip_missing=True, workers=workers)
        else:
            source = sample_people(table, schema, id_column, sample, seed, skip_missing=True)
        if source.left_out:
            note(
                f"{table}: {source.left_out:,} of {source.count + source.left_out:,} rows have missing values. These "
                "people are not examined, and count as not certified"
            )
        return source

    def remarks(self, subject: Subject, statement: Statement) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.warnings(subject), ()

    def findings(self, subject: Subject) -> tuple[Finding, ...] | None:
        from lcifr.phi.lint import lint

        training = self.similarity.encoding.training
        return None if training is None else tuple(lint(self.similarity, training))

    def refuse_baselines(self) -> None:
        if self.training is None:
            raise LcifrError(
                "baselines need people with labels other than the audited ones, and none were given",
                fix="add --reference TABLE, such as the training table, with the --target column",
            )

    def note_no_baselines(self) -> None:
        if self.training is not None:
            note("no baselines: there are no labels of these people with which models could be compared")

    def baselines(self, subject: Subject, seed: int) -> tuple[BaselineSettings, PeopleTable] | None:
        """Learned from the reference, where that is another table with labels: never from the people audited."""
        if self.training is None:
            return None
        from lcifr.estimators import FairEncoder
        from lcifr.workflows.people import read_people_table

        schema, tolerance = self.similarity.schema, subject.model.rule.tolerance
        training = read_people_table(self.training, self.reference, schema, None, labelled=True)
        encoder = FairEncoder(self.similarity.text, schema=schema, random_state=seed, tolerance=tolerance or 0.0)
        regresses = tolerance is not None
        settings = BaselineSettings(encoder, self.similarity, regresses, tolerance, None, subject.arithmetic)
        return settings, training

    def assumptions(self, subject: Subject) -> tuple[str, ...]:
        """What the file does not say, what the library does not check, and what the user accepted, in sentences."""
        positional = subject.library.positional
        order = () if positional is None else (positional.assumption,)
        described = self.file.description
        draft = () if described is None or not described.draft else (f"{described.draft_notice}.",)
        return tuple(dict.fromkeys((*self.file.outline().assumptions, *order, *draft, *self.accepted)))

    def warnings(self, subject: Subject) -> tuple[str, ...]:
        """Why the deployed model may decide otherwise about the table as it is, and what is odd in the reference."""
        positional = subject.library.positional
        text = None if positional is None or not self.table else positional.warning(self.table, self.table_columns)
        return self.reference_warnings if text is None else (text, *self.reference_warnings)

    def summary(self, subject: Subject) -> ModelSummary:
        from lcifr.certification.population import scale_sources
        from lcifr.workflows.results import AuditedFormula, ModelHashes, ModelOrigin, ModelSummary

        similarity, tolerance = subject.similarity, subject.model.rule.tolerance
        outline, described = self.file.outline(), self.file.description
        columns = outline.columns if described is None or not described.inputs else described.columns
        origin = ModelOrigin(
            file=str(self.file.path),
            sha256=self.file.sha256,
            format=str(self.file.format),
            library=outline.library,
            description=None if described is None else described.source,
            columns=columns or subject.schema.names,
            steps=outline.steps,
            rule=outline.rule,
            runtime=outline.runtime,
            reference=self.reference,
            groups=self.alike,
            assumptions=self.assumptions(subject),
        )
        return ModelSummary(
            target=self.target,
            task="classification" if tolerance is None else "regression",
            classes=classes_of(subject.model),
            tolerance=tolerance,
            trained_on=None,
            data=None,
            phi=AuditedFormula(similarity.text, similarity.explain(), similarity.hash, similarity.source, True),
            hashes=ModelHashes.of(subject.hashes, "look_up"),
            arithmetic=str(subject.arithmetic),
            origin=origin,
            scales=scale_sources(self.similarity, Path(self.reference).name),
        )

    def copy_into(self, subject: Subject, folder: Path) -> None:
        """What a reader of the results needs to read the very same model again."""
        from lcifr.models.description import write_description

        shutil.copyfile(self.file.path, folder / f"{MODEL}{self.file.path.suffix}")
        if self.file.description is not None:
            write_description(self.file.description, folder / DESCRIPTION)
        (folder / FORMULA).write_text(subject.similarity.text, encoding="utf-8")
        subject.schema.save(folder / SCHEMA)
        (folder / SCALES).write_text(json.dumps(self.similarity.encoding.to_dict()), encoding="utf-8")
        subject.library.table.to_parquet(folder / EXAMPLE, index=False)


def read_subject(
    origin: FileOrigin,
    example: Any,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    arithmetic: str | None = None,
) -> Subject:
    """Read a model for people who are written like those of ``example``, a pandas frame.

    Parameters
    ----------
    arithmetic : what was asked for; None for what the description says, else what the model comes from.
    """
    from lcifr.certification.subject import Subject

    found = Subject.of_library(origin.file, example, origin.similarity, groups, tolerance, arithmetic)
    return replace(found, origin=replace(origin, alike=tuple(tuple(group) for group in groups or ())))


def read_model_again(folder: Path, said: ModelSummary) -> tuple[Model, FrozenEncoder | None]:
    """The model in a folder that an audit wrote, and the encoder with φ; None where φ ranks people who are not there.

    Raises
    ------
    ArtefactError
        If the file is not the one that was audited.
    """
    import pandas as pd

    from lcifr.certification.subject import Subject
    from lcifr.data import Encoding
    from lcifr.models.description import read_description
    from lcifr.models.loading import load_file

    assert said.origin is not None
    described = read_description(folder / DESCRIPTION) if said.origin.description is not None else None
    file = load_file(folder / f"{MODEL}{Path(said.origin.file).suffix}", described)
    if file.sha256 != said.origin.sha256:
        raise ArtefactError(f"{file.path} is not the model that was audited: the hashes differ", fix="audit it again")
    encoding = Encoding.from_dict(json.loads((folder / SCALES).read_text(encoding="utf-8")))
    phi, ranked = said.phi.text, False
    try:
        similarity = Similarity(phi, encoding.schema, encoding, source=said.phi.source)
    except LcifrError:
        similarity, ranked = Similarity("same(all)", encoding.schema, encoding), True
    groups = said.origin.groups or None
    found = Subject.of_library(file, pd.read_parquet(folder / EXAMPLE), similarity, groups, said.tolerance)
    return found.model, None if ranked else found.encoder


# A subject as plain values and arrays, for other machines: of a model file with the file itself, read again there.


def pack_subject(subject: Subject, into: Arrays) -> dict[str, Any]:
    """Model, φ and arithmetic; of a model of another library its file, and the rows on which both were compared.

    Raises
    ------
    LcifrError
        If a model of another library did not come from a file.
    """
    from lcifr.certification.saved_models import encoder_arrays, similarity_arrays
    from lcifr.models.description import description_text

    said: dict[str, Any] = {"arithmetic": str(subject.arithmetic), "file": None}
    if subject.reference is None:
        return {**said, "encoder": encoder_arrays(subject.encoder, into), "model": subject.model.to_arrays(into)}
    origin, made_up = subject.origin, subject.reference.made_up
    if not isinstance(origin, FileOrigin):
        raise LcifrError(
            "a model that is not in a file cannot be sent to other machines", fix="save it, and give its file"
        )
    written, described = io.BytesIO(), origin.file.description
    subject.reference.source.table.to_parquet(written, index=False)
    return {
        **said,
        "file": f"model{origin.file.path.suffix}",  # by whose ending some formats are known
        "content": into.put_bytes(origin.file.path.read_bytes()),
        "description": None if described is None else description_text(described, {}),
        "example": into.put_bytes(written.getvalue()),
        "similarity": similarity_arrays(origin.similarity, into),
        "groups": origin.alike,
        "tolerance": subject.model.rule.tolerance,
        "made_up": None if made_up is None else [into.put(made_up.numbers), into.put(made_up.codes)],
    }


def unpack_subject(said: Mapping[str, Any], held: Arrays) -> Subject:
    """What :func:`pack_subject` made; a model file is read as it was before, and compared with the library here."""
    import pandas as pd

    from lcifr.certification.saved_models import read_encoder, read_similarity
    from lcifr.certification.subject import Subject
    from lcifr.data import Individuals
    from lcifr.models.description import read_description
    from lcifr.models.loading import load_file
    from lcifr.models.model import Model

    if said["file"] is None:
        encoder, model = read_encoder(said["encoder"], held), Model.read_arrays(said["model"], held)
        return Subject(encoder, model, Arithmetic(said["arithmetic"]))
    with tempfile.TemporaryDirectory() as folder:  # loaders take files, and some libraries read no others
        path, described = Path(folder) / said["file"], Path(folder) / "description.toml"
        path.write_bytes(held.bytes_of(said["content"]))
        description = None
        if said["description"] is not None:
            described.write_text(said["description"], encoding="utf-8")
            description = read_description(described)
        file = load_file(path, description)
        example = pd.read_parquet(io.BytesIO(held.bytes_of(said["example"])))
        similarity = read_similarity(said["similarity"], held)
        asked = (said["groups"] or None, said["tolerance"], said["arithmetic"])
        found = Subject.of_library(file, example, similarity, *asked)
        if said["made_up"] is not None:
            numbers, codes = (held.arrays[name] for name in said["made_up"])
            found = found.agreeing_on(Individuals(similarity.schema, numbers, codes))
        return found


# Model files opened for a table: the description beside them, and a schema of the columns that they read.


def open_model(
    model: Path, describe: Path | None = None, declared: DeclaredByOption | None = None, *, drafts: bool = False
) -> ModelFile:
    """Load a model with the description that was named, or that lies beside it.

    Parameters
    ----------
    declared : what options say of the file beside its description.
    drafts : whether a description may still be marked as a draft.

    Raises
    ------
    LcifrError
        For what options declare against the description, or of a format that cannot take it.
    """
    from lcifr.models.description import read_description
    from lcifr.models.loading import load_file
    from lcifr.workflows.proposed_description import with_declared

    if describe is None and (beside := description_beside(model)) is not None:
        note(f"using the description of {model} in {beside}")
        describe = beside
    description = None if describe is None else read_description(describe)
    if description is not None and not drafts:
        description.refuse_draft("on the command line, `--accept-draft` goes on with the guesses")
    return load_file(model, description if declared is None else with_declared(model, description, declared))


def schema_of_table(frame: pa.Table, table: Path, choice: ModelOptions, outline: ModelOutline, phi: str) -> Schema:
    """The schema that was named, or the one beside the formula, or one inferred with what the model says of columns.

    Raises
    ------
    NetworkError
        If the model reads a column that the table has not, or that can be no attribute.
    """
    from lcifr.workflows.drafting import InitRequest, propose_schema, refuse_unknown_columns
    from lcifr.workflows.people import read_schema, schema_beside

    named = choice.schema or schema_beside(phi)
    if named is not None:
        known = read_schema(named)
        known = known if choice.target is None else replace(known, target=choice.target)
        refuse_unknown_columns(outline, known.names, f"the schema {named}", {})
        return known
    asked = InitRequest(table=table, target=choice.target, id_column=choice.id_column)
    found, left_out = propose_schema(frame, asked, outline)
    unasked = {name: why for name, why in left_out.items() if name != choice.id_column}
    if unasked:
        listed = "; ".join(f'"{name}" {why}' for name, why in unasked.items())
        note(f"{table}: ignored columns that cannot be attributes and that the model does not read: {listed}")
    note(f"the schema was inferred from {table}; `lcifr init {table} --model {choice.model}` writes it down")
    return found


# From model file, table and φ to what is audited and on whom: schema, scales, complete rows, the model as read.

EXAMPLES = 100
"""Rows of the table that the model is read with, and those where a category appears first."""


def open_origin(request: SubjectOptions, table: Path | None) -> RunOrigin:
    """What a request is about, opened: its model file, for people of a table, or both folders of lcifr."""
    if request.model is not None and table is not None:
        return open_file(request, request.model, table)
    if request.producer is not None and request.consumer is not None:
        return FolderOrigin.read(request.producer, request.consumer)
    raise LcifrError(
        "the model or the people are missing", fix="give --model FILE and a TABLE, or the folders PRODUCER CONSUMER"
    )


def open_file(request: SubjectOptions, model: Path, table: Path) -> FileOrigin:
    """Open the model, and give φ the scales of the reference; the people of the table are not read yet.

    Raises
    ------
    LcifrError
        For what does not fit together, before anything is proved.
    """
    from lcifr.workflows.people import load_whole

    with step(f"Opening {model}"):
        declared = DeclaredByOption.of(request)
        file = open_model(model, request.describe, declared, drafts=request.accept_draft)
        outline = file.outline()
    if file.description is not None and file.description.draft:
        note(file.description.draft_notice)
    if outline.is_number and request.tolerance is None:
        raise LcifrError(
            f"{model} predicts a number, so it needs a tolerance",
            fix="add --tolerance NUMBER: how far apart two predictions may be and still count as the same",
        )
    phi = str(request.phi)
    text, source = read_formula(phi)
    path = table if request.reference is None else request.reference
    loaded = load_whole(
        path, None, "taking standard deviations", f"say --reference TABLE with at most {LEARNED:,} people"
    )
    schema = schema_of_table(loaded.frame, path, request, outline, phi)
    with step(f"Computing standard deviations from {path}"):
        similarity = _fit(text, source, schema, loaded.frame, path)
    labelled = request.reference is not None and schema.target in loaded.frame.column_names
    missing = None if file.description is None else file.description.missing
    return FileOrigin(
        file,
        similarity,
        target=schema.target or "decision",
        reference=str(path),
        training=_complete(loaded, similarity, path) if labelled else None,
        reference_warnings=() if missing is None else _missing_as_numbers(missing, loaded.frame, schema, path),
    )


def _missing_as_numbers(missing: float, frame: pa.Table, schema: Schema, path: Path) -> tuple[str, ...]:
    """A warning if the number that stands for a missing value occurs in a table, where it counts as a number."""
    import pandas as pd

    found = []
    for name in schema.names_numeric:
        if name in frame.column_names:
            values = pd.to_numeric(frame[name].to_pandas(), errors="coerce").to_numpy(float, na_value=np.nan)
            with np.errstate(over="ignore"):
                rows = int((values.astype(np.float32) == np.float32(missing)).sum())  # as XGBoost compares
            if rows:
                found.append(f'"{name}" ({rows:,} of {len(values):,} rows)')
    if not found:
        return ()
    return (
        f"in {path}, {missing:.12g} stands for a missing value, but φ and its standard deviations take it for a "
        f"number: {', '.join(found)}; leave these cells empty to have such rows counted as not examined",
    )


def _fit(text: str, source: str, schema: Schema, frame: pa.Table, path: Path) -> Similarity:
    missing = [name for name in schema.names if name not in frame.column_names]
    try:
        known = frame.select([name for name in schema.names if name not in missing])
        return fit_similarity(text, source, schema, known, skip_missing=True)
    except TableError as error:
        raise TableError(error.problems, source=str(path), fix=error.fix) from None


def _complete(loaded: LoadedTable, similarity: Similarity, path: Path) -> LoadedTable | None:
    """The rows of a reference in which nothing is missing; None where there is no such row."""
    from lcifr.workflows.people import complete_table

    return None if similarity.encoding.training is None else complete_table(loaded, path, similarity.schema)[0]


def read_for_people(
    origin: FileOrigin,
    source: PeopleSource,
    table: Path,
    groups: Sequence[Sequence[str]] = (),
    tolerance: float | None = None,
    arithmetic: str | None = None,
) -> Subject:
    """The model as it is read for the columns of these people, in the types that the table has them.

    Says so where the library would take the columns of the table for others, by their position.
    """
    from lcifr.data.ingest import column_names

    named = {str(label): label for label in origin.file.outline().classes}
    alike = [[named.get(name, name) for name in group] for group in groups]
    with step(f"Reading {origin.file.path}"):
        subject = read_subject(origin, example_rows(source), alike or None, tolerance, arithmetic)
        if subject.library.positional is not None:
            read = replace(_file_of(subject), table=str(table), table_columns=tuple(column_names(table)))
            subject = replace(subject, origin=read)
    for text in origin_of(subject).warnings(subject):
        warn(text)
    return subject


def origin_of(subject: Subject) -> RunOrigin:
    """Where the subject of a command was read from."""
    assert isinstance(subject.origin, RunOrigin)
    return subject.origin


def named_summary(subject: Subject, labels: Mapping[Any, str]) -> ModelSummary:
    """What every result says of a subject, with what its decisions are called."""
    named = name_decisions(labels, decisions_of(subject.model))
    return replace(origin_of(subject).summary(subject), labels=named)


def _file_of(subject: Subject) -> FileOrigin:
    assert isinstance(subject.origin, FileOrigin)
    return subject.origin


def people_of_reference(subject: Subject) -> Individuals:
    """People within whose ranges rows are made up: those whose scales φ speaks of, and the example rows."""
    from lcifr.data import Individuals

    known, names = _file_of(subject).similarity.encoding, list(subject.schema.names)
    example = Individuals.read(subject.library.table[names], subject.schema)
    return example if known.training is None else Individuals.joined([example, known.training])


MOST_COMPARED = 100_000
"""People whose labels are looked at: the first of a table."""


def check_labels(subject: Subject, source: PeopleSource, table: str, *, accept: bool) -> Subject:
    """Compare the model with the labels of the people, or else of the reference; nothing where neither has any.

    The subject comes back with what the user accepted. Of models that predict numbers, and of labels that are no
    classes of the model, nothing is compared.
    """
    origin = _file_of(subject)
    if subject.model.labels is None:
        return subject
    if source.label is not None:
        taken, named = _first_labelled(source, subject), table
    elif origin.training is not None:
        taken, named = _labelled_reference(origin.training.frame, subject), origin.reference
    else:
        return subject
    found = compare_with_labels(subject.model, *taken)
    accepted = None if found is None else refuse_backwards(found, named, accept=accept)
    return subject if accepted is None else replace(subject, origin=replace(origin, accepted=(accepted,)))


def _first_labelled(source: PeopleSource, subject: Subject) -> tuple[NDArray[np.float64], list[Any]]:
    values: list[NDArray[np.float64]] = []
    labels: list[Any] = []
    for people, label in source.rows():
        few = people.take(slice(0, MOST_COMPARED - len(labels)))
        values.append(subject.scores(few))
        labels += label.slice(0, len(few)).to_pylist()
        if len(labels) == MOST_COMPARED:
            break
    return np.concatenate(values), labels


def _labelled_reference(reference: pa.Table, subject: Subject) -> tuple[NDArray[np.float64], list[Any]]:
    """Of those in the reference who have no category at which the model raises."""
    from lcifr.data import Individuals

    frame, schema = reference.slice(0, MOST_COMPARED), _file_of(subject).similarity.schema
    people: Individuals = Individuals.read(frame.select(list(schema.names)), schema)
    kept = np.ones(len(people), np.bool_)
    for category in schema.categorical:
        kept &= ~subject.encoding.is_outside(category.name)[people.code(category.name)]
    labels = frame[str(schema.target)].to_pylist()
    return subject.scores(people.take(kept)), [labels[row] for row in np.flatnonzero(kept)]


def without_strange_labels(source: PeopleSource, subject: Subject) -> PeopleSource:
    """The same people without labels where none of these is a class of the model: accuracy would be 0 by name alone.

    Of a model that predicts numbers, where one of them is no number.
    """
    classes = subject.model.labels
    if source.label is None:
        return source
    if classes is None:
        return source if _are_numbers(source) else source.without_labels()
    decided, found = [json_value(one) for one in classes], set[Any]()
    for labels in source.label_columns():
        found |= {json_value(one) for one in labels.unique().to_pylist()}
        if found & set(decided):  # one is enough: the others are looked at only where there is none
            return source
    note(f"no accuracy is reported: {other_classes(source.label, found, decided)}")
    return source.without_labels()


def other_classes(target: str, found: Iterable[Any], decided: Sequence[Any]) -> str:
    """That no label of a column is a class of the model, in words."""
    named = ", ".join(repr(one) for one in sorted(found, key=str)[:3])
    return (
        f'"{target}" holds {named}, and the model decides {", ".join(map(repr, decided))}; if these are the same '
        "classes, name them in its description: classes = [...]"
    )


def _are_numbers(source: PeopleSource) -> bool:
    """Whether all labels are; where not, it is said."""
    import pyarrow as pa

    for labels in source.label_columns():
        kind = labels.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            text = (
                f'no errors are reported: "{source.label}" holds {labels[0].as_py()!r}, and the model predicts numbers'
            )
            note(text)
            return False
    return True


def example_rows(source: PeopleSource) -> Any:
    """A pandas frame with every category spelled as in the table: the first rows, and others where one is new."""
    import pyarrow as pa

    from lcifr.data.ingest import read_tables

    names, unseen = list(source.schema.names), {one.name: set(one.values) for one in source.schema.categorical}
    found, left = [], EXAMPLES
    for table in read_tables(source.table, source.schema):
        rows = np.unique([*range(min(left, len(table))), *_first_seen(table, unseen)]).astype(np.int64)
        left -= min(left, len(table))
        found.append(_as_numbers(table.select(names).take(pa.array(rows)), source.schema))
        if left == 0 and not any(unseen.values()):
            break
    return pa.concat_tables(found).to_pandas()


def _as_numbers(table: pa.Table, schema: Schema) -> pa.Table:
    """With 0 and 1 where numbers are written as booleans: a model that is asked about 2 must not be told True."""
    import pyarrow as pa

    for name in schema.names_numeric:
        if pa.types.is_boolean(table.schema.field(name).type):
            table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(pa.int64()))
    return table


def _first_seen(table: pa.Table, unseen: dict[str, set[str]]) -> Iterator[int]:
    """Rows in which a category appears first; ``unseen`` loses them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, values in unseen.items():
        column = table[name]
        if pa.types.is_dictionary(column.type):  # as pandas writes categories
            column = column.cast(column.type.value_type)
        for value in pc.unique(column) if values else ():
            text = text_of(value.as_py()).strip()
            if text in values:
                values.remove(text)
                yield pc.index(column, value).as_py()


# The producer's and the consumer's folders, read together and only if they belong together.

ENCODER_FILE, MODEL_FILE = "encoder.safetensors", "model.safetensors"


@final
@dataclass(frozen=True, eq=False)
class FolderOrigin(RunOrigin):
    """The folders of a producer and a consumer.

    Parameters
    ----------
    saved : the producer's encoder as it was trained. head : the consumer's model as it was trained.
    target, producer_target : what each of them predicted.
    learned_from : people whom the producer learned from, and whose standard deviations φ speaks of.
    data : what the producer knows of a dataset by name, to be said beside every figure.
    english, found_in_formula : what the producer's φ says, and what lint said of it with their people, or None.
    """

    saved: SavedProducer
    head: SavedHead
    producer: Path
    consumer: Path
    target: str
    producer_target: str
    task: str
    tolerance: float | None
    trained_on: int | None
    english: str
    learned_from: int
    data: DatasetNotes | None = None
    found_in_formula: tuple[Finding, ...] | None = None

    @classmethod
    def read(cls, producer: Path, consumer: Path) -> FolderOrigin:
        """Both folders; refused where the consumer's model was learned from another encoder."""
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
        return cls(
            saved=saved,
            head=head,
            producer=producer,
            consumer=consumer,
            target=used.target,
            producer_target=made.target,
            task=used.task,
            tolerance=used.tolerance,
            trained_on=used.trained_on,
            english=made.phi.english,
            learned_from=made.sizes[TRAIN],
            data=made.data,
            found_in_formula=made.findings,
        )

    def subject(self, phi: str | None = None, arithmetic: str | None = None) -> Subject:
        """The whole model; ``arithmetic`` None for float64, and for what trees from elsewhere are added up in."""
        from lcifr.certification.handover import FrozenEncoder
        from lcifr.certification.subject import Subject

        similarity = self.saved.similarity if phi is None else _other_formula(phi, self.saved.similarity)
        encoder = FrozenEncoder(self.saved.function, similarity, self.saved.whole_numbers)
        model = self.head.model.agreeing(tolerance=self.tolerance)
        return replace(Subject.of(encoder, model, None, None, arithmetic), origin=self)

    def open(
        self,
        request: SubjectOptions,
        table: Path | None,
        work: Path,
        *,
        sample: int | None = None,
        seed: int = 0,
        workers: Workers = None,
        judged: bool = True,
    ) -> tuple[Subject, PeopleSource]:
        """The whole model, and the people of a table, or those whom the producer held out."""
        subject = self.subject(request.phi, request.arithmetic)
        return subject, self.people(table, request.id_column, work, sample, seed, workers)

    def people(
        self,
        table: Path | None,
        id_column: str | None,
        work: Path,
        sample: int | None = None,
        seed: int = 0,
        workers: Workers = None,
    ) -> PeopleSource:
        """The people of a table or some of them, or those whom the producer held out; labels where they are known."""
        schema = self.saved.similarity.schema
        if table is None:
            if sample is not None:
                raise LcifrError("--sample draws people of a TABLE, and there is none", fix="name it, or leave it out")
            stored = _stored(self.producer, HELD_OUT, schema)
            known = stored if self.target == self.producer_target else PeopleTable(stored.X, stored.ids)
            return source_in_memory(known, schema)
        schema = replace(schema, target=self.target) if self.target not in schema else schema
        if sample is None:
            return scan_people(table, schema, id_column, work, workers=workers)
        return sample_people(table, schema, id_column, sample, seed)

    @property
    def held_out(self) -> bool:
        """Unless the consumer's model was trained elsewhere, and nobody knows on whom."""
        return self.trained_on is not None

    def is_producers_formula(self, similarity: Similarity) -> bool:
        """Whether a φ is the one that the encoder was trained for."""
        return similarity.hash == self.saved.similarity.hash

    def copy_into(self, subject: Subject, folder: Path) -> None:
        """What a reader of the results needs of both folders."""
        shutil.copyfile(self.producer / ENCODER_FILE, folder / ENCODER_FILE)
        shutil.copyfile(self.consumer / MODEL_FILE, folder / MODEL_FILE)
        (folder / FORMULA).write_text(subject.similarity.text, encoding="utf-8")
        subject.schema.save(folder / SCHEMA)

    def remarks(self, subject: Subject, statement: Statement) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What makes a baseline as good, and what is trivial about the model on the people it learned from."""
        beaten = beaten_by(statement, is_unaware=self.saved.is_unaware)
        about_z = [one for one in self.saved.degeneracies if one.name in ("flat latent", "alone")]
        trivial = learned_warnings((*about_z, *self.head.degeneracies), statement)
        advice = [one.advice for one in self.head.degeneracies if one.advice]
        return (*beaten, *trivial), (*advice, *beaten.values())

    def findings(self, subject: Subject) -> tuple[Finding, ...] | None:
        """As the producer keeps them of their own φ, else with the people whom the producer learned from."""
        if self.found_in_formula is not None and self.is_producers_formula(subject.similarity):
            return self.found_in_formula
        from lcifr.data import read_frame
        from lcifr.phi.lint import lint

        people = self.producer / "people" / f"{TRAIN}.parquet"
        if not people.is_file():
            return None
        return tuple(lint(subject.similarity, read_frame(people).select(list(subject.schema.names))))

    def baselines(self, subject: Subject, seed: int) -> tuple[BaselineSettings, PeopleTable] | None:
        """Learned from the producer's training people; None where the consumer's label is another one."""
        if self.target != self.producer_target:
            return None
        known, weight, regresses = subject.similarity, self.head.class_weight, self.task == "regression"
        encoder = load_encoder(self.producer)
        settings = BaselineSettings(encoder, known, regresses, self.tolerance, weight, subject.arithmetic)
        return settings, _stored(self.producer, TRAIN, self.saved.similarity.schema)

    def summary(self, subject: Subject) -> ModelSummary:
        from lcifr.certification.population import scale_sources
        from lcifr.workflows.results import AuditedFormula, ModelHashes, ModelSummary

        similarity = subject.similarity
        is_producers = self.is_producers_formula(similarity)
        english = self.english if is_producers else similarity.explain()
        return ModelSummary(
            target=self.target,
            task=self.task,
            classes=classes_of(self.head.model),
            tolerance=self.tolerance,
            trained_on=self.trained_on,
            arithmetic=str(subject.arithmetic),
            data=self.data,
            phi=AuditedFormula(similarity.text, english, similarity.hash, similarity.source, is_producers),
            hashes=ModelHashes.of(subject.hashes, "encoder"),
            scales=scale_sources(similarity, "the producer's training people", self.learned_from),
        )


def refuse_mixed(folder: Path, what: str, said: Any, found: str) -> None:
    """Files of two runs in one folder: what its result says of itself is not what is there."""
    if said != found:
        raise LcifrError(
            f"{folder}: the {what} in it is not the one that its result.json is about: the hashes differ",
            fix="give the folder as it was written, or make it again",
        )


def _other_formula(phi: str, producers: Similarity) -> Similarity:

    text, source = read_formula(phi)
    similarity = Similarity(text, producers.schema, producers.encoding, source=source)
    same = "the very φ that the producer used" if similarity.hash == producers.hash else "not the producer's φ"
    note(f"{phi} is {same}")
    return similarity


def _stored(producer: Path, name: str, schema: Schema) -> PeopleTable:
    """People whom the producer keeps, with ids and labels."""
    from lcifr.data import read_frame
    from lcifr.data.files import read_json
    from lcifr.data.ingest import column_names
    from lcifr.workflows.people import LabelTable

    file = producer / "people" / f"{name}.parquet"
    if not file.is_file():
        raise LcifrError(f"{file} is not there", fix="give the producer's whole folder, or a TABLE of people")
    X = read_frame(file).select(list(schema.names))
    ids = read_json(producer / "handover" / name / "ids.json")
    path = producer / "labels.csv"
    id_column, target = column_names(path)
    labels = LabelTable.read(path, target, id_column).find(ids, learned=False)
    return PeopleTable(X, tuple(ids), labels.values)
