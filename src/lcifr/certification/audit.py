"""Audits: the model from end to end, certified or refuted by a concrete similar person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcifr.certification.consumer import certify
from lcifr.certification.counterexample import (
    CounterexampleChecker,
    Pairs,
    first_counterexamples,
    simplify,
    with_fewest_attributes,
    with_rows,
)
from lcifr.certification.demands import (
    CERTIFICATE_METHOD,
    BoolArray,
    FloatArray,
    IntArray,
    Limits,
    is_strict,
    limits_of,
)
from lcifr.certification.handover import (
    TOLERANCE,
    Representation,
    provenance_of,
    represent_lowered,
    represent_region,
)
from lcifr.certification.reference import ReferencePredictions
from lcifr.certification.subject import Subject, subject_of
from lcifr.certification.sweep.look_up import ProvedCells
from lcifr.certification.sweep.result import Sweep
from lcifr.certification.verdicts import Audit, Reason, SweepMatch, Verdict, words
from lcifr.data import Individuals
from lcifr.data.ingest import Id, as_ids
from lcifr.models.function import REFUSED, Deployed
from lcifr.models.rule import Kind
from lcifr.phi.similarity import Similarity
from lcifr.prove import Answer, Budget, Resources, Status, maximize
from lcifr.prove.radius import signed_outputs
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

# End-to-end search: one question about the whole model, and counterexamples where its answer is no proof.
#
# An encoder and the networks on top of it are one function; so are trees on raw columns, and a head on scores. Trees
# behind an encoder are not: they are asked about on a box of z, see below.


@dataclass(frozen=True)
class EndToEnd:
    """End-to-end results, one entry per person.

    Parameters
    ----------
    certified : (people,) proved. pairs : confirmed counterexamples, of others.
    margin : (people,) proved distance of everyone similar from another decision; negative where none is proved.
    reasons : (people,) masks of why a person is undecided; the first that fits counts.
    may_overflow : (people,) whether numbers may, of the person or of anyone similar.
    """

    certified: BoolArray
    pairs: Pairs
    margin: FloatArray
    reasons: dict[Reason, BoolArray]
    may_overflow: BoolArray


def search_whole(checker: CounterexampleChecker, region: Region, resources: Resources) -> EndToEnd:
    """One question about the whole model over every person's region, and people who refute what is not proved."""
    shared = _limits_for_all(checker, region)
    limits = limits_end_to_end(checker, region) if shared is None else shared
    answer = limits.ask(checker.deployment.merged, checker.deployment.asked_over(region), budget=resources)
    if shared is not None:
        limits, answer = _with_own_room(checker, region, limits, answer, resources)
    strict = is_strict(checker.model.rule, checker.own)
    certified = (answer.upper < limits.limit).all(1) & strict
    # A loose bound may hide a counterexample that the search did not reach: sampling is cheap, so every open person
    # gets it.
    open_rows = np.flatnonzero(~certified & strict)
    found = find_simple(checker, region, open_rows, _witnesses(checker, region, limits, answer, open_rows))
    if checker.model.function.jumps:
        found = with_fewest_attributes(checker, region, limits, found)
    undecided = np.flatnonzero(~certified & ~found.found)
    reasons = {Reason.NONE: certified | found.found, **reasons_of(checker, region, limits, answer, undecided)}
    return EndToEnd(certified, found, _margin(limits, answer), reasons, may_overflow(checker, limits))


def _margin(limits: Limits, answer: Answer) -> FloatArray:
    return np.asarray(np.minimum((limits.limit - answer.upper).min(1), np.finfo(np.float64).max))


def _limits_for_all(checker: CounterexampleChecker, region: Region) -> Limits | None:
    """The limits with one room for everyone: what rounding can do anywhere in all regions together.

    That is one evaluation, it is tiny beside nearly all margins, and a person who is certified with it surely is. A
    number is compared to within its own error, so there everyone needs their own room: None.
    """
    rule = checker.model.rule
    room = None if rule.kind is Kind.NUMBER else checker.deployment.room_anywhere(region)
    if room is None or (room >= REFUSED).any():
        return None
    return limits_of(rule, checker.own).lowered(np.tile(room, (region.people, 1)))


def _with_own_room(
    checker: CounterexampleChecker, region: Region, limits: Limits, answer: Answer, resources: Resources
) -> tuple[Limits, Answer]:
    """The same with a room of their own for people whom the common room may have left open.

    They are asked about again where only that one was passed: the search ends there.
    """
    rule, deployment = checker.model.rule, checker.deployment
    exact = limits_of(rule, checker.own).limit
    rows = np.flatnonzero((answer.upper >= limits.limit).any(1) & ~(answer.best > exact).any(1))
    if len(rows) == 0:
        return limits, answer
    own = limits_of(rule, checker.own.take(rows)).lowered(deployment.room_over(region.take(rows)))
    before, upper, best, limit = limits.limit[rows], answer.upper[rows], answer.best[rows], limits.limit.copy()
    limit[rows] = own.limit
    again = np.flatnonzero(((before < best) & (best <= own.limit) & (upper >= own.limit)).any(1))
    if len(again):
        part = deployment.asked_over(region.take(rows[again]))
        found = own.take(again).ask(deployment.merged, part, budget=resources)
        answer = answer.replaced(rows[again], found)
    return replace(limits, limit=limit), answer


