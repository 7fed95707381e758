"""The function ``lcifr.sweep``: looks for any two similar people who can exist and are decided differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from lcifr.certification.subject import subject_of
from lcifr.certification.sweep.result import Sweep
from lcifr.certification.sweep.sweeper import NODES, Sweeper
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.errors import LcifrError
from lcifr.models.chain import choose_for
from lcifr.similarity.similarity import Similarity


def sweep(
    encoder: Any = None,
    model: Any = None,
    X: Any = None,
    *,
    similarity: Similarity | str | None = None,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    universe: Literal["whole", "reals"] = "whole",
    arithmetic: str | None = None,
    cells: int = 10_000,
    seconds: float | None = None,
    nodes: int = NODES,
    progress: Callable[[Sweep], None] | None = None,
) -> Sweep:
    """Cut everybody who can exist into cells: proved, violating, or still open.

    ``sweep(encoder, model, X)`` is about an encoder of ours and a model on top, ``sweep(model, X, similarity=…)`` about
    a model of another library, as in :func:`lcifr.audit`. The schema says who can exist: every number needs a declared
    range. X is a table of the model's columns; its people take part only in how the model is read.

    Parameters
    ----------
    universe : whether attributes that the schema calls whole hold whole numbers only, or any real number.
    cells, seconds : how many cells are looked at, and for how long, at most. What is known by then comes back.
    nodes : of the search in a cell before it is cut.
    progress : called with what is known after each batch of cells.

    Raises
    ------
    RegionError
        If a number has no declared range, if nobody can exist, or φ cannot be said of pairs (two ranks in one
        comparison).
    LcifrError
        If the universe has another name.
    """
    if universe not in ("whole", "reals"):
        raise LcifrError(f'universe="{universe}" is neither "whole" nor "reals"', fix='say universe="whole"')
    subject = subject_of(encoder, model, X, similarity, groups, tolerance)
    deployed = choose_for(arithmetic or subject.arithmetic, (subject.encoder.function, *subject.model.computed))
    library = None if subject.library is None else subject.library.source
    swept = SweptModel(subject.encoder, subject.model, deployed, library)
    sweeper = Sweeper(swept, whole=universe == "whole", nodes=nodes)
    return sweeper.run(cells=cells, seconds=seconds, progress=progress)
