"""The work of ``lcifr doctor`` and ``lcifr model``: the installation tested; a model described, compared, exported."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.data.files import json_value, sha256_of
from lcifr.errors import LcifrError, missing_extra
from lcifr.models.arithmetic import read_arithmetic
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.source import ModelOutline
from lcifr.workflows.events import Listener, listening, note, step, warn
from lcifr.workflows.labels import LabelComparison, compare_with_labels
from lcifr.workflows.options import (
    PRODUCER,
    YOUR_MODEL,
    DeclaredByOption,
    ModelOptions,
    argument,
    describe_option,
    missing_option,
    option,
    score_threshold_option,
    threshold_option,
)
from lcifr.workflows.results import CommandResult, read_producer, read_saved_encoder
from lcifr.workflows.subjects import FolderOrigin, open_model, other_classes, refuse_mixed, schema_of_table

if TYPE_CHECKING:
    import pyarrow as pa

    from lcifr.certification.reference import LibraryComparison
    from lcifr.certification.subject import Subject
    from lcifr.data import Encoding, Individuals, Schema
    from lcifr.models.description import ModelDescription
    from lcifr.models.loading import ModelFile
    from lcifr.prove.oracles.solvers import Solver


# The installation examined: versions, GPU, and every solver and method asked questions whose answers are known.

NEEDED = (
    "lcifr",
    "numpy",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "highspy",
    "numba",
    "safetensors",
    "lark",
    "typer",
    "rich",
)
OPTIONAL = {
    "torch": "training encoders and their heads, and GPUs: lcifr[learn]",
    "onnxruntime": "models as ONNX files: lcifr[onnx]",
    "skops": "models as skops files: lcifr[skops]",
    "xgboost": "XGBoost models: lcifr[trees]",
    "lightgbm": "LightGBM models: lcifr[trees]",
    "interpret-core": "explainable boosting machines: lcifr[trees]",
    "ray": "clusters: lcifr[ray]",
    "matplotlib": "plots: lcifr[plot]",
    "fairlearn": "group metrics: lcifr[fairlearn]",
    "starlette": "the workbench: lcifr[workbench]",
    "cryptography": "signatures: lcifr[sign]",
    "polars": "polars frames as tables",
    "gurobipy": "a second exact solver, with your own licence: lcifr[gurobi]",
}
MAY_BE_BROKEN = ("gurobi",)  # without a licence it is there and does not run, which is no fault of the installation


class Health(StrEnum):
    """How a solver or method does: it answers, and rightly; wrongly; is absent; or is there and does not run."""

    RIGHT = "right"
    WRONG = "wrong"
    ABSENT = "absent"
    BROKEN = "broken"


@dataclass(frozen=True)
class Examined:
    """One solver or method."""

    name: str
    version: str
    state: Health
    detail: str = ""


@dataclass(frozen=True)
class DoctorResult(CommandResult):
    """What is installed here, and how it does.

    Parameters
    ----------
    packages : versions of what is needed; None where it is missing. optional : the same of what may be missing.
    gpu : its name, or None.
    """

    format = "lcifr-doctor-1"
    command = "doctor"
    also = ("well",)

    python: str
    platform: str
    packages: Mapping[str, str | None]
    optional: Mapping[str, str | None]
    solvers: tuple[Examined, ...]
    gpu: str | None

    @property
    def well(self) -> bool:
        """Whether all that is needed is there, and all that is there answers rightly."""
        ill = [
            one
            for one in self.solvers
            if one.state is Health.WRONG or (one.state is Health.BROKEN and one.name not in MAY_BE_BROKEN)
        ]
        return not ill and None not in self.packages.values()


def doctor(listener: Listener | None = None) -> DoctorResult:
    """Examine the installation; ``listener`` receives the events of :mod:`lcifr.workflows.events`."""
    with listening(listener), step("Testing the solvers"):
        return DoctorResult(
            python=platform.python_version(),
            platform=platform.platform(),
            packages={name: _version(name) for name in NEEDED},
            optional={name: _version(name) for name in OPTIONAL},
            solvers=(*examine_solvers(), *examine_engine()),
            gpu=_gpu(),
        )


def examine_solvers() -> list[Examined]:
    """Every solver of :mod:`lcifr.prove.oracles.solvers`, asked every canary."""
    from lcifr.prove.oracles import solvers

    found = []
    for name in sorted(solvers.solver_names()):
        solver = solvers.find_solver(name)
        try:
            known = solver.version()
        except LcifrError as missing:
            found.append(Examined(name, "", Health.ABSENT, missing.fix or str(missing)))
            continue
        except Exception as problem:
            found.append(Examined(name, "", Health.BROKEN, _fault(problem)))
            continue
        found.append(_examine(name, known, solver))
    return found


def _examine(name: str, known: str, solver: Solver) -> Examined:
    from lcifr.prove.oracles.solvers import canaries

    wrong = []
    asked = canaries()
    for canary in asked:
        try:
            said = canary.ask(solver)
        except Exception as problem:
            return Examined(name, known, Health.BROKEN, f"{canary.name}: {_fault(problem)}")
        if said:
            wrong.append(f"{canary.name}: {said}")
    state = Health.WRONG if wrong else Health.RIGHT
    return Examined(name, known, state, "; ".join(wrong) or f"{len(asked)} known answers")


def examine_engine() -> list[Examined]:
    """The methods that prove, on networks whose answers are known by hand."""
    from lcifr.prove.maximize import engine_answers

    found = []
    for method in ("branch", "milp"):
        try:
            said = engine_answers(method)
            state = Health.WRONG if said else Health.RIGHT
        except ModuleNotFoundError as missing:
            said, state = getattr(missing_extra(missing, method), "fix", None) or str(missing), Health.ABSENT
        except Exception as problem:
            said, state = _fault(problem), Health.BROKEN
        found.append(Examined(f"engine: {method}", "", state, said or "known answers"))
    return found


def _fault(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"


def _version(name: str) -> str | None:
    for known in (name, f"{name}-cpu"):  # xgboost-cpu is xgboost without its GPU libraries
        with suppress(PackageNotFoundError):
            return version(known)
    return None


def _gpu() -> str | None:
    try:
        import torch
    except ModuleNotFoundError:
        return None
    if torch.cuda.is_available():
        return f"{torch.cuda.get_device_name(0)} (CUDA {torch.version.cuda})"
    return "Apple (mps)" if torch.backends.mps.is_available() else None


# What a model file holds, in words and as plain values.


@dataclass(frozen=True)
class ShowRequest:
    """Which model file to describe."""

    file: Path = argument("FILE", "A model: ONNX, skops, XGBoost or LightGBM.")
    describe: Path | None = describe_option(panel=YOUR_MODEL)
    missing: float | None = missing_option()
    threshold: float | None = threshold_option()
    score_threshold: float | None = score_threshold_option()


@dataclass(frozen=True)
class ShownModel:
    """A model file, and what is in it."""

    file: ModelFile
    outline: ModelOutline

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        file, outline, described = self.file, self.outline, self.file.description
        columns = outline.columns if described is None or not described.inputs else described.columns
        return {
            "format": "lcifr-model-shown-1",
            "command": "model show",
            "file": str(file.path),
            "model_format": str(file.format),
            "sha256": file.sha256,
            "description": None if described is None else described.source,
            "draft": described is not None and described.draft,
            "columns": columns,
            "outline": asdict(outline) | {"classes": [json_value(one) for one in outline.classes]},
        }


def show_model(request: ShowRequest) -> ShownModel:
    """Load a model file and say what it is."""
    file = open_model(request.file, request.describe, DeclaredByOption.of(request), drafts=True)
    return ShownModel(file, file.outline())


def described_words(described: ModelDescription) -> str:
    """What a description says of a model, and where it stands, in a sentence."""
    what = "The columns are" if described.inputs else "What the file does not say is"
    return f"{what} {'declared with' if described.source.startswith('--') else 'described in'} {described.source}."


# A model as it was read, compared with its library on the rows of a table and on rows made up to find differences.

MADE_UP = 2000
"""People made up within the ranges of the table."""


@dataclass(frozen=True, kw_only=True)
class CompareRequest(ModelOptions):
    """Which model to compare with its library, and on whose rows; ``seed`` : of the people who are made up."""

    table: Path | None = option(
        None, "People to compare the model on.", name="data", metavar="TABLE", panel=YOUR_MODEL, before="describe"
    )
    id_column: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class ComparedRows:
    """What both say of some rows.

    Parameters
    ----------
    equal : decisions that are the same. rounding : that differ, where the margin is below what rounding can do.
    wrong : decisions or outputs that differ beyond that. largest : the largest difference of an output; None where the
        library gives none. allowed : what rounding can make of it at most. first : the first wrong row.
    """

    name: str
    people: int
    equal: int
    rounding: int
    wrong: int
    largest: float | None
    allowed: float
    first: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class DeclaredRule:
    """What a declared threshold changes: ``rule`` is the library's own one, in words.

    Parameters
    ----------
    people : rows of the table. others : rows that the library decides differently by its own rule.
    """

    rule: str
    people: int
    others: int


@dataclass(frozen=True)
class CompareResult:
    """What a comparison found.

    Parameters
    ----------
    runtime : what computed the library's own decisions; empty where it is not installed and nothing was compared.
    left_out : rows of the table with missing values, which an audit does not examine. total : all its rows.
    rule : how both decide, in words.
    declared : where a description declares the threshold, what that changes. assumptions : what the file does not say.
    labels : how the decisions compare with the true labels; None where the table has none that are classes.
    draft : of a description that is still one and was not accepted, its file; backwards : whether the score ranks the
        labels backwards, and that was not accepted.
    """

    model: str
    sha256: str
    runtime: str
    rows: tuple[ComparedRows, ...]
    left_out: int
    total: int
    rule: str = ""
    declared: DeclaredRule | None = None
    assumptions: tuple[str, ...] = ()
    labels: LabelComparison | None = None
    draft: str | None = None
    backwards: bool = False

    @property
    def agrees(self) -> bool:
        """Whether the library was asked, and nothing differs beyond rounding."""
        return bool(self.runtime) and not any(one.wrong for one in self.rows)

    @property
    def is_ready(self) -> bool:
        """Whether an audit would start: the library agrees, the description is no draft, labels are not backwards."""
        return self.agrees and self.draft is None and not self.backwards

    @property
    def share(self) -> float:
        """The share of equal decisions."""
        return sum(one.equal for one in self.rows) / max(sum(one.people for one in self.rows), 1)

    @property
    def largest(self) -> float | None:
        """The largest difference of an output."""
        return max((one.largest for one in self.rows if one.largest is not None), default=None)

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        said = {"agrees": self.agrees, "ready": self.is_ready, "share": self.share, "largest": self.largest}
        return {"format": "lcifr-model-compared-1", "command": "doctor", **asdict(self), **said}


def compare_model(request: CompareRequest, listener: Listener | None = None) -> CompareResult:
    """Compare a model with its library; ``listener`` receives the events of :mod:`lcifr.workflows.events`."""
    from lcifr.certification.reference import make_up_people, place_at_boundaries
    from lcifr.data import Individuals
    from lcifr.workflows.people import complete_table, load_whole

    model, table = request.model, request.table
    if model is None or table is None:
        raise LcifrError(
            "--model needs people to compare on", fix="add --data TABLE, with the columns that the model reads"
        )
    with listening(listener), step(f"Comparing {model} with its library"):
        file = open_model(model, request.describe, DeclaredByOption.of(request), drafts=True)
        loaded = load_whole(table, None, "lcifr doctor")
        beside = str(table.with_suffix(".phi"))  # and the schema of the same name, as `lcifr init` writes them
        schema = schema_of_table(loaded.frame, table, request, file.outline(), beside)
        loaded, left_out = complete_table(loaded, table, schema)
        columns, labels = loaded.frame.column_names, _labels(loaded.frame, schema)
        frame = loaded.frame.select(list(schema.names))
        read = _read_model(file, frame, schema)
        library = read.library
        positional = library.positional
        if positional is not None and (text := positional.warning(str(table), columns)) is not None:
            warn(text)
        people = Individuals.read(frame, schema)
        tried = {
            "rows of the table": people,
            "made-up rows": make_up_people(library, people, MADE_UP, request.seed),
            "beside boundaries": place_at_boundaries(library, people),
        }
        rows = tuple(_compared(name, some, read) for name, some in tried.items())
        outline, declared = file.outline(), _declared(file, read, people, schema)
        beside_labels = None if labels is None else compare_with_labels(read.model, read.scores(people), labels)
        if labels is not None and beside_labels is None and (classes := read.model.labels) is not None:
            known, decided = {one for one in labels if one is not None}, [json_value(one) for one in classes]
            note(f"not compared with the labels: {other_classes(str(schema.target), known, decided)}")
    described = file.description
    return CompareResult(
        model=str(model),
        sha256=file.sha256,
        runtime=outline.runtime,
        rows=rows,
        left_out=left_out,
        total=loaded.count,
        rule=outline.rule,
        declared=declared,
        assumptions=outline.assumptions,
        labels=beside_labels,
        draft=described.source if described is not None and described.draft and not request.accept_draft else None,
        backwards=beside_labels is not None and beside_labels.is_backwards and not request.accept_accuracy,
    )


def _declared(file: ModelFile, read: Subject, people: Individuals, schema: Schema) -> DeclaredRule | None:
    """The library's own rule beside the declared one; None where none is declared, or the file has no rule itself."""
    from dataclasses import replace

    from lcifr.models.description import DescribedOutput, Meaning
    from lcifr.models.loading import ModelFormat, load_file

    described = file.description
    output = None if described is None else described.output
    if described is None or output is None or not output.has_threshold or file.format is ModelFormat.ONNX:
        return None
    own = load_file(file.path, replace(described, output=DescribedOutput(Meaning.CLASS, classes=output.classes)))
    plain = own.read_table(read.library.table, _unscaled(schema))
    others = int((plain.library_decides(people) != read.library.library_decides(people)).sum())
    return DeclaredRule(own.outline().rule, len(people), others)


