"""How do commands hand people over? z and proved radius into a folder, proofs into another, and what to say of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lcifr.cli._people import Side, with_ids

if TYPE_CHECKING:
    from lcifr.certificates import Representation
    from lcifr.estimators import FairEncoder


def hand_over(
    folder: Path,
    encoder: FairEncoder,
    whom: Side,
    *,
    title: str,
    share_formula: bool,
    workers: int | None,
    chunk: int,
) -> None:
    """Write the hand-over of these people to ``folder``, part by part, unless it is there already.

    Their attributes stay in memory: a file of them could be left where a consumer gets it.
    """
    from lcifr.certificates.files import represent_file
    from lcifr.cli._learning import plain_notes, timed, watched, workers_for

    if folder.exists():
        return
    table, id_column = with_ids(whom)
    with timed(title), plain_notes():
        represent_file(
            encoder,
            table,
            folder,
            id_column=id_column,
            chunk=chunk,
            workers=workers_for(len(whom), workers),
            progress=watched(),
            share_formula=share_formula,
        )


def prove_radii(folder: Path, encoder: FairEncoder, whom: Side, handed: Representation) -> None:
    """Write the proofs of a hand-over's radii to ``folder``, unless they are there already."""
    from lcifr.certificates import write_bundle
    from lcifr.cli._learning import waiting

    if not folder.exists():
        with waiting(f"Writing the proofs of {len(handed)} people for the exact checker"):
            write_bundle(folder, encoder, whom.X, handed)


def radius_summary(handed: Representation) -> dict[str, Any]:
    """What is said of the radii in every result."""
    import numpy as np

    return {
        "median": float(np.median(handed.radius)),
        "largest": float(handed.radius.max()),
        "exact": int(handed.exact.sum()),
        "vacuous": int(handed.vacuous.sum()),
    }
