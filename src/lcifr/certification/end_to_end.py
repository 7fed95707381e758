"""The question of an audit: limits that leave room for merging and rounding, and why people stay undecided."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.counterexample import Trial
from lcifr.certification.merged_network import merging_error
from lcifr.certification.query import BoolArray, Query, is_strict, query_of
from lcifr.certification.verdicts import Reason
from lcifr.models.deployed import REFUSED
from lcifr.prove import Answer, Status
from lcifr.regions.region import Region


def query_end_to_end(trial: Trial, region: Region) -> Query:
    """What must be shown of the merged network in exact arithmetic so that it holds for h(f(x′)) as it is deployed.

    Limits are lowered by the merging error and by what is rounded in the two networks.
    """
    error = merging_error(trial.encoder.network, trial.model.network, region) + trial.deployment.error_over(region)
    return query_of(trial.model.rule, trial.own).lowered(error)


def may_overflow(trial: Trial, query: Query) -> BoolArray:
    """(people,) whether numbers may overflow, of the person or of somebody similar."""
    return np.asarray(trial.own.may_overflow | (query.limit <= -REFUSED / 2).any(1))


def reasons_of(
    trial: Trial, region: Region, query: Query, answer: Answer, rows: NDArray[np.intp]
) -> dict[Reason, BoolArray]:
    """(people,) why the people of these rows are undecided, the first that fits; rounding only if that makes it so."""
    own, rule = trial.own.take(rows), trial.model.rule
    merging = merging_error(trial.encoder.network, trial.model.network, region.take(rows))
    exact = query_of(rule, own.exactly()).lowered(merging).limit
    upper, best, limit = answer.upper[rows], answer.best[rows], query.limit[rows]
    room = exact - limit
    reached, beyond = (best > limit).any(1), (best > exact + room).any(1)
    rounded = ((upper < exact).all(1) | (reached & ~beyond)) & (room > 0).any(1)
    found = {
        Reason.OVERFLOW: may_overflow(trial, query)[rows],
        Reason.TIE: ~is_strict(rule, own.exactly()),
        Reason.ROUNDING: ~is_strict(rule, own) | rounded,
        Reason.FRACTIONAL: reached,
        Reason.BUDGET: (answer.status[rows] == Status.BUDGET).any(1),
    }
    everybody = np.zeros(region.people, np.bool_)
    return {reason: _put(everybody, rows, mask) for reason, mask in found.items()}


def _put(everybody: BoolArray, rows: NDArray[np.intp], mask: BoolArray) -> BoolArray:
    found = everybody.copy()
    found[rows] = mask
    return found