def _labels(frame: pa.Table, schema: Schema) -> list[Any] | None:
    """The true labels of the rows, where the table has them."""
    if schema.target is None or schema.target not in frame.column_names:
        return None
    import pyarrow as pa

    from lcifr.data.frames import as_text

    column = frame[schema.target]
    return list((as_text(column) if pa.types.is_string(column.type) else column).to_pylist())


def _read_model(file: Any, frame: pa.Table, schema: Schema) -> Subject:
    """Without scales: nothing here speaks of standard deviations."""
    from lcifr.certification.subject import Subject
    from lcifr.phi import Similarity

    similarity = Similarity("same(all)", schema, _unscaled(schema))
    tolerance = 0.0 if file.outline().is_number else None
    return Subject.of_library(file, frame.to_pandas(), similarity, tolerance=tolerance)


def _unscaled(schema: Schema) -> Encoding:
    import numpy as np

    from lcifr.data import Encoding

    return Encoding(schema, np.zeros(len(schema.numeric)), np.ones(len(schema.numeric)))


def _compared(name: str, people: Individuals, read: Subject) -> ComparedRows:
    found: LibraryComparison = read.compare(people)
    wrong = int(found.wrong.sum())
    first = None
    if wrong:
        row = int(found.wrong.argmax())
        person = {str(column): json_value(value) for column, value in people.to_pandas().iloc[row].items()}
        first = {"read": json_value(found.read[row]), "library": json_value(found.library[row]), "person": person}
    rounding = int((found.differ & ~found.wrong).sum())
    return ComparedRows(name, len(found), found.equal, rounding, wrong, found.largest, found.allowed, first)