def find_simple(checker: CounterexampleChecker, region: Region, rows: IntArray, witness: FloatArray) -> Pairs:
    """Counterexamples to the people ``rows``, simplified; parameters as for :func:`find`.

    A library is asked about what comes out, and about every candidate only for people where it disagrees: calls of it
    cost far more than ours, and it hardly ever differs.
    """
    read = checker.without_library()
    result = simplify(read, find(read, region, rows, witness))
    hit = np.flatnonzero(result.found)
    if checker.predicted is None or not len(hit):
        return result
    refused = hit[~checker.is_counterexample(hit, result.other.take(hit))]
    if not len(refused):
        return result
    asked = np.flatnonzero(np.isin(rows, refused))
    slowly = simplify(checker, find(checker, region, rows[asked], witness[asked]))
    good = result.found.copy()
    good[refused] = slowly.found[refused]
    return Pairs(result.x, with_rows(result.other, refused, slowly.other.take(refused)), good)


def find(checker: CounterexampleChecker, region: Region, rows: IntArray, witness: FloatArray) -> Pairs:
    """Decode witnesses (rows, k, features; NaN where none) of the people ``rows``, and draw more where that fails."""
    result = Pairs.none(checker.people)
    if len(rows):
        result = result.replaced(rows, first_counterexamples(checker, region.take(rows), rows, witness))
    left = rows[~result.found[rows]]
    if len(left):
        part = region.take(left)
        result = result.replaced(left, first_counterexamples(checker, part, left, part.sample(SAMPLED)))
    return result


SAMPLED = 64
"""People drawn from a region whose witness cannot exist, before giving up."""


def _witnesses(
    checker: CounterexampleChecker, region: Region, limits: Limits, answer: Answer, rows: IntArray
) -> FloatArray:
    """(rows, k, features) candidates: the engine's witnesses; of scores, the points furthest along their slope."""
    found, part = answer.witness[rows], limits.directions[rows]
    guides = checker.deployment.guides(checker.features[rows], found, part) if len(rows) else None
    if guides is None:
        return found
    function, directions = guides
    return maximize(function, directions, region.take(rows), method=CERTIFICATE_METHOD, budget=NODES).witness


NODES = 100
"""Budget of a search for a candidate along a slope, which is a guess in any case."""


def limits_end_to_end(checker: CounterexampleChecker, region: Region) -> Limits:
    """What must be shown of the merged network in exact arithmetic so that it holds for h(f(x′)) as it is deployed.

    Limits are lowered by the merging error and by what is rounded in the networks.
    """
    return limits_of(checker.model.rule, checker.own).lowered(checker.deployment.room_over(region))


def may_overflow(checker: CounterexampleChecker, limits: Limits) -> BoolArray:
    """(people,) whether numbers may overflow, of the person or of anyone similar."""
    return np.asarray(checker.own.may_overflow | (limits.limit <= -REFUSED / 2).any(1))


def reasons_of(
    checker: CounterexampleChecker, region: Region, limits: Limits, answer: Answer, rows: IntArray
) -> dict[Reason, BoolArray]:
    """(people,) why the people of these rows are undecided; ROUNDING only where exact arithmetic would decide."""
    own, rule = checker.own.take(rows), checker.model.rule
    merging = checker.deployment.merging_error(region.take(rows))
    exact = limits_of(rule, own.exactly()).lowered(merging).limit
    upper, best, limit = answer.upper[rows], answer.best[rows], limits.limit[rows]
    room = exact - limit
    reached, beyond = (best > limit).any(1), (best > exact + room).any(1)
    rounded = ((upper < exact).all(1) | (reached & ~beyond)) & (room > 0).any(1)
    found = {
        Reason.OVERFLOW: may_overflow(checker, limits)[rows],
        Reason.TIE: ~is_strict(rule, own.exactly()),
        Reason.ROUNDING: ~is_strict(rule, own) | rounded,
        Reason.FRACTIONAL: reached,
        Reason.BUDGET: (answer.status[rows] == Status.BUDGET).any(1),
    }
    everyone = np.zeros((len(found), region.people), np.bool_)
    everyone[:, rows] = list(found.values())
    return dict(zip(found, everyone, strict=True))


