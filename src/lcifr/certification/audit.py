"""Audits: the model from end to end, certified or refuted by a concrete similar person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.consumer import certify_model
from lcifr.certification.counterexample import Counterexamples, Trial, offer, simplify, with_fewest_attributes
from lcifr.certification.demands import OWN_WORD, BoolArray, FloatArray, Query, is_strict, query_of
from lcifr.certification.deployment import Encoder
from lcifr.certification.handover import (
    TOLERANCE,
    FrozenEncoder,
    Representation,
    provenance_of,
    represent_lowered,
    represent_region,
)
from lcifr.certification.reference import ReferencePredictions
from lcifr.certification.subject import Subject, subject_of
from lcifr.certification.sweep.look_up import ProvedCells
from lcifr.certification.sweep.result import Sweep
from lcifr.certification.verdicts import Audit, LookedUp, Reason, Verdict, words
from lcifr.data import Individuals
from lcifr.data.ingest import Id, as_ids
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import REFUSED, Deployed
from lcifr.models.model import Model
from lcifr.models.rule import Kind
from lcifr.phi.similarity import Similarity
from lcifr.prove import Answer, Budget, Status, maximize
from lcifr.prove.radius import signed_outputs
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

# End-to-end search: one question about the whole model, and counterexamples where its answer is no proof.
#
# An encoder and the networks on top of it are one function; so are trees on raw columns, and a head on scores. Trees
# behind an encoder are not: :mod:`lcifr.certification.audit`.


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
    if trial.model.function.jumps:
        found = with_fewest_attributes(trial, region, query, found)
    undecided = np.flatnonzero(~certified & ~found.found)
    reasons = {Reason.NONE: certified | found.found, **reasons_of(trial, region, query, answer, undecided)}
    margin = np.minimum((query.limit - answer.upper).min(1), np.finfo(np.float64).max)
    return EndToEnd(certified, found, margin, reasons, may_overflow(trial, query))


def _ask(trial: Trial, region: Region, query: Query, options: dict[str, Any]) -> Answer:
    deployment = trial.deployment
    return query.ask(deployment.merged, deployment.asked_over(region), **options)


def _query_for_all(trial: Trial, region: Region) -> Query | None:
    """The question with one room for everybody: what rounding can do anywhere in all regions together.

    That is one evaluation, it is tiny beside nearly all margins, and whoever is certified with it surely is. A number
    is compared to within its own error, so there everybody needs their own room: None.
    """
    rule = trial.model.rule
    room = None if rule.kind is Kind.NUMBER else trial.deployment.room_anywhere(region)
    if room is None or (room >= REFUSED).any():
        return None
    return query_of(rule, trial.own).lowered(np.tile(room, (region.people, 1)))


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
    own = query_of(trial.model.rule, trial.own.take(rows)).lowered(trial.deployment.room_over(region.take(rows)))
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
    if trial.predicted is None or not len(hit):
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
    found = answer.witness[rows]
    guides = trial.deployment.guides(trial.features[rows], found, query.directions[rows]) if len(rows) else None
    if guides is None:
        return found
    function, directions = guides
    return maximize(function, directions, region.take(rows), method=OWN_WORD, budget=NODES).witness


NODES = 100
"""Budget of a search for a candidate along a slope, which is a guess in any case."""


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
    """(people,) why the people of these rows are undecided; ROUNDING only where exact arithmetic would decide."""
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


# Trees behind an encoder, and all else that no engine asks about at once: verdicts from end to end, by a box of z.
#
# The encoder is asked where each number of z can be, and what is behind it is asked about the box of these. Where it
# decides alike in all of it, everyone similar is decided alike. The box also holds points that are no one's z, so
# another decision in it is no counterexample: that takes a similar person, who is searched for separately.


def search_on_box(
    trial: Trial, region: Region, *, budget: Budget | int | None = None, device: str | None = None
) -> EndToEnd:
    """Certify people on their boxes, and refute others by somebody similar; the rest is undecided, with the reason.

    Parameters
    ----------
    region : of people who can exist.
    """
    (first, second), rule = two_of(trial), trial.model.rule
    overflow = trial.own.may_overflow | (first.error_over(region) >= REFUSED).any(1)
    rows = np.flatnonzero(~overflow)  # of the others there is no box
    handed = box_of_everybody(
        trial.encoder,
        trial.people.take(rows),
        region.take(rows),
        trial.subject.arithmetic,
        budget=budget,
        device=device,
    )
    query = query_on_box(trial, handed, rows)
    box = Region.from_arrays(handed.lower, handed.upper)
    answer = query.ask(second.merged, box, budget=budget, device=device)
    strict = is_strict(rule, trial.own)
    alike, reached, spent = np.zeros((3, region.people), np.bool_)
    alike[rows] = (answer.upper < query.limit).all(1)
    certified = alike & strict & (not first.is_exact)
    reached[rows] = (answer.best > query.limit).any(1)
    spent[rows] = (answer.status == Status.BUDGET).any(1)
    left = np.flatnonzero((~alike & strict)[rows])
    found = find_simple(trial, region, rows[left], _candidates(trial, region, rows, left, handed.latent, answer))
    margin = np.zeros(region.people)
    margin[rows] = np.minimum((query.limit - answer.upper).min(1), np.finfo(np.float64).max)
    reasons = {
        Reason.NONE: certified | found.found,
        Reason.EXACT_BALL: np.full(region.people, first.is_exact),
        Reason.OVERFLOW: overflow,
        Reason.TIE: ~is_strict(rule, trial.own.exactly()),
        Reason.ROUNDING: ~strict,
        Reason.BOX: reached,
        Reason.BUDGET: spent,
    }
    return EndToEnd(certified, found, margin, reasons, overflow)


def two_of(trial: Trial) -> tuple[Deployed, Deployed]:
    """The encoder and what is asked over a box of its z, as machines compute them."""
    two = trial.deployment.boxed
    assert two is not None
    return two


def box_of_everybody(
    encoder: Encoder,
    people: Individuals,
    region: Region,
    arithmetic: Arithmetic,
    *,
    budget: Budget | int | None = None,
    device: str | None = None,
) -> Representation:
    """Where the z of everybody who can exist and is similar may be, as machines compute it; every end is tight.

    It is a hand-over of whole numbers, which nobody hands over: verdicts rest on it, and so do their proofs.
    """
    whole = FrozenEncoder(encoder.function, encoder.similarity, whole_numbers=True)
    provenance = provenance_of(whole, False, TOLERANCE, arithmetic)
    names = as_ids(None, len(people))
    return represent_region(whole, people, region, names, provenance, tight=True, budget=budget, device=device)


def query_on_box(trial: Trial, handed: Representation, rows: NDArray[np.intp]) -> Query:
    """What must be shown of the trees on the boxes of the people ``rows`` for everybody similar to be decided alike."""
    room = two_of(trial)[1].room_over(Region.from_arrays(handed.lower, handed.upper))
    return query_of(trial.model.rule, trial.own.take(rows)).lowered(room)


def _candidates(
    trial: Trial, region: Region, rows: NDArray[np.intp], left: NDArray[np.intp], latent: FloatArray, answer: Answer
) -> FloatArray:
    """(left, k, features) candidates: points whose z moves furthest along each coordinate and towards where the trees
    turn, and points halfway there.

    Parameters
    ----------
    left : places in ``rows`` of those who are open. latent, answer : of the people ``rows``.
    """
    if not len(left):
        return np.empty((0, 1, region.features))
    turned = answer.witness[left] - latent[left][:, None]
    ends = np.broadcast_to(signed_outputs(latent.shape[1]), (len(left), 2 * latent.shape[1], latent.shape[1]))
    towards = np.concatenate([np.where(np.isnan(turned), 0.0, turned), ends], axis=1)
    part = region.take(rows[left])
    far = maximize(trial.encoder.function, towards, part, method=OWN_WORD, budget=NODES).witness
    half, numeric = far.copy(), trial.encoder.encoding.numeric_columns
    half[..., numeric] = (far[..., numeric] + trial.features[rows[left]][:, None, numeric]) / 2
    return np.concatenate([far, half], axis=1)


# Verdicts of h ∘ f from end to end, for people whose regions are at hand.


def audit_region(
    subject: Subject,
    people: Individuals,
    lowered: Region,
    ids: tuple[Id, ...],
    *,
    budget: Budget | int | None = None,
    device: str | None = None,
    modular: bool | Representation = True,
    predicted: ReferencePredictions | None = None,
) -> Audit:
    """:func:`audit` of people whose regions over the reals are at hand: end to end and hand-over share them.

    ``predicted`` : what the library of such a model predicts for these people, with which no hand-over is made.
    """
    encoder, known = subject.encoder, subject.model
    region = narrow_to_whole_numbers(lowered, encoder.encoding)
    trial = Trial(subject, people, predicted)
    search = search_whole if trial.deployment.boxed is None else search_on_box
    options = dict[str, Any](budget=budget, device=device)
    shown = search(trial, region, **options)
    options |= {"arithmetic": subject.arithmetic}
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
        arithmetic=subject.arithmetic,
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


# Audits with a look-up first: people in strictly proved cells of a sweep are certified without a search.


def audit_looked_up(
    subject: Subject,
    people: Individuals,
    lowered: Region,
    ids: tuple[str | int, ...],
    proved: ProvedCells,
    *,
    predicted: ReferencePredictions | None = None,
    **options: Any,
) -> Audit:
    """:func:`lcifr.audit` with a look-up first; whoever is not found is searched for as ever.

    The margin of those looked up is 0: that all similar people are decided alike is proved, by how much is not.
    """
    proved.refuse_others(subject.hashes)
    trial, model = Trial(subject, people), subject.model
    cell = np.where(is_strict(model.rule, trial.own), proved.find(people), -1)
    rest = np.flatnonzero(cell < 0)
    theirs = None if predicted is None else predicted.take(rest)
    names = tuple(ids[row] for row in rest)
    searched = audit_region(subject, people.take(rest), lowered.take(rest), names, predicted=theirs, **options)
    region = narrow_to_whole_numbers(lowered, subject.encoding)
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


# The auditor: h ∘ f from end to end, certified or refuted by a concrete similar person.


def audit(
    encoder: Any = None,
    model: Any = None,
    X: Any = None,
    ids: Any = None,
    *,
    similarity: Similarity | str | None = None,
    groups: Sequence[Sequence[Any]] | None = None,
    tolerance: float | None = None,
    budget: Budget | int | None = None,
    device: str | None = None,
    modular: bool | Representation = True,
    arithmetic: str | None = None,
    sweep: Sweep | None = None,
) -> Audit:
    """Prove from end to end that nobody similar gets another decision, or show somebody who does.

    ``audit(encoder, model, X)`` is about an encoder of ours and a model on top; ``audit(model, X, similarity=…)`` about
    a model of another library on the raw columns of a table: a fitted scikit-learn estimator or Pipeline, or the path
    of a model file. There, a counterexample is one for the library's own ``predict`` too. What cannot be read exactly
    is refused by name (docs/design/models.md). Rows with missing values are not examined; the result lists them, and
    its shares count them as not certified.

    Parameters
    ----------
    encoder : a fitted ``FairEncoder``, or anything with ``network``, ``similarity`` and ``encoding``.
    similarity : who counts as similar, over the table's own columns; a text has its schema and scales from X.
    model, groups, tolerance, budget, device : as for :func:`certify`.
    X : the people, a table with the columns of the encoder's schema. ids : one for each; row numbers if None.
    modular : whether to say also who is certified from the hand-over alone; or the hand-over itself, for these people.
    arithmetic : what the verdicts speak about: real numbers (``"exact"``), or every machine that computes encoder and
        model in ``"float64"`` or ``"float32"``; see docs/design/arithmetic.md. None for what the networks come from:
        float32 for a torch module in float32, else float64.
    sweep : what :func:`lcifr.sweep` found of the same model and φ: whoever is in a strictly proved cell is certified
        without a search, the others are searched for; nothing is said of the hand-over then.
    """
    asked = subject_of(encoder, model, X, similarity, groups, tolerance, arithmetic)
    subject, people, missing = asked.subject, asked.people, asked.missing
    everybody = as_ids(ids, len(people) if missing is None else len(missing))  # before hours of proofs
    names, left_out = everybody, tuple[Id, ...]()
    if missing is not None:
        names = tuple(name for name, gone in zip(everybody, missing, strict=True) if not gone)
        left_out = tuple(name for name, gone in zip(everybody, missing, strict=True) if gone)
    options = dict[str, Any](budget=budget, device=device, predicted=asked.predicted)
    modular = modular if asked.predicted is None and sweep is None else False  # of a library, nothing is handed over
    region = subject.region(people)
    if sweep is None:
        found = audit_region(subject, people, region, names, modular=modular, **options)
    else:
        found = audit_looked_up(subject, people, region, names, ProvedCells.of(sweep), modular=modular, **options)
    return replace(found, left_out=left_out, assumptions=asked.assumptions)
