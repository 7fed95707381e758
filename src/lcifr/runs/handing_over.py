"""Z and proved radius into a folder, proofs into another, and what to say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lcifr.runs.limits import HELD, part_for, refuse_more
from lcifr.runs.people_source import Whom

if TYPE_CHECKING:
    from lcifr.estimators import FairEncoder


def hand_over(
    folder: Path,
    encoder: FairEncoder,
    whom: Whom,
    *,
    title: str,
    share_formula: bool,
    workers: int | None,
    chunk: int | None,
) -> None:
    """Write the hand-over of these people to ``folder``, part by part, unless it is there already.

    Their attributes are read where they are: a copy of them could be left where a consumer gets it.
    """
    from lcifr.runs.events import StepKind, step
    from lcifr.runs.file_runs import represent_file
    from lcifr.runs.learning import note_other_versions, note_resumed, workers_for

    if folder.exists():
        return
    with step(title, StepKind.LONG), note_other_versions():
        done = represent_file(
            encoder,
            whom.source,
            folder,
            id_column=whom.id_column,
            chunk=part_for(whom.people, chunk),
            workers=workers_for(whom.people, workers),
            share_formula=share_formula,
        )
    note_resumed(done)


def refuse_bundle(people: int) -> None:
    """Before anything is proved: proofs are held in memory until they are written."""
    refuse_more(people, HELD, "--bundle", "say --no-bundle; or give a table of fewer people")


def prove_radii(folder: Path, encoder: FairEncoder, whom: Whom, handed: Path) -> None:
    """Write the proofs of a hand-over's radii to ``folder``, unless they are there already."""
    from lcifr.artifacts.handover import Representation
    from lcifr.certification.bundle import write_bundle
    from lcifr.runs.events import step

    if not folder.exists():
        with step(f"Writing the proofs of {whom.people} people for the exact checker"):
            write_bundle(folder, encoder, whom.individuals(), Representation.read(handed))