# Trees behind an encoder, and all else that no engine asks about at once: verdicts from end to end, by a box of z.
#
# The encoder is asked where each number of z can be, and what is behind it is asked about the box of these. Where it
# decides alike in all of it, everyone similar is decided alike. The box also holds points that are no one's z, so
# another decision in it is no counterexample: that takes a similar person, who is searched for separately.


def search_on_box(checker: CounterexampleChecker, region: Region, resources: Resources) -> EndToEnd:
    """Certify people on their boxes, and refute others by a similar person; the rest is undecided, with the reason.

    Parameters
    ----------
    region : of people who can exist.
    """
    (first, second), rule = two_of(checker), checker.model.rule
    overflow = checker.own.may_overflow | (first.error_over(region) >= REFUSED).any(1)
    rows = np.flatnonzero(~overflow)  # of the others there is no box
    handed = box_of_everyone(checker.subject, checker.people.take(rows), region.take(rows), resources)
    limits = limits_on_box(checker, handed, rows)
    answer = limits.ask(second.merged, Region.from_arrays(handed.lower, handed.upper), budget=resources)
    strict = is_strict(rule, checker.own)
    alike, reached, spent = np.zeros((3, region.people), np.bool_)
    alike[rows] = (answer.upper < limits.limit).all(1)
    certified = alike & strict & (not first.is_exact)
    reached[rows] = (answer.best > limits.limit).any(1)
    spent[rows] = (answer.status == Status.BUDGET).any(1)
    left = np.flatnonzero((~alike & strict)[rows])
    found = find_simple(checker, region, rows[left], _candidates(checker, region, rows, left, handed.latent, answer))
    margin = np.zeros(region.people)
    margin[rows] = _margin(limits, answer)
    reasons = {
        Reason.NONE: certified | found.found,
        Reason.EXACT_BALL: np.full(region.people, first.is_exact),
        Reason.OVERFLOW: overflow,
        Reason.TIE: ~is_strict(rule, checker.own.exactly()),
        Reason.ROUNDING: ~strict,
        Reason.BOX: reached,
        Reason.BUDGET: spent,
    }
    return EndToEnd(certified, found, margin, reasons, overflow)


def two_of(checker: CounterexampleChecker) -> tuple[Deployed, Deployed]:
    """The encoder and what is asked over a box of its z, as machines compute them."""
    two = checker.deployment.boxed
    assert two is not None
    return two


def box_of_everyone(subject: Subject, people: Individuals, region: Region, resources: Resources) -> Representation:
    """Where the z of everyone who can exist and is similar may be, as machines compute it; every end is tight.

    It is a hand-over of whole numbers that is not handed over: verdicts rest on it, and so do their proofs.
    """
    whole = replace(subject.encoder, whole_numbers=True)
    provenance = provenance_of(whole, False, TOLERANCE, subject.arithmetic)
    names = as_ids(None, len(people))
    return represent_region(whole, people, region, names, provenance, tight=True, budget=resources)


def limits_on_box(checker: CounterexampleChecker, handed: Representation, rows: IntArray) -> Limits:
    """What must be shown of the trees on the boxes of the people ``rows`` for everyone similar to be decided alike."""
    room = two_of(checker)[1].room_over(Region.from_arrays(handed.lower, handed.upper))
    return limits_of(checker.model.rule, checker.own.take(rows)).lowered(room)


