"""Verdicts of h ∘ f from end to end, for people whose regions are at hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.handover import Representation
from lcifr.certification.consumer import certify_model
from lcifr.certification.counterexample import Trial
from lcifr.certification.deployment import Encoder
from lcifr.certification.library.decisions import LibraryDecisions
from lcifr.certification.producer import represent_lowered
from lcifr.certification.query import BoolArray
from lcifr.certification.trees_behind_encoder import search_on_box
from lcifr.certification.verdicts import Audit, Reason, Verdict, words
from lcifr.certification.whole_search import search_whole
from lcifr.data import Individuals
from lcifr.data.io.ids import Id
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.model import Model
from lcifr.models.trees.deployed import TreesOnLatents
from lcifr.prove import Budget
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers


def audit_region(
    encoder: Encoder,
    known: Model,
    people: Individuals,
    lowered: Region,
    ids: tuple[Id, ...],
    *,
    budget: Budget | int | None = None,
    device: str | None = None,
    modular: bool | Representation = True,
    arithmetic: Arithmetic = Arithmetic.FLOAT64,
    library: LibraryDecisions | None = None,
) -> Audit:
    """:func:`audit` of people whose regions over the reals are at hand: end to end and hand-over share them."""
    region = narrow_to_whole_numbers(lowered, encoder.encoding)
    trial = Trial(encoder, known, people, arithmetic, library=library)
    search = search_on_box if isinstance(trial.deployment, TreesOnLatents) else search_whole
    options = dict[str, Any](budget=budget, device=device)
    shown = search(trial, region, **options)
    options |= {"arithmetic": arithmetic}
    rows = np.flatnonzero(~shown.may_overflow) if modular is True else np.arange(len(people))
    if modular is True:  # of whom numbers may overflow there is no hand-over
        modular = represent_lowered(encoder, people.take(rows), lowered.take(rows), **options)
    ball, box = (None, None) if modular is False else _modular(known, modular, rows, len(people), options)
    found = {Verdict.CERTIFIED: shown.certified, Verdict.COUNTEREXAMPLE: shown.counterexamples.found}
    return Audit(
        ids=ids,
        people=people,
        verdict=words(Verdict, found, Verdict.UNDECIDED),  # type: ignore[arg-type]
        reason=words(Reason, shown.reasons, Reason.LOOSE),  # type: ignore[arg-type]
        prediction=known.decide(trial.own.values),
        margin=shown.margin,
        vacuous=~region.nonempty,
        alone=alone(region),
        others=shown.counterexamples.others,
        ball=ball,
        box=box,
        model=known,
        arithmetic=arithmetic,
        encoder=encoder,
    )


def alone(region: Region) -> BoolArray:
    """(people,) whether the region is one point at most: then there is nothing to prove."""
    moves = np.zeros(region.people, np.bool_)
    for number, cell in enumerate(region.cells):
        wide = (cell.upper > cell.lower).any(1) | (number > 0)
        for choice in cell.choices:
            if choice.only is None:
                wide |= choice.allowed.sum(1) > 1
        moves |= wide & cell.present
    return ~moves


def _modular(
    model: Model, handed: Representation, rows: NDArray[np.intp], people: int, options: dict[str, Any]
) -> tuple[BoolArray, BoolArray]:
    """(people,) who is certified from the hand-over alone, which is about these rows: on the ball, and on the box."""
    ball, box = np.zeros((2, people), np.bool_)
    ball[rows] = certify_model(handed, model, on="ball", **options).certified
    box[rows] = certify_model(handed, model, on="box", **options).certified
    return ball, box
