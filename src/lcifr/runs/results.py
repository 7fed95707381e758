"""What producers' and consumers' runs found: frozen dataclasses, each with one way to JSON and one way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from lcifr.errors import LcifrError
from lcifr.runs.folder import RESULT, read_result
from lcifr.runs.people.tables import DatasetNotes

if TYPE_CHECKING:
    from lcifr.artifacts.handover import Provenance
    from lcifr.artifacts.handover_chunks import RadiusSummary
    from lcifr.certification.population.statement import Statement
    from lcifr.estimators.frontier import FrontierPoint

Json = dict[str, Any]
Summary = TypeVar("Summary", "ProducerSummary", "ConsumerSummary")
NOT_CONSUMED = ("subgroups", "baselines")  # of a statement: a consumer knows no attributes and trains no baselines


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
        not depend on. epochs : learned. radius : of the held-out people. files : in the run's folder, by what they are.
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

    def to_dict(self) -> Json:
        """Plain values for JSON, which calls the splits sides."""
        return {"sides" if name == "sizes" else name: _listed(value) for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ProducerSummary:
        """What :meth:`to_dict` gave, read again; other keys are not looked at."""
        from lcifr.artifacts.handover_chunks import RadiusSummary

        known = _known(cls, {**plain, "sizes": plain["sides"]})
        data = known["data"]
        known["data"] = None if data is None else DatasetNotes(**{**data, "cautions": tuple(data["cautions"])})
        known["phi"] = ProducerFormula(**_known(ProducerFormula, known["phi"]))
        known["radius"] = RadiusSummary(**known["radius"])
        return cls(**known | {name: tuple(known[name]) for name in ("held_out", "unread", "warnings")})


@dataclass(frozen=True)
class ConsumerSummary:
    """A consumer's model: what it predicts, what it learned from, and the encoder (provenance) it belongs to.

    Parameters
    ----------
    classes : what it decides between; empty for numbers, which have a tolerance. model : the hash of its weights.
    """

    target: str
    task: str
    classes: tuple[Any, ...]
    tolerance: float | None
    trained_on: int
    provenance: Provenance
    model: str

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ConsumerSummary:
        """As the results of ``consume`` and ``tune`` say it."""
        from lcifr.artifacts.handover import Provenance

        known = _known(cls, plain)
        known["provenance"] = Provenance(**known["provenance"])
        return cls(**known | {"classes": tuple(known["classes"])})


@dataclass(frozen=True)
class ProduceResult:
    """What ``produce`` says; unaware : whether the encoder is the baseline by that name."""

    unaware: bool
    produced: ProducerSummary
    format: ClassVar[str] = "lcifr-produced-1"
    command: ClassVar[str] = "produce"

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        head = {"format": self.format, "command": self.command, "unaware": self.unaware}
        return {**head, **self.produced.to_dict()}


@dataclass(frozen=True)
class RepresentResult:
    """What ``represent`` says; encoder : the hash of its weights."""

    people: int
    encoder: str
    radius: RadiusSummary
    files: Mapping[str, str | None]
    format: ClassVar[str] = "lcifr-represented-1"
    command: ClassVar[str] = "represent"

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        return {"format": self.format, "command": self.command, **asdict(self)}


@dataclass(frozen=True)
class ConsumeResult:
    """What ``consume`` says.

    Parameters
    ----------
    about : the split that the statement is about. sizes : people per split. on : ball or box.
    claimed, checked : people of that split whose radius rests on the producer's word, and on the checker's.
    """

    model: ConsumerSummary
    about: str
    sizes: Mapping[str, int]
    held_out: bool
    statement: Statement
    on: str
    claimed: int
    checked: int
    files: Mapping[str, str]
    format: ClassVar[str] = "lcifr-consumed-1"
    command: ClassVar[str] = "consume"

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        model = {one.name: _listed(getattr(self.model, one.name)) for one in fields(self.model)}
        said = asdict(replace(self.statement, subgroups=None))
        return {
            "format": self.format,
            "command": self.command,
            **{name: model[name] for name in ("target", "task", "classes", "tolerance")},
            "about": self.about,
            "trained_on": self.model.trained_on,
            "sides": dict(self.sizes),
            "held_out": self.held_out,
            **{name: _listed(value) for name, value in said.items() if name not in NOT_CONSUMED},
            "on": self.on,
            "radius": {"claimed": self.claimed, "checked": self.checked},
            "provenance": asdict(self.model.provenance),
            "model": self.model.model,
            "files": dict(self.files),
        }


@dataclass(frozen=True)
class TuneResult:
    """What ``tune`` says: every model that was tried, and the one that was chosen, if any.

    Parameters
    ----------
    by : the score that had to be ``required``. chosen, gamma : name and weight of that model. why : it, or none.
    plain, unaware, points : the baselines, and the models with rising weights.
    produced, model : the chosen models as a producer's and a consumer's folder has them; None where none was chosen.
    """

    required: float
    by: str
    chosen: str | None
    gamma: float | None
    why: str
    stretch: float
    decoder_weight: float
    class_weight: str | None
    whole_numbers: bool
    plain: FrontierPoint
    unaware: FrontierPoint
    points: tuple[FrontierPoint, ...]
    files: Mapping[str, str | None]
    produced: ProducerSummary | None = None
    model: ConsumerSummary | None = None
    format: ClassVar[str] = "lcifr-frontier-1"
    command: ClassVar[str] = "tune"

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        apart = ("plain", "unaware", "points", "files", "produced", "model")
        said = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in apart}
        said |= {"plain": _point(self.plain), "unaware": _point(self.unaware), "points": [*map(_point, self.points)]}
        said |= {"files": dict(self.files)}
        if self.produced is not None:
            said |= {name: value for name, value in self.produced.to_dict().items() if name != "files"}
        if self.model is not None:
            more = ("classes", "tolerance", "trained_on", "provenance", "model")
            said |= {name: _listed(value) for name, value in asdict(self.model).items() if name in more}
        return {"format": self.format, "command": self.command, **said}


# -- reading -----------------------------------------------------------------------------------------------------------


def read_producer(folder: Path) -> ProducerSummary:
    """What the command that wrote a producer's folder said: ``produce``, or ``tune`` where it found a model."""
    return _read(ProducerSummary, folder, "produce", "tune")


def read_consumer(folder: Path) -> ConsumerSummary:
    """What the command that wrote a consumer's folder said; the folder of ``tune`` holds a consumer's model too."""
    return _read(ConsumerSummary, folder, "consume", "tune")


def _read(kind: type[Summary], folder: Path, *commands: str) -> Summary:
    plain = read_result(folder, *commands)
    try:
        return kind.from_dict(plain)
    except (KeyError, TypeError, ValueError) as problem:
        raise LcifrError(
            f"{folder / RESULT} is not as lcifr writes it: {type(problem).__name__}: {problem}",
            fix="give the folder as it was written, or make it again",
        ) from None


def _known(kind: type[Any], plain: Mapping[str, Any]) -> Json:
    return {one.name: plain[one.name] for one in fields(kind)}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _point(point: FrontierPoint) -> Json:
    """A model that was tried: what is trivial about it in words, and what to do about it."""
    said = {"degeneracies": [one.message for one in point.degeneracies]}
    return {**asdict(point), **said, "advice": [one.advice for one in point.degeneracies if one.advice]}
