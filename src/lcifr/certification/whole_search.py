"""End-to-end search: one question about the whole model, and counterexamples where its answer is no proof.

An encoder and the networks on top of it are one function; so are trees on raw columns, and a head on scores. Trees
behind an encoder are not: :mod:`lcifr.certification.trees_behind_encoder`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.counterexample import Counterexamples, Trial, offer, simplify
from lcifr.certification.fewest_attributes import with_fewest_attributes
from lcifr.certification.query import OWN_WORD, BoolArray, FloatArray, Query, is_strict, query_of
from lcifr.certification.verdicts import Reason
from lcifr.data import Individuals
from lcifr.models.deployed import REFUSED, Deployment
from lcifr.models.rule import Kind
from lcifr.models.trees.deployed import NetworkOnTrees
from lcifr.models.trees.trees import Trees
from lcifr.prove import Answer, Budget, Status, maximize
from lcifr.regions.region import Region


@dataclass(frozen=True)
class EndToEnd:
    """End-to-end results, one entry per person.

    Parameters
    ----------
    certified : (people,) proved. counterexamples : confirmed, of others.
    margin : (people,) proved distance of everybody similar from another decision; negative where none is proved.
    reasons : (people,) masks of why somebody is undecided; the first that fits counts.
    may_overflow : (people,) whether numbers may, of the person or of somebody similar.
    """

    certified: BoolArray
    counterexamples: Counterexamples
    margin: FloatArray
    reasons: dict[Reason, BoolArray]
    may_overflow: BoolArray


def search_whole(
    trial: Trial, region: Region, *, budget: Budget | int | None = None, device: str | None = None
) -> EndToEnd:
    """One question about the whole model over every person's region, and people who refute what is not proved."""
    rule, options = trial.model.rule, dict[str, Any](budget=budget, device=device)
    shared = _query_for_all(trial, region)
    query = query_end_to_end(trial, region) if shared is None else shared
    answer = _ask(trial, region, query, options)
    if shared is not None:
        query, answer = _with_own_room(trial, region, query, answer, options)
    strict = is_strict(rule, trial.own)
    certified = (answer.upper < query.limit).all(1) & strict
    # A loose bound may hide somebody whom the search did not reach: sampling is cheap, so every open person gets it.
    open_rows = np.flatnonzero(~certified & strict)
    found = find_simple(trial, region, open_rows, _witnesses(trial, region, query, answer, open_rows))
    if isinstance(trial.model.function, Trees):
        found = with_fewest_attributes(trial, region, query, found)
    undecided = np.flatnonzero(~certified & ~found.found)
    reasons = {Reason.NONE: certified | found.found, **reasons_of(trial, region, query, answer, undecided)}
    margin = np.minimum((query.limit - answer.upper).min(1), np.finfo(np.float64).max)
    return EndToEnd(certified, found, margin, reasons, may_overflow(trial, query))


def _ask(trial: Trial, region: Region, query: Query, options: dict[str, Any]) -> Answer:
    deployment = trial.asked
    return query.ask(deployment.merged, deployment.asked_over(region), **options)


def _query_for_all(trial: Trial, region: Region) -> Query | None:
    """The question with one room for everybody: what rounding can do anywhere in all regions together.

    That is one evaluation, it is tiny beside nearly all margins, and whoever is certified with it surely is. A number
    is compared to within its own error, so there everybody needs their own room: None.
    """
    deployment, rule = trial.asked, trial.model.rule
    if isinstance(deployment, Deployment) and rule.kind is not Kind.NUMBER:
        room = deployment.room_anywhere(region)
        if (room < REFUSED).all():
            return query_of(rule, trial.own).lowered(np.tile(room, (region.people, 1)))
    return None


