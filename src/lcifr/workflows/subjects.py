"""What a command is about: a model with φ, encoding and arithmetic, from a model file or from folders of lcifr."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lcifr.certification.subject import Origin
from lcifr.data.files import json_value
from lcifr.data.frames import text_of
from lcifr.errors import ArtefactError, LcifrError, TableError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import description_beside
from lcifr.phi import Similarity
from lcifr.workflows.events import note, step, warn
from lcifr.workflows.executors import job_device, workers_of
from lcifr.workflows.packing import (
    Luggage,
    pack_encoder,
    pack_model,
    pack_similarity,
    unpack_encoder,
    unpack_model,
    unpack_similarity,
)
from lcifr.workflows.people import (
    HELD,
    HELD_OUT,
    LEARNED,
    PROVED,
    TRAIN,
    DatasetNotes,
    PeopleSource,
    PeopleTable,
    fit_similarity,
    is_table,
    read_formula,
    refuse_more,
    sample_people,
    scan_people,
    source_in_memory,
)
from lcifr.workflows.results import classes_of, read_consumer, read_producer, read_saved_encoder, read_saved_head

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.certification.handover import FrozenEncoder
    from lcifr.certification.saved_models import SavedHead, SavedProducer
    from lcifr.certification.subject import Subject
    from lcifr.data import Individuals, Schema
    from lcifr.models.loading import ModelFile
    from lcifr.models.model import Model
    from lcifr.models.source import ModelOutline
    from lcifr.phi.lint import Finding
    from lcifr.workflows.executors import Workers
    from lcifr.workflows.people import LoadedTable
    from lcifr.workflows.results import ModelSummary


# How an audit is done.


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """How to audit.

    Parameters
    ----------
    id_column : the column of the people's names. sample : audit so many people, drawn at random.
    population : whether the people of the table were drawn from the population and nobody trained on them.
    by : attributes to make subgroups of; None for the categories that φ leaves free.
    confidence : of the statement about the population.
    baselines : audit the plain and the unaware model too; None to do so where labels are known, up to 100,000 people.
    bundle : write and check the proofs of everybody (True), of nobody (False), or of ``proofs`` people (None).
    seed : of who is drawn for ``proofs`` and ``sample``.
    workers : processes; None for one per core. chunk : people per part; None to choose.
    force : replace the folder of results if lcifr wrote it.
    executor : ``local``, processes of this machine; or ``ray``, a cluster. address : of the cluster.
    device : where bounds are computed before any search: ``cpu``, ``cuda``, or ``auto`` for a GPU where there is one.
    labels : what decisions are called in output and reports, such as ``{0: "refused", 1: "granted"}``.
    """

    id_column: str | None = None
    sample: int | None = None
    population: bool = False
    by: tuple[str, ...] | None = None
    confidence: float = 0.95
    baselines: bool | None = None
    bundle: bool | None = None
    proofs: int = PROVED
    seed: int = 0
    workers: int | None = None
    chunk: int | None = None
    force: bool = False
    executor: str = "local"
    address: str | None = None
    device: str = "cpu"
    labels: Mapping[Any, str] = field(default_factory=dict)

    @property
    def crew(self) -> Workers:
        """Who works on the people."""
        return workers_of(self.executor, self.workers, self.address)

    def __post_init__(self) -> None:
        job_device(self.device, self.crew)
        if not 0 < self.confidence < 1:
            raise LcifrError(
                f"confidence is {self.confidence}; expected a number between 0 and 1", fix="for example 0.95"
            )
        if self.proofs < 1:
            raise LcifrError(f"proofs is {self.proofs}; expected 1 or more", fix="say bundle=False for no proofs")

    def refuse_many(self, source: PeopleSource) -> None:
        """What holds everybody in memory is refused before anything is proved, or left out if nobody asked for it."""
        if self.bundle is None:
            refuse_more(min(self.proofs, source.count), HELD, "--proofs", "say a smaller number")
        fix = f"leave it out; or audit a sample of them: --sample {HELD}"
        for name, wanted in (("--bundle", self.bundle), ("--baselines", self.baselines)):
            if wanted:
                refuse_more(source.count, HELD, name, fix)
        if source.count > HELD and source.label is not None and self.baselines is None:
            note(f"no baselines: they need everyone in memory, and there are more than {HELD:,}")

    def wants_baselines(self, source: PeopleSource) -> bool:
        """Whether baselines stand beside the model: where labels are known, unless it is said otherwise."""
        wanted = source.count <= HELD if self.baselines is None else self.baselines
        return wanted and source.label is not None


# Where a subject comes from: a model file that was read for the people of a table, or two folders of lcifr.

MODEL, DESCRIPTION, FORMULA, SCHEMA = "model", "model.toml", "similar.phi", "schema.toml"
SCALES, EXAMPLE = "scales.json", "model-input.parquet"


@final
@dataclass(frozen=True, eq=False)
class FileOrigin(Origin):
    """The model file that a subject was read from.

    Parameters
    ----------
    similarity : φ with the scales of ``reference``, over the columns as the table has them.
    target : the column of true labels, or what stands for it. alike : classes that count as one decision.
    accepted : what the user was warned of and accepted, in sentences.
    table, table_columns : the people's file by its name, and its columns in their order; empty where there is none.
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
    reference_warnings: tuple[str, ...] = ()

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
    file: ModelFile,
    example: Any,
    similarity: Similarity,
    *,
    target: str,
    reference: str,
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

    found = Subject.of_library(file, example, similarity, groups, tolerance, arithmetic)
    named = tuple(tuple(group) for group in groups or ())
    return replace(found, origin=FileOrigin(file, similarity, target, reference, named))


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