def _candidates(
    checker: CounterexampleChecker,
    region: Region,
    rows: IntArray,
    left: IntArray,
    latent: FloatArray,
    answer: Answer,
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
    far = maximize(checker.encoder.function, towards, part, method=CERTIFICATE_METHOD, budget=NODES).witness
    half, numeric = far.copy(), checker.encoder.encoding.numeric_columns
    half[..., numeric] = (far[..., numeric] + checker.features[rows[left]][:, None, numeric]) / 2
    return np.concatenate([far, half], axis=1)


# Verdicts of h ∘ f from end to end, for people whose regions are at hand.


def audit_region(
    subject: Subject,
    people: Individuals,
    lowered: Region,
    ids: tuple[Id, ...],
    *,
    budget: Budget | int | None = None,
    modular: bool | Representation = True,
    predicted: ReferencePredictions | None = None,
    proved: ProvedCells | None = None,
) -> Audit:
    """:func:`audit` of people whose regions over the reals are at hand: end to end and hand-over share them.

    Parameters
    ----------
    predicted : what the library of such a model predicts for these people, with which no hand-over is made.
    proved : cells in which people are certified without a search, and without a hand-over.
    """
    resources = Resources.of(budget)
    if proved is not None:
        return _looked_up(subject, people, lowered, ids, resources, predicted, proved)
    region = narrow_to_whole_numbers(lowered, subject.encoding)
    checker = CounterexampleChecker(subject, people, predicted)
    search = search_whole if checker.deployment.boxed is None else search_on_box
    found = search(checker, region, resources)
    rows = np.flatnonzero(~found.may_overflow) if modular is True else np.arange(len(people))
    if modular is True:  # of people whose numbers may overflow there is no hand-over
        part, reals = people.take(rows), lowered.take(rows)
        modular = represent_lowered(subject.encoder, part, reals, arithmetic=subject.arithmetic, budget=resources)
    ball, box = (None, None) if modular is False else _modular(subject, modular, rows, len(people), resources)
    verdicts = {Verdict.CERTIFIED: found.certified, Verdict.COUNTEREXAMPLE: found.pairs.found}
    return Audit(
        ids=ids,
        people=people,
        verdict=words(Verdict, verdicts, Verdict.UNDECIDED),  # type: ignore[arg-type]
        reason=words(Reason, found.reasons, Reason.LOOSE),  # type: ignore[arg-type]
        prediction=subject.model.decide(checker.own.values),
        margin=found.margin,
        vacuous=~region.nonempty,
        alone=is_singleton(region),
        others=found.pairs.other,
        ball=ball,
        box=box,
        model=subject.model,
        arithmetic=subject.arithmetic,
        encoder=subject.encoder,
    )


def is_singleton(region: Region) -> BoolArray:
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
    subject: Subject, handed: Representation, rows: IntArray, people: int, resources: Resources
) -> tuple[BoolArray, BoolArray]:
    """(people,) who is certified from the hand-over alone, which is about these rows: on the ball, and on the box."""
    ball, box = np.zeros((2, people), np.bool_)
    how = dict[str, Any](arithmetic=subject.arithmetic, budget=resources, largest_radius=False)
    ball[rows] = certify(handed, subject.model, on="ball", **how).certified
    box[rows] = certify(handed, subject.model, on="box", **how).certified
    return ball, box


def _looked_up(
    subject: Subject,
    people: Individuals,
    lowered: Region,
    ids: tuple[Id, ...],
    resources: Resources,
    predicted: ReferencePredictions | None,
    proved: ProvedCells,
) -> Audit:
    """People in strictly proved cells of a sweep are certified without a search; the others are searched for as ever.

    The margin of those looked up is 0: that all similar people are decided alike is proved, by how much is not.
    """
    proved.refuse_others(subject.hashes)
    own = CounterexampleChecker(subject, people).own
    cell = np.where(is_strict(subject.model.rule, own), proved.find(people), -1)
    rest = np.flatnonzero(cell < 0)
    searched = audit_region(
        subject,
        people.take(rest),
        lowered.take(rest),
        tuple(ids[row] for row in rest),
        budget=resources,
        modular=False,
        predicted=None if predicted is None else predicted.take(rest),
    )
    region = narrow_to_whole_numbers(lowered, subject.encoding)
    verdict, reason = np.full(len(people), Verdict.CERTIFIED, object), np.full(len(people), Reason.NONE, object)
    prediction, margin = subject.model.decide(own.values), np.zeros(len(people))
    verdict[rest], reason[rest] = searched.verdict, searched.reason
    prediction[rest], margin[rest] = searched.prediction, searched.margin
    return replace(
        searched,
        ids=ids,
        people=people,
        verdict=verdict,
        reason=reason,
        prediction=prediction,
        margin=margin,
        vacuous=~region.nonempty,
        alone=is_singleton(region),
        others=with_rows(people, rest, searched.others),
        looked_up=SweepMatch(proved.sweep, cell, (cell >= 0) & proved.checked[cell]),
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
    """Prove from end to end that no similar person gets another decision, or show one who does.

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
    sweep : what :func:`lcifr.sweep` found of the same model and φ: people in strictly proved cells are certified
        without a search, the others are searched for; the hand-over is not judged then.
    """
    asked = subject_of(encoder, model, X, similarity, groups, tolerance, arithmetic)
    subject, people, missing = asked.subject, asked.people, asked.missing
    all_ids = as_ids(ids, len(people) if missing is None else len(missing))  # before hours of proofs
    names, left_out = all_ids, tuple[Id, ...]()
    if missing is not None:
        names = tuple(name for name, gone in zip(all_ids, missing, strict=True) if not gone)
        left_out = tuple(name for name, gone in zip(all_ids, missing, strict=True) if gone)
    modular = modular if asked.predicted is None and sweep is None else False  # of a library, nothing is handed over
    found = audit_region(
        subject,
        people,
        subject.region(people),
        names,
        budget=Resources.of(budget, device),
        modular=modular,
        predicted=asked.predicted,
        proved=None if sweep is None else ProvedCells.of(sweep),
    )
    return replace(found, left_out=left_out, assumptions=asked.assumptions)