def _with_own_room(
    trial: Trial, region: Region, query: Query, answer: Answer, options: dict[str, Any]
) -> tuple[Query, Answer]:
    """The same with their own room for whoever the one of everybody may have left open.

    They are asked about again where only that one was passed: the search ends there.
    """
    exact = query_of(trial.model.rule, trial.own).limit
    rows = np.flatnonzero((answer.upper >= query.limit).any(1) & ~(answer.best > exact).any(1))
    if len(rows) == 0:
        return query, answer
    own = query_of(trial.model.rule, trial.own.take(rows)).lowered(trial.asked.room_over(region.take(rows)))
    before, upper, best = query.limit[rows], answer.upper[rows], answer.best[rows]
    query.limit[rows] = own.limit
    again = np.flatnonzero(((before < best) & (best <= own.limit) & (upper >= own.limit)).any(1))
    if len(again):
        found = _ask(trial, region.take(rows[again]), own.take(again), options)
        for name in ("upper", "best", "witness", "status", "nodes"):
            getattr(answer, name)[rows[again]] = getattr(found, name)
    return query, answer


def find_simple(trial: Trial, region: Region, rows: NDArray[np.intp], witness: FloatArray) -> Counterexamples:
    """Counterexamples to the people ``rows``, simplified; parameters as for :func:`find`.

    A library is asked about what comes out, and about every candidate only for those whom it refuses there: calls of it
    cost far more than ours, and it hardly ever differs.
    """
    alone = trial.without_library()
    result = simplify(alone, find(alone, region, rows, witness))
    hit = np.flatnonzero(result.found)
    if trial.library is None or not len(hit):
        return result
    refused = hit[~trial.is_counterexample(hit, result.others.take(hit))]
    if len(refused):
        asked = np.flatnonzero(np.isin(rows, refused))
        slowly = simplify(trial, find(trial, region, rows[asked], witness[asked]))
        result.found[refused] = slowly.found[refused]
        result.others.numbers[refused] = slowly.others.numbers[refused]
        result.others.codes[refused] = slowly.others.codes[refused]
    return result


def find(trial: Trial, region: Region, rows: NDArray[np.intp], witness: FloatArray) -> Counterexamples:
    """Decode witnesses (rows, k, features; NaN where none) of the people ``rows``, and draw more where that fails."""
    own, found = trial.people, np.zeros(len(trial.people), np.bool_)
    result = Counterexamples(Individuals(own.schema, own.numbers.copy(), own.codes.copy()), found)
    if len(rows):
        offer(trial, region.take(rows), rows, witness, result)
    left = rows[~found[rows]]
    if len(left):
        part = region.take(left)
        offer(trial, part, left, part.sample(SAMPLED), result)
    return result


SAMPLED = 64
"""People drawn from a region whose witness cannot exist, before giving up."""


def _witnesses(
    trial: Trial, region: Region, query: Query, answer: Answer, rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(rows, k, features) candidates: the engine's witnesses; of scores, the points furthest along their slope."""
    deployment = trial.deployment
    if not isinstance(deployment, NetworkOnTrees) or len(rows) == 0:
        return answer.witness[rows]
    trees, directions = deployment.first.trees, query.directions[rows]
    own = trees(trial.features[rows])[:, None]
    reached = np.where(np.isnan(answer.witness[rows]), own, answer.witness[rows])
    slopes = [deployment.steepest(at, directions) for at in (reached, np.broadcast_to(own, reached.shape))]
    return maximize(trees, np.concatenate(slopes, axis=1), region.take(rows), method=OWN_WORD, budget=NODES).witness


NODES = 100
"""Budget of a search for a candidate along a slope, which is a guess in any case."""


def query_end_to_end(trial: Trial, region: Region) -> Query:
    """What must be shown of the merged network in exact arithmetic so that it holds for h(f(x′)) as it is deployed.

    Limits are lowered by the merging error and by what is rounded in the networks.
    """
    return query_of(trial.model.rule, trial.own).lowered(trial.asked.room_over(region))


def may_overflow(trial: Trial, query: Query) -> BoolArray:
    """(people,) whether numbers may overflow, of the person or of somebody similar."""
    return np.asarray(trial.own.may_overflow | (query.limit <= -REFUSED / 2).any(1))


def reasons_of(
    trial: Trial, region: Region, query: Query, answer: Answer, rows: NDArray[np.intp]
) -> dict[Reason, BoolArray]:
    """(people,) why the people of these rows are undecided; ROUNDING only where exact arithmetic would decide."""
    own, rule = trial.own.take(rows), trial.model.rule
    merging = trial.asked.merging_error(region.take(rows))
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