# Export of what a producer and a consumer learned as one ONNX file.


@dataclass(frozen=True)
class ExportRequest:
    """Which trained networks to export, and to which file."""

    producer: Path = argument("PRODUCER", PRODUCER)
    consumer: Path | None = argument(
        "[CONSUMER]", "The folder that `lcifr consume` wrote, to export the whole model.", None
    )
    out: Path = option(Path("model.onnx"), "The file to write.", metavar="FILE")
    arithmetic: str = option("float32", "float32 or float64.", metavar="FORMAT")


@dataclass(frozen=True)
class ExportedModel(CommandResult):
    """A written ONNX file.

    Parameters
    ----------
    inputs : the columns of the table that it takes. outputs : what it returns for each person, by name.
    """

    format = "lcifr-model-exported-1"
    command = "model export"

    file: str
    sha256: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    arithmetic: str


def export_folders(request: ExportRequest) -> ExportedModel:
    """The producer's encoder, or with a consumer the whole model from the table's columns to the decision.

    Raises
    ------
    LcifrError
        Where the two folders do not belong together, and for weights that the arithmetic does not hold.
    """
    from lcifr.models.loaders.onnx.export import LABEL, LATENT, SCORE, ExportedRule, export_onnx
    from lcifr.models.network import as_network
    from lcifr.models.rule import Kind

    producer, consumer, kind = request.producer, request.consumer, read_arithmetic(request.arithmetic)
    networks: tuple[Network, ...]
    decision: ExportedRule | None = None
    outputs: tuple[str, ...]
    if consumer is None:
        made = read_producer(producer)
        saved = read_saved_encoder(producer)
        refuse_mixed(producer, "encoder", made.encoder, saved.function.hash)
        networks, encoding, outputs = (as_network(saved.function),), saved.similarity.encoding, (LATENT,)
    else:
        subject = FolderOrigin.read(producer, consumer).subject()
        model: Model = subject.model
        if model.function.tree_count:
            raise LcifrError(
                f"{consumer} decides with a tree model, and only networks are exported",
                fix=f"export the encoder alone (`lcifr model export {producer} --out z.onnx`), "
                "and give the trees' own file beside it",
            )
        networks, encoding = (subject.encoder.network, model.network), subject.encoding
        decision = ExportedRule(model.rule, model.labels)
        outputs = (SCORE,) if model.rule.kind is Kind.NUMBER else (SCORE, LABEL)
    export_onnx(request.out, encoding, networks, decision, kind)
    return ExportedModel(str(request.out), sha256_of(request.out), encoding.schema.names, outputs, str(kind))