def pack_subject(subject: Subject, into: Luggage) -> dict[str, Any]:
    """Model, φ and arithmetic; of a model of another library its file, and the rows on which both were compared.

    Raises
    ------
    LcifrError
        If a model of another library did not come from a file.
    """
    from lcifr.models.description import description_text

    said: dict[str, Any] = {"arithmetic": str(subject.arithmetic), "file": None}
    if subject.reference is None:
        return {**said, "encoder": pack_encoder(subject.encoder, into), "model": pack_model(subject.model, into)}
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
        "similarity": pack_similarity(origin.similarity, into),
        "groups": origin.alike,
        "tolerance": subject.model.rule.tolerance,
        "made_up": None if made_up is None else [into.put(made_up.numbers), into.put(made_up.codes)],
    }


def unpack_subject(said: Mapping[str, Any], held: Luggage) -> Subject:
    """What :func:`pack_subject` made; a model file is read as it was before, and compared with the library here."""
    import pandas as pd

    from lcifr.certification.subject import Subject
    from lcifr.data import Individuals
    from lcifr.models.description import read_description
    from lcifr.models.loading import load_file

    if said["file"] is None:
        encoder, model = unpack_encoder(said["encoder"], held), unpack_model(said["model"], held)
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
        similarity = unpack_similarity(said["similarity"], held)
        asked = (said["groups"] or None, said["tolerance"], said["arithmetic"])
        found = Subject.of_library(file, example, similarity, *asked)
        if said["made_up"] is not None:
            numbers, codes = (held.arrays[name] for name in said["made_up"])
            found = found.agreeing_on(Individuals(similarity.schema, numbers, codes))
        return found


