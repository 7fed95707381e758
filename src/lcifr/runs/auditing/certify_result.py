"""The result of ``certify``: what is proved of new people, read from and written to ``result.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.certification.population import ScaleSource
from lcifr.runs.folders.run import fitting_together, read_result

if TYPE_CHECKING:
    from lcifr.certification.handover import Provenance
    from lcifr.certification.population import Statement, Tally
    from lcifr.runs.auditing.origin import ModelOrigin
    from lcifr.runs.auditing.result import FormulaSummary, ModelHashes, ModelSummary

FORMAT = "lcifr-certified-2"


@dataclass(frozen=True)
class LookUpSummary:
    """How many ``people`` a sweep certifies without a search; its folder, and its hash.

    ``checked`` of them by cells that the exact checker has confirmed, ``claimed`` by whoever swept.
    """

    people: int
    checked: int
    claimed: int
    folder: str
    sweep: str


@dataclass(frozen=True)
class CertifyResult:
    """What is proved of new people.

    Parameters
    ----------
    target, task, classes, tolerance : of the consumer's model.
    proved : ``end to end``, or ``hand-over, ball`` or ``hand-over, box``.
    statement : counts, shares and warnings; never about a population.
    arithmetic : in which the model is computed. encoder_arithmetic : of the encoder, which may differ in a hand-over;
        None for a model without one.
    certificates : the file, inside the result's folder, with a decision and a verdict for everybody.
    provenance : of the hand-over that the model learned from, where a hand-over was certified.
    hashes, phi : what was proved from end to end.
    origin : of a model of another library.
    looked_up : who was certified by a sweep; None without one.
    scales : the standard deviations and ranks that φ speaks of, and how many rows of which table they come from.
    labels : as for :class:`lcifr.runs.auditing.result.ModelSummary`.
    """

    target: str
    task: str
    classes: tuple[Any, ...]
    tolerance: float | None
    proved: str
    statement: Statement
    certificates: str
    arithmetic: str
    encoder_arithmetic: str | None
    provenance: Provenance | None = None
    hashes: ModelHashes | None = None
    phi: FormulaSummary | None = None
    origin: ModelOrigin | None = None
    looked_up: LookUpSummary | None = None
    scales: tuple[ScaleSource, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def end_to_end(cls, model: ModelSummary, tally: Tally, looked_up: LookUpSummary | None = None) -> CertifyResult:
        """What an audit of the same people found."""
        from lcifr.certification.population import state_tally
        from lcifr.runs.auditing.gathering import AUDITED

        return cls(
            model.target,
            model.task,
            model.classes,
            model.tolerance,
            "end to end",
            state_tally(tally, held_out=False),
            f"{AUDITED}/audit.parquet",
            model.arithmetic,
            model.arithmetic if model.hashes.has_encoder else None,
            hashes=model.hashes,
            phi=model.phi,
            origin=model.origin,
            looked_up=looked_up,
            scales=model.scales,
            labels=model.labels,
        )

    @property
    def radius(self) -> str | None:
        """``claimed``: the verdicts rest on the producer's radius. None where they rest on no radius."""
        return None if self.provenance is None else "claimed"

    def to_dict(self) -> dict[str, Any]:
        """The content of ``result.json``."""
        said = self.statement.to_dict()
        del said["subgroups"], said["baselines"]
        about = {"provenance": self.provenance, "phi": self.phi}
        hashes = {} if self.hashes is None else {"hashes": self.hashes.to_dict()}
        encoder = {} if self.encoder_arithmetic is None else {"encoder_arithmetic": self.encoder_arithmetic}
        return {
            "format": FORMAT,
            "command": "certify",
            "target": self.target,
            "task": self.task,
            "classes": list(self.classes),
            "tolerance": self.tolerance,
            "labels": dict(self.labels),
            **{name: asdict(known) for name, known in about.items() if known is not None},
            **hashes,
            "origin": None if self.origin is None else self.origin.to_dict(),
            "left_out": self.statement.not_examined,
            "proved": self.proved,
            "arithmetic": self.arithmetic,
            **encoder,
            "held_out": False,
            **said,
            "radius": self.radius,
            "scales": [asdict(one) for one in self.scales],
            **({} if self.looked_up is None else {"looked_up": asdict(self.looked_up)}),
            "files": {"certificates": self.certificates},
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CertifyResult:
        """What :meth:`to_dict` gave."""
        from lcifr.certification.handover import Provenance
        from lcifr.certification.population import Statement
        from lcifr.runs.auditing.origin import ModelOrigin
        from lcifr.runs.auditing.result import FormulaSummary, ModelHashes

        return cls(
            str(plain["target"]),
            str(plain["task"]),
            tuple(plain["classes"]),
            plain["tolerance"],
            str(plain["proved"]),
            Statement.from_dict(plain),
            str(plain["files"]["certificates"]),
            str(plain["arithmetic"]),
            plain.get("encoder_arithmetic"),
            Provenance.from_dict(plain["provenance"]) if "provenance" in plain else None,
            ModelHashes.from_dict(plain["hashes"]) if "hashes" in plain else None,
            FormulaSummary(**plain["phi"]) if "phi" in plain else None,
            ModelOrigin.from_dict(plain["origin"]) if plain.get("origin") else None,
            LookUpSummary(**plain["looked_up"]) if "looked_up" in plain else None,
            tuple(ScaleSource(**one) for one in plain.get("scales") or ()),
            dict(plain.get("labels") or {}),
        )

    @classmethod
    def read(cls, folder: Path) -> CertifyResult:
        """The result in a folder that ``certify`` wrote."""
        with fitting_together(folder):
            return cls.from_dict(read_result(folder, "certify"))
