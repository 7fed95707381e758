"""A producer's and a consumer's folder: what their results say in a few words, and the saved models for proofs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lcifr.errors import LcifrError
from lcifr.runs.folders.run import RESULT, read_result

if TYPE_CHECKING:
    from lcifr.certification.handover import Provenance, RadiusSummary
    from lcifr.certification.population import Statement
    from lcifr.certification.saved_models import SavedHead, SavedProducer
    from lcifr.models.model import Degeneracy, Model
    from lcifr.phi.lint import Finding

Json = dict[str, Any]
Summary = TypeVar("Summary", "ProducerSummary", "ConsumerSummary")


@dataclass(frozen=True)
class DatasetNotes:
    """What is known of a dataset by name, to be said beside every figure; partial : why it is not all of it."""

    title: str
    partial: str | None
    cautions: tuple[str, ...]

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any] | None) -> DatasetNotes | None:
        """As results have it, with None for a table of one's own."""
        if plain is None:
            return None
        return cls(str(plain["title"]), plain["partial"], tuple(map(str, plain["cautions"])))


@dataclass(frozen=True)
class ProducerFormula:
    """A formula as results show it; source : the file or name it was given by."""

    text: str
    english: str
    hash: str
    source: str | None


@dataclass(frozen=True)
class ProducerSummary:
    """An encoder that was learned and handed over.

    Parameters
    ----------
    sizes : people per split. held_out : their ids. encoder : the hash of its weights. unread : attributes that z does
        not depend on. epochs : learned, of a booster the rounds. radius : of the held-out people.
    files : in the run's folder, by what they are.
    findings : what lint says of φ with the people who were learned from; None in folders of before it was kept.
    learner : ``network`` or ``trees``. scores : of trees, the attributes whose scores are the coordinates of z.
    """

    target: str
    data: DatasetNotes | None
    task: str
    sizes: Mapping[str, int]
    held_out: tuple[str | int, ...]
    phi: ProducerFormula
    encoder: str
    unread: tuple[str, ...]
    epochs: int
    radius: RadiusSummary
    warnings: tuple[str, ...]
    files: Mapping[str, str | None]
    findings: tuple[Finding, ...] | None = None
    learner: str = "network"
    scores: tuple[str, ...] = ()

    def to_dict(self) -> Json:
        """Plain values for JSON, which calls the splits sides."""
        said = asdict(replace(self, findings=None)) | {"findings": plain_findings(self.findings)}
        return {"sides" if name == "sizes" else name: listed(value) for name, value in said.items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ProducerSummary:
        """What :meth:`to_dict` gave, read again; other keys are not looked at."""
        from lcifr.certification.handover import RadiusSummary

        before = {"findings": None, "learner": "network", "scores": ()}  # folders of before there was a choice
        known = _known(cls, {**before, **plain, "sizes": plain["sides"]})
        known["data"] = DatasetNotes.from_dict(known["data"])
        known["phi"] = ProducerFormula(**_known(ProducerFormula, known["phi"]))
        known["radius"] = RadiusSummary(**known["radius"])
        known["findings"] = read_findings(known["findings"])
        return cls(**known | {name: tuple(known[name]) for name in ("held_out", "unread", "warnings", "scores")})


@dataclass(frozen=True)
class ConsumerSummary:
    """A consumer's model: what it predicts, what it learned from, and the encoder (provenance) it belongs to.

    Parameters
    ----------
    classes : what it decides between; empty for numbers, which have a tolerance. model : the hash of its weights.
    trained_on : people; None for a model from elsewhere, of which nobody knows.
    """

    target: str
    task: str
    classes: tuple[Any, ...]
    tolerance: float | None
    trained_on: int | None
    provenance: Provenance
    model: str

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ConsumerSummary:
        """As the results of ``consume`` and ``tune`` say it."""
        from lcifr.certification.handover import Provenance

        known = _known(cls, plain)
        known["provenance"] = Provenance.from_dict(known["provenance"])
        return cls(**known | {"classes": tuple(known["classes"])})


def read_producer(folder: Path) -> ProducerSummary:
    """What the command that wrote a producer's folder said: ``produce``, or ``tune`` where it found a model."""
    return _read(ProducerSummary, folder, "produce", "tune")


def read_consumer(folder: Path) -> ConsumerSummary:
    """What the command that wrote a consumer's folder said.

    The folder of ``tune`` holds a consumer's model too, and so does that of a booster, which decides by its own scores.
    """
    own = ("produce",) if (folder / MODEL).is_file() else ()
    return _read(ConsumerSummary, folder, "consume", "tune", *own)


def _read(kind: type[Summary], folder: Path, *commands: str) -> Summary:
    plain = read_result(folder, *commands)
    try:
        return kind.from_dict(plain)
    except (KeyError, TypeError, ValueError) as problem:
        raise LcifrError(
            f"{folder / RESULT} is not as lcifr writes it: {type(problem).__name__}: {problem}",
            fix="give the folder as it was written, or make it again",
        ) from None


def plain_findings(findings: tuple[Finding, ...] | None) -> list[dict[str, str]] | None:
    """What lint says of φ, as JSON has it."""
    if findings is None:
        return None
    return [{"code": one.code, "severity": str(one.severity), "message": one.message} for one in findings]


def read_findings(plain: Sequence[Mapping[str, Any]] | None) -> tuple[Finding, ...] | None:
    """What :func:`plain_findings` gave."""
    from lcifr.phi.lint import Finding, Severity

    if plain is None:
        return None
    return tuple(Finding(str(one["code"]), Severity(one["severity"]), str(one["message"])) for one in plain)


def _known(kind: type[Any], plain: Mapping[str, Any]) -> Json:
    return {one.name: plain[one.name] for one in fields(kind)}


def listed(value: Any) -> Any:
    """A tuple as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


TRAINING, MODEL = Path("people") / "train.parquet", "model.safetensors"
HEADS = {"classification": "RobustClassifier", "regression": "RobustRegressor"}
"""The kind of head that a task needs; a test keeps it like the estimators, which need not be loaded for it."""


def read_saved_encoder(folder: Path) -> SavedProducer:
    """The encoder or booster of a producer's folder, for proofs and not for training.

    Training people are read only for formulas that take ranks.
    """
    from lcifr.certification.saved_models import BOOSTERS, SavedBooster, SavedEncoder, read_kind
    from lcifr.data import Individuals, Schema, read_frame

    training, path = folder / TRAINING, folder / "encoder.safetensors"

    def people(schema: Schema) -> Individuals:
        return Individuals.read(read_frame(training).select(list(schema.names)), schema, fitting=True)

    there = people if training.is_file() else None
    if (kind := read_kind(path)) in BOOSTERS:
        return SavedBooster.read(path, kind, there, only_for_ranks=True)
    return SavedEncoder.read(path, there, only_for_ranks=True)


def read_saved_head(folder: Path, task: str) -> SavedHead:
    """What decides in a consumer's folder, for proofs and not for training: a head, or trees from elsewhere."""
    from lcifr.certification.saved_models import TREES, SavedHead, read_kind, read_saved_trees

    path = folder / MODEL
    return read_saved_trees(path) if read_kind(path) == TREES else SavedHead.read(path, HEADS[task])


def classes_of(model: Model) -> tuple[Any, ...]:
    """What a model decides between, as JSON has it; empty for numbers."""
    from lcifr.data.files import json_value

    return () if model.labels is None else tuple(json_value(one) for one in model.labels)


def learned_warnings(found: Iterable[Degeneracy], said: Statement) -> list[str]:
    """What is trivial about a model on the people it learned from, unless the statement says it of these people."""
    accuracy, majority = said.accuracy, said.majority_rate
    below = accuracy is not None and majority is not None and accuracy < majority
    known = {name for name, holds in (("constant", said.constant is not None), ("below majority", below)) if holds}
    return [_of_learning(one) for one in found if one.name not in known]


def _of_learning(one: Degeneracy) -> str:
    there = one.name in ("constant", "below majority")
    return f"on the people it learned from: {one.message}" if there else one.message