# Model files opened for a table: the description beside them, and a schema of the columns that they read.


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Which model, and what its columns mean.

    Parameters
    ----------
    model : its file. describe : a file that says which column feeds which input; None for the .toml beside the model,
        if it is one, or for none.
    schema : a file, or the name of a dataset; None for the .toml beside φ, or to infer it from the table.
    target : the column of true labels, if there is one. id_column : the column of people's names.
    missing : of an XGBoost file, the number that stands for a missing value; None for what its description says.
    accept_draft : go on with a description that is still marked as a draft.
    accept_accuracy : go on with a model whose score ranks the labels backwards.
    """

    model: Path
    describe: Path | None = None
    schema: str | None = None
    target: str | None = None
    id_column: str | None = None
    missing: float | None = None
    accept_draft: bool = False
    accept_accuracy: bool = False

    @property
    def description(self) -> Path | None:
        """The description that is used: the one that was named, or that lies beside the model."""
        return self.describe or description_beside(self.model)


def open_model(
    model: Path, describe: Path | None = None, missing: float | None = None, *, drafts: bool = False
) -> ModelFile:
    """Load a model with the description that was named, or that lies beside it.

    Parameters
    ----------
    missing : see :class:`ModelOptions`. drafts : whether a description may still be marked as a draft.

    Raises
    ------
    LcifrError
        For ``missing`` with another format than XGBoost's, or against what the description says.
    """
    from lcifr.models.description import read_description
    from lcifr.models.loading import load_file
    from lcifr.workflows.proposed_description import with_missing

    if describe is None and (beside := description_beside(model)) is not None:
        note(f"using the description of {model} in {beside}")
        describe = beside
    description = None if describe is None else read_description(describe)
    if description is not None and not drafts:
        description.refuse_draft("on the command line, `--accept-draft` goes on with the guesses")
    return load_file(model, description if missing is None else with_missing(model, description, missing))


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


@dataclass(frozen=True, kw_only=True)
class ModelQuestion(ModelOptions):
    """A model, and who counts as similar to the people it decides about; see :class:`ModelOptions`.

    Parameters
    ----------
    table : the people, a .csv or .parquet file. phi : a file, or the name of a ready formula.
    reference : a table of people whose standard deviations and ranks φ speaks of, such as those the model was trained
        on; None for ``table`` itself.
    tolerance : of a model that predicts numbers, how far two may be apart. groups : classes that count as one decision.
    arithmetic : ``exact``, ``float64`` or ``float32``; None for the one that the model comes from.
    """

    table: Path
    phi: str
    reference: Path | None = None
    tolerance: float | None = None
    groups: tuple[tuple[str, ...], ...] = ()
    arithmetic: str | None = None

    @property
    def inputs(self) -> dict[str, Path]:
        """Files that are read, by argument."""
        files = {
            "model": self.model,
            "describe": self.description,
            "table": self.table,
            "phi": Path(self.phi),
            "schema": None if self.schema is None else Path(self.schema),
            "reference": self.reference,
        }
        return {name: path for name, path in files.items() if path is not None and is_table(path)}


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """A model file with schema and φ, before the people are read.

    ``training`` : the reference with its labels, to learn baselines from; None where it has none, or is the table.
    ``warnings`` : what a reader should know about the reference.
    """

    file: ModelFile
    similarity: Similarity
    reference: str
    training: LoadedTable | None = None
    warnings: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        return self.similarity.schema


def prepare_model(question: ModelQuestion) -> PreparedModel:
    """Open the model, and give φ the scales of the reference; nobody of the table is looked at yet.

    Raises
    ------
    LcifrError
        For whatever does not fit together, before anything is proved.
    """
    from lcifr.workflows.people import load_whole

    with step(f"Opening {question.model}"):
        file = open_model(question.model, question.describe, question.missing, drafts=question.accept_draft)
        outline = file.outline()
    if file.description is not None and file.description.draft:
        note(file.description.draft_notice)
    if outline.is_number and question.tolerance is None:
        raise LcifrError(
            f"{question.model} predicts a number, so it needs a tolerance",
            fix="add --tolerance NUMBER: how far apart two predictions may be and still count as the same",
        )
    text, source = read_formula(question.phi)
    path = question.table if question.reference is None else question.reference
    loaded = load_whole(
        path, None, "taking standard deviations", f"say --reference TABLE with at most {LEARNED:,} people"
    )
    schema = schema_of_table(loaded.frame, path, question, outline, question.phi)
    with step(f"Computing standard deviations from {path}"):
        similarity = _fit(text, source, schema, loaded.frame, path)
    labelled = question.reference is not None and schema.target in loaded.frame.column_names
    missing = None if file.description is None else file.description.missing
    return PreparedModel(
        file,
        similarity,
        str(path),
        _complete(loaded, similarity, path) if labelled else None,
        () if missing is None else _missing_as_numbers(missing, loaded.frame, schema, path),
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


def read_people(
    prepared: PreparedModel,
    question: ModelQuestion,
    work: Path,
    sample: int | None = None,
    seed: int = 0,
    workers: Workers = None,
) -> PeopleSource:
    """The people of the table of whom nothing is missing; it is said how many are left out."""

    path, ids = question.table, question.id_column
    if sample is None:
        source = scan_people(path, prepared.schema, ids, work, skip_missing=True, workers=workers)
    else:
        source = sample_people(path, prepared.schema, ids, sample, seed, skip_missing=True)
    if source.left_out:
        note(
            f"{path}: {source.left_out:,} of {source.count + source.left_out:,} rows have missing values. These people "
            "are not examined, and count as not certified"
        )
    return source


def read_for_people(prepared: PreparedModel, question: ModelQuestion, source: PeopleSource) -> Subject:
    """The model as it is read for the columns of these people, in the types that the table has them.

    Says so where the library would take the columns of the table for others, by their position.
    """
    from lcifr.data.ingest import column_names

    named = {str(label): label for label in prepared.file.outline().classes}
    groups = [[named.get(name, name) for name in group] for group in question.groups]
    with step(f"Reading {question.model}"):
        subject = read_subject(
            prepared.file,
            example_rows(source),
            prepared.similarity,
            target=prepared.schema.target or "decision",
            reference=prepared.reference,
            groups=groups or None,
            tolerance=question.tolerance,
            arithmetic=question.arithmetic,
        )
        origin = replace(file_of(subject), reference_warnings=prepared.warnings)
        if subject.library.positional is not None:
            origin = replace(origin, table=str(question.table), table_columns=tuple(column_names(question.table)))
    for text in origin.warnings(subject):
        warn(text)
    return replace(subject, origin=origin)


def file_of(subject: Subject) -> FileOrigin:
    """The model file that a subject was read from."""
    assert isinstance(subject.origin, FileOrigin)
    return subject.origin


def people_of_reference(subject: Subject) -> Individuals:
    """People within whose ranges rows are made up: those whose scales φ speaks of, and the example rows."""
    from lcifr.data import Individuals

    known, names = file_of(subject).similarity.encoding, list(subject.schema.names)
    example = Individuals.read(subject.library.table[names], subject.schema)
    return example if known.training is None else Individuals.joined([example, known.training])


def folders_of(subject: Subject) -> FolderOrigin:
    """The folders that a subject was read from."""
    assert isinstance(subject.origin, FolderOrigin)
    return subject.origin


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
class FolderOrigin(Origin):
    """The folders of a producer and a consumer.

    Parameters
    ----------
    saved : the producer's encoder as it was trained. head : the consumer's model as it was trained.
    target, producer_target : what each of them predicted.
    learned_from : people whom the producer learned from, and whose standard deviations φ speaks of.
    data : what the producer knows of a dataset by name, to be said beside every figure.
    english, findings : what the producer's φ says, and what lint said to them of it, or None.
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
    findings: tuple[Finding, ...] | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether the consumer's model was trained elsewhere, and nobody knows on whom."""
        return self.trained_on is None

    @property
    def is_unaware(self) -> bool:
        """Whether the encoder is the unaware baseline: learned for the label alone, without what φ leaves free."""
        return self.saved.is_unaware

    def is_producers_formula(self, similarity: Similarity) -> bool:
        """Whether a φ is the one that the encoder was trained for."""
        return similarity.hash == self.saved.similarity.hash

    def copy_into(self, subject: Subject, folder: Path) -> None:
        """What a reader of the results needs of both folders."""
        shutil.copyfile(self.producer / ENCODER_FILE, folder / ENCODER_FILE)
        shutil.copyfile(self.consumer / MODEL_FILE, folder / MODEL_FILE)
        (folder / FORMULA).write_text(subject.similarity.text, encoding="utf-8")
        subject.schema.save(folder / SCHEMA)

    def training(self) -> PeopleTable | None:
        """Whom the producer learned from; None where the consumer's label is another one."""
        known = self.saved.similarity.schema
        return _stored(self.producer, TRAIN, known) if self.target == self.producer_target else None

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


