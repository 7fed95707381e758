"""Verdicts of h ∘ f from end to end, for people whose regions are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.handover import Representation
from lcifr.certification.consumer import certify_model
from lcifr.certification.counterexample import LibraryDecisions, Trial, find, simplify
from lcifr.certification.deployment import Encoder
from lcifr.certification.fewest_attributes import with_fewest_attributes
from lcifr.certification.producer import represent_lowered
from lcifr.certification.query import OWN_WORD, BoolArray, Query, is_strict, query_of
from lcifr.certification.verdicts import Audit, Reason, Verdict, words
from lcifr.data import Individuals
from lcifr.data.io.ids import Id
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.deployed import REFUSED
from lcifr.models.model import Model
from lcifr.models.trees.deployed import NetworkOnTrees
from lcifr.models.trees.trees import Trees
from lcifr.prove import Answer, Budget, Status, maximize
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

if TYPE_CHECKING:
    pass


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
    query = query_end_to_end(trial, region)
    answer = maximize(
        trial.deployment.merged,
        query.directions,
        trial.deployment.asked_over(region),
        target=query.limit,
        tolerance=query.precision,
        method=OWN_WORD,
        budget=budget,
        device=device,
    )
    strict = is_strict(known.rule, trial.own)
    certified = (answer.upper < query.limit).all(1) & strict
    # A loose bound may hide somebody whom the search did not reach: sampling is cheap, so every open person gets it.
    open_rows = np.flatnonzero(~certified & strict)
    found = find(trial, region, open_rows, _witnesses(trial, region, query, answer, open_rows))
    found = simplify(trial, found)
    if isinstance(known.function, Trees):
        found = with_fewest_attributes(trial, region, query, found)
    undecided = np.flatnonzero(~certified & ~found.found)
    reasons = {Reason.NONE: certified | found.found, **reasons_of(trial, region, query, answer, undecided)}
    rows = np.flatnonzero(~may_overflow(trial, query)) if modular is True else np.arange(len(people))
    options = dict[str, Any](budget=budget, device=device, arithmetic=arithmetic)
    if modular is True:  # of whom numbers may overflow there is no hand-over
        modular = represent_lowered(encoder, people.take(rows), lowered.take(rows), **options)
    ball, box = (None, None) if modular is False else _modular(known, modular, rows, len(people), options)
    return Audit(
        ids=ids,
        people=people,
        verdict=words(Verdict, {Verdict.CERTIFIED: certified, Verdict.COUNTEREXAMPLE: found.found}, Verdict.UNDECIDED),
        reason=words(Reason, reasons, Reason.LOOSE),  # type: ignore[arg-type]
        prediction=known.decide(trial.own.values),
        margin=np.minimum((query.limit - answer.upper).min(1), np.finfo(np.float64).max),
        vacuous=~region.nonempty,
        alone=alone(region),
        others=found.others,
        ball=ball,
        box=box,
        model=known,
        arithmetic=arithmetic,
        encoder=encoder,
    )


def _witnesses(
    trial: Trial, region: Region, query: Query, answer: Answer, rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(rows, k, features) points of the region worth trying; of scores, those that go furthest along their slope."""
    if not isinstance(trial.deployment, NetworkOnTrees) or len(rows) == 0:
        return answer.witness[rows]
    trees, directions = trial.deployment.first.trees, query.directions[rows]
    own = trees(trial.features[rows])[:, None]
    reached = np.where(np.isnan(answer.witness[rows]), own, answer.witness[rows])
    slopes = [trial.deployment.steepest(at, directions) for at in (reached, np.broadcast_to(own, reached.shape))]
    return maximize(trees, np.concatenate(slopes, axis=1), region.take(rows), method=OWN_WORD, budget=NODES).witness


NODES = 100
"""Of a search for somebody along a slope, which is a guess in any case."""


def alone(region: Region) -> BoolArray:
    """(people,) whether the region is one point at most: then there is nothing to prove."""
    moves = np.zeros(region.people, np.bool_)
    for number, cell in enumerate(region.cells):
        wide = (cell.upper > cell.lower).any(1) | (number > 0)
        for choice in cell.choices:
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


def query_end_to_end(trial: Trial, region: Region) -> Query:
    """What must be shown of the merged network in exact arithmetic so that it holds for h(f(x′)) as it is deployed.

    Limits are lowered by the merging error and by what is rounded in the networks.
    """
    return query_of(trial.model.rule, trial.own).lowered(trial.deployment.room_over(region))


def may_overflow(trial: Trial, query: Query) -> BoolArray:
    """(people,) whether numbers may overflow, of the person or of somebody similar."""
    return np.asarray(trial.own.may_overflow | (query.limit <= -REFUSED / 2).any(1))


def reasons_of(
    trial: Trial, region: Region, query: Query, answer: Answer, rows: NDArray[np.intp]
) -> dict[Reason, BoolArray]:
    """(people,) why the people of these rows are undecided, the first that fits; rounding only if that makes it so."""
    own, rule = trial.own.take(rows), trial.model.rule
    merging = trial.deployment.merging_error(region.take(rows))
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
