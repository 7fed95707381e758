"""Audits with a look-up first: people in strictly proved cells of a sweep are certified without a search."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lcifr.certification.bundles.hashes import Hashes
from lcifr.certification.counterexample import Trial
from lcifr.certification.deployment import Encoder
from lcifr.certification.end_to_end import alone, audit_region
from lcifr.certification.library.decisions import LibraryDecisions
from lcifr.certification.looked_up import LookedUp
from lcifr.certification.query import is_strict
from lcifr.certification.sweep.look_up import ProvedCells
from lcifr.certification.verdicts import Audit, Reason, Verdict
from lcifr.data import Individuals
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.model import Model
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers


def audit_looked_up(
    encoder: Encoder,
    model: Model,
    people: Individuals,
    lowered: Region,
    ids: tuple[str | int, ...],
    proved: ProvedCells,
    *,
    arithmetic: Arithmetic,
    library: LibraryDecisions | None = None,
    **options: Any,
) -> Audit:
    """:func:`lcifr.audit` with a look-up first; whoever is not found is searched for as ever.

    The margin of those looked up is 0: that all similar people are decided alike is proved, by how much is not.
    """
    proved.refuse_others(Hashes.of(encoder, model, arithmetic))
    trial = Trial(encoder, model, people, arithmetic)
    cell = np.where(is_strict(model.rule, trial.own), proved.find(people), -1)
    rest = np.flatnonzero(cell < 0)
    theirs = None if library is None else replace(library, own=library.own[rest])
    options |= {"arithmetic": arithmetic, "library": theirs}
    names = tuple(ids[row] for row in rest)
    searched = audit_region(encoder, model, people.take(rest), lowered.take(rest), names, **options)
    region = narrow_to_whole_numbers(lowered, encoder.encoding)
    everybody: dict[str, Any] = {
        "verdict": np.full(len(people), Verdict.CERTIFIED, dtype=object),
        "reason": np.full(len(people), Reason.NONE, dtype=object),
        "prediction": model.decide(trial.own.values),
        "margin": np.zeros(len(people)),
    }
    for name, column in everybody.items():
        column[rest] = getattr(searched, name)
    others = Individuals(people.schema, people.numbers.copy(), people.codes.copy())
    others.numbers[rest], others.codes[rest] = searched.others.numbers, searched.others.codes
    return replace(
        searched,
        ids=ids,
        people=people,
        others=others,
        vacuous=~region.nonempty,
        alone=alone(region),
        looked_up=LookedUp(proved.sweep, cell, (cell >= 0) & proved.checked[cell]),
        **everybody,
    )
