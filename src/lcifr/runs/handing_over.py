"""Z and proved radius into a folder, proofs into another, and what to say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lcifr.runs.people.source import HELD, PeopleSource, part_for, refuse_more

if TYPE_CHECKING:
    from lcifr.certification.handover import FrozenEncoder
    from lcifr.estimators.baselines import Producer
    from lcifr.runs.executors.crew import Workers
    from lcifr.runs.folders.settings import Steps

BUNDLE = "bundle"


class HandingOver(Protocol):
    """What a request says of how people are handed over."""

    @property
    def share_formula(self) -> bool: ...
    @property
    def arithmetic(self) -> str: ...
    @property
    def crew(self) -> Workers: ...
    @property
    def chunk(self) -> int | None: ...


def hand_over(
    steps: Steps,
    name: str,
    encoder: Producer | FrozenEncoder,
    source: PeopleSource,
    options: HandingOver,
    *,
    title: str,
    device: str = "cpu",
) -> None:
    """Write the hand-over of these people to the folder ``name``, part by part, unless that is done already.

    Nothing else is written into that folder, which a consumer gets. ``device`` : where bounds are computed.
    """
    from lcifr.runs.events import StepKind, step
    from lcifr.runs.executors.devices import job_device
    from lcifr.runs.streaming.handovers import represent_file
    from lcifr.runs.streaming.large import note_resumed

    if steps.kept(name):
        return
    with step(title, StepKind.LONG):
        done = represent_file(
            encoder,
            source.worked_on,
            steps.work / name,
            id_column=source.id_column,
            chunk=part_for(source.count, options.chunk),
            workers=options.crew,
            share_formula=options.share_formula,
            arithmetic=options.arithmetic,
            device=job_device(device, options.crew),
        )
    steps.keep(name)
    note_resumed(done)


def refuse_bundle(people: int) -> None:
    """Before anything is proved: proofs are held in memory until they are written."""
    refuse_more(people, HELD, "--bundle", "say --no-bundle; or give a table of fewer people")


def prove_radii(steps: Steps, encoder: Producer | FrozenEncoder, source: PeopleSource, handed: str) -> None:
    """Write the proofs of the radii of the hand-over ``handed`` to the bundle, unless that is done already."""
    from lcifr.certification.bundle import write_bundle
    from lcifr.certification.handover import Representation
    from lcifr.runs.events import step

    if not steps.kept(BUNDLE):
        with step(f"Writing the proofs of {source.count:,} people for the exact checker"):
            write_bundle(steps.work / BUNDLE, encoder, source.individuals(), Representation.read(steps.work / handed))
        steps.keep(BUNDLE)