def read_folders(producer: Path, consumer: Path, phi: str | None = None, arithmetic: str | None = None) -> Subject:
    """Both folders, computed in an arithmetic; refused where the consumer's model was learned from another encoder.

    ``arithmetic`` : None for float64, and for what a consumer's trees from elsewhere are added up in.
    """
    from lcifr.certification.handover import FrozenEncoder
    from lcifr.certification.subject import Subject

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
    origin = FolderOrigin(
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
        findings=made.findings,
    )
    encoder = FrozenEncoder(saved.function, similarity, saved.whole_numbers)
    model = head.model.agreeing(tolerance=used.tolerance)
    return replace(Subject.of(encoder, model, None, None, arithmetic), origin=origin)


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


def open_people(
    subject: Subject,
    table: Path | None,
    id_column: str | None,
    work: Path,
    sample: int | None = None,
    seed: int = 0,
    workers: Workers = None,
) -> PeopleSource:
    """The people of a table or some of them, or those whom the producer held out; labels where they are known."""

    origin, schema = folders_of(subject), subject.schema
    if table is None:
        if sample is not None:
            raise LcifrError("--sample draws people of a TABLE, and there is none", fix="name it, or leave it out")
        stored = _stored(origin.producer, HELD_OUT, schema)
        known = stored if origin.target == origin.producer_target else PeopleTable(stored.X, stored.ids)
        return source_in_memory(known, schema)
    schema = replace(schema, target=origin.target) if origin.target not in schema else schema
    if sample is None:
        return scan_people(table, schema, id_column, work, workers=workers)
    return sample_people(table, schema, id_column, sample, seed)


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
