"""What an audit is about, wherever that comes from (φ, encoding, model, arithmetic, library), and how it is done."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lcifr.errors import LcifrError, did_you_mean
from lcifr.runs.events import note
from lcifr.runs.executors.crew import workers_of
from lcifr.runs.executors.devices import job_device
from lcifr.runs.people.source import HELD, PROVED, PeopleSource, refuse_more

if TYPE_CHECKING:
    from lcifr.certification.handover import FrozenEncoder
    from lcifr.certification.subject import Hashes, LibraryModel
    from lcifr.data import Individuals, Schema
    from lcifr.models.arithmetic import Arithmetic
    from lcifr.models.model import Model
    from lcifr.runs.auditing.result import ModelSummary
    from lcifr.runs.executors.crew import Workers
    from lcifr.runs.executors.library_file import LibraryFile


class AuditSubject(ABC):
    """The whole model with its φ: h ∘ f of a producer and a consumer, or a model of another library.

    ``encoder`` has the φ that is asked about; ``arithmetic`` is the one in which both are computed.
    """

    encoder: FrozenEncoder
    arithmetic: Arithmetic

    @property
    @abstractmethod
    def model(self) -> Model:
        """What decides on the encoder's numbers, as proofs see it."""

    @property
    def library(self) -> LibraryModel | None:
        """The library that the model comes from, without whose word nothing is a counterexample; None for our own."""
        return None

    @property
    def library_file(self) -> LibraryFile | None:
        """The file of that model, for other machines to read; None for our own."""
        return None

    @abstractmethod
    def summary(self) -> ModelSummary:
        """What is said of it in every result."""

    @property
    def schema(self) -> Schema:
        return self.encoder.encoding.schema

    @cached_property
    def hashes(self) -> Hashes:
        """What all verdicts must be about."""
        from lcifr.certification.subject import Hashes

        return Hashes.of(self.encoder, self.model, self.arithmetic)

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
        free = self.encoder.free_attributes
        wanted = asked or [one.name for one in self.schema.categorical if one.name in free]
        return {name: people.column(name).to_numpy(zero_copy_only=False) for name in wanted}


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
