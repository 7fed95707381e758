"""What producers' and consumers' runs found: frozen dataclasses, each with one way to JSON and one way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from lcifr.runs.folders.run import fitting_together, read_result
from lcifr.runs.folders.summaries import ConsumerSummary, Json, ProducerSummary, listed
from lcifr.runs.people.train_test import TRAIN

if TYPE_CHECKING:
    from lcifr.certification.handover import RadiusSummary
    from lcifr.certification.population import Statement
    from lcifr.estimators.tuning import FrontierPoint
    from lcifr.runs.auditing.origin import ModelOrigin

NOT_CONSUMED = ("subgroups", "baselines")  # of a statement: a consumer knows no attributes and trains no baselines


@dataclass(frozen=True)
class ProduceResult:
    """What ``produce`` says; unaware : whether the encoder is the baseline by that name.

    model : of a booster for classes, the sum of its scores, by which it decides itself; None for all others.
    """

    unaware: bool
    produced: ProducerSummary
    model: ConsumerSummary | None = None
    format: ClassVar[str] = "lcifr-produced-1"
    command: ClassVar[str] = "produce"

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        head = {"format": self.format, "command": self.command, "unaware": self.unaware}
        return {**head, **self.produced.to_dict(), **_plain_model(self.model)}


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
    arithmetic : in which the model is computed; the provenance names the encoder's.
    claimed, checked : people of that split whose radius rests on the producer's word, and on the checker's.
    origin : of a tree model that was trained elsewhere.
    """

    model: ConsumerSummary
    about: str
    sizes: Mapping[str, int]
    held_out: bool
    statement: Statement
    on: str
    arithmetic: str
    claimed: int
    checked: int
    files: Mapping[str, str]
    origin: ModelOrigin | None = None
    format: ClassVar[str] = "lcifr-consumed-1"
    command: ClassVar[str] = "consume"

    @property
    def is_in_sample(self) -> bool:
        """Whether the model learned from these very people; of a model from elsewhere that is not known."""
        return self.origin is None and self.about == TRAIN

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        model = {one.name: listed(getattr(self.model, one.name)) for one in fields(self.model)}
        said = asdict(replace(self.statement, subgroups=None))
        return {
            "format": self.format,
            "command": self.command,
            **{name: model[name] for name in ("target", "task", "classes", "tolerance")},
            "about": self.about,
            "trained_on": self.model.trained_on,
            "sides": dict(self.sizes),
            "held_out": self.held_out,
            **{name: listed(value) for name, value in said.items() if name not in NOT_CONSUMED},
            "on": self.on,
            "arithmetic": self.arithmetic,
            "radius": {"claimed": self.claimed, "checked": self.checked},
            "provenance": asdict(self.model.provenance),
            "model": self.model.model,
            "origin": None if self.origin is None else self.origin.to_dict(),
            "files": dict(self.files),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ConsumeResult:
        """What :meth:`to_dict` gave; KeyError, TypeError or ValueError where something is missing or odd."""
        from lcifr.certification.population import Statement
        from lcifr.runs.auditing.origin import ModelOrigin

        return cls(
            model=ConsumerSummary.from_dict(plain),
            about=str(plain["about"]),
            sizes=dict(plain["sides"]),
            held_out=bool(plain["held_out"]),
            statement=Statement.from_dict(plain),
            on=str(plain["on"]),
            arithmetic=str(plain["arithmetic"]),
            claimed=int(plain["radius"]["claimed"]),
            checked=int(plain["radius"]["checked"]),
            files=dict(plain["files"]),
            origin=ModelOrigin.from_dict(plain["origin"]) if plain.get("origin") else None,
        )

    @classmethod
    def read(cls, folder: Path) -> ConsumeResult:
        """The result in a folder that ``consume`` wrote."""
        with fitting_together(folder):
            return cls.from_dict(read_result(folder, cls.command))


@dataclass(frozen=True)
class TuneResult:
    """What ``tune`` says: every model that was tried, and the one that was chosen, if any.

    Parameters
    ----------
    by : the score that had to be ``required``. chosen, gamma : name and weight of that model. why : it, or none.
    plain, unaware, points : the baselines, and the models with rising weights. others : baselines of a second family.
    tried : ``network``, ``trees`` or ``both``.
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
    others: tuple[FrontierPoint, ...] = ()
    tried: str = "network"
    format: ClassVar[str] = "lcifr-frontier-1"
    command: ClassVar[str] = "tune"

    @property
    def baselines(self) -> tuple[FrontierPoint, ...]:
        """Plain and unaware, of every family."""
        return self.plain, self.unaware, *self.others

    def to_dict(self) -> Json:
        """The content of ``result.json``."""
        apart = ("plain", "unaware", "points", "others", "files", "produced", "model")
        said = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in apart}
        said |= {"plain": _point(self.plain), "unaware": _point(self.unaware), "points": [*map(_point, self.points)]}
        said |= {"others": [*map(_point, self.others)]}
        said |= {"files": dict(self.files)}
        if self.produced is not None:
            said |= {name: value for name, value in self.produced.to_dict().items() if name != "files"}
        return {"format": self.format, "command": self.command, **said, **_plain_model(self.model)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TuneResult:
        """What :meth:`to_dict` gave; of what is trivial about a model the words alone are left."""
        apart = ("plain", "unaware", "points", "others", "files", "produced", "model")
        plain = {"others": (), "tried": "network", **plain}  # before there was a choice of what learns
        known = {one.name: plain[one.name] for one in fields(cls) if one.name not in apart}
        found = bool(plain["chosen"])
        return cls(
            **known,
            plain=_read_point(plain["plain"]),
            unaware=_read_point(plain["unaware"]),
            points=tuple(map(_read_point, plain["points"])),
            others=tuple(map(_read_point, plain["others"])),
            files=dict(plain["files"]),
            produced=ProducerSummary.from_dict(plain) if found else None,
            model=ConsumerSummary.from_dict(plain) if found else None,
        )

    @classmethod
    def read(cls, folder: Path) -> TuneResult:
        """The result in a folder that ``tune`` wrote."""
        with fitting_together(folder):
            return cls.from_dict(read_result(folder, cls.command))


def _plain_model(model: ConsumerSummary | None) -> Json:
    """What a consumer's model is, where a producer's folder holds one; target and task are the producer's."""
    more = ("classes", "tolerance", "trained_on", "provenance", "model")
    return {} if model is None else {name: listed(asdict(model)[name]) for name in more}


def _point(point: FrontierPoint) -> Json:
    """A model that was tried: what is trivial about it in words, and what to do about it."""
    said = {"degeneracies": [one.message for one in point.degeneracies]}
    return {**asdict(point), **said, "advice": [one.advice for one in point.degeneracies if one.advice]}


def _read_point(plain: Mapping[str, Any]) -> FrontierPoint:
    from lcifr.estimators.tuning import FrontierPoint
    from lcifr.models.model import Degeneracy

    plain = {"learner": "network", "on": "ball", **plain}  # before there was a choice of what learns
    known = {one.name: plain[one.name] for one in fields(FrontierPoint)}
    return FrontierPoint(**known | {"degeneracies": tuple(Degeneracy("", text) for text in plain["degeneracies"])})
