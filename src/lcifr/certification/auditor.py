"""The auditor: h ∘ f from end to end, certified or refuted by a concrete similar person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.handover import Representation
from lcifr.certification.consumer import certify_model
from lcifr.certification.counterexample import LibraryDecisions, Trial, find, simplify
from lcifr.certification.deployment import Encoder
from lcifr.certification.fewest_attributes import with_fewest_attributes
from lcifr.certification.producer import represent_lowered
from lcifr.certification.query import OWN_WORD, BoolArray, Query, is_strict, query_of
from lcifr.certification.subject import subject_of
from lcifr.certification.verdicts import Audit, Reason, Verdict, words
from lcifr.data import Individuals
from lcifr.data.io.ids import Id, as_ids
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.chain import choose_for
from lcifr.models.deployed import REFUSED
from lcifr.models.model import Model
from lcifr.models.trees.deployed import NetworkOnTrees
from lcifr.models.trees.trees import Trees
from lcifr.prove import Answer, Budget, Status, maximize
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers
from lcifr.similarity.similarity import Similarity


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
) -> Audit:
    """Prove from end to end that nobody similar gets another decision, or show somebody who does.

    ``audit(encoder, model, X)`` is about an encoder of ours and a model on top; ``audit(model, X, similarity=…)`` about
    a model of another library on the raw columns of a table: a fitted scikit-learn estimator or Pipeline, or the path
    of a model file. There, a counterexample is one for the library's own ``predict`` too. What cannot be read exactly
    is refused by name (docs/design/models.md). Rows with missing values are left out, and the result lists them.

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
    """
    subject = subject_of(encoder, model, X, similarity, groups, tolerance)
    encoder, known, people = subject.encoder, subject.model, subject.people
    deployed = choose_for(arithmetic, (encoder.function, *known.computed))
    kept = np.ones(len(people), np.bool_) if subject.missing is None else ~subject.missing
    everybody = as_ids(ids, len(kept))  # before hours of proofs
    names = tuple(name for name, here in zip(everybody, kept, strict=True) if here)
    options = dict[str, Any](budget=budget, device=device, modular=modular, arithmetic=deployed)
    if subject.library is not None:  # nothing is handed over
        options |= {"modular": False, "library": subject.library}
    found = audit_region(encoder, known, people, encoder.similarity.region(people), names, **options)
    left_out = tuple(name for name, here in zip(everybody, kept, strict=True) if not here)
    return replace(found, left_out=left_out) if left_out else found


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
