"""What every audit is asked for, whatever it is about: subgroups, baselines, proofs, samples, processes."""

from __future__ import annotations

from dataclasses import dataclass

from lcifr.errors import LcifrError
from lcifr.runs.events import note
from lcifr.runs.people.source import HELD, PROVED, PeopleSource, refuse_more


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

    def __post_init__(self) -> None:
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
            note(f"no baselines beside it: they need everybody in memory, and these are more than {HELD:,}")

    def wants_baselines(self, source: PeopleSource) -> bool:
        """Whether baselines stand beside the model: where labels are known, unless it is said otherwise."""
        wanted = source.count <= HELD if self.baselines is None else self.baselines
        return wanted and source.label is not None
