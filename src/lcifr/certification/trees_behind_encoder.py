"""Trees behind an encoder: verdicts from end to end, by a box that holds the z of everybody similar.

No engine asks about trees on the outputs of a network at once. So the encoder is asked where each number of z can be,
and the trees are asked about the box of these. Where they decide alike in all of it, everybody similar is decided
alike. The box also holds points that are nobody's z, so another decision in it is no counterexample: that takes a
similar person, who is searched for separately.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.handover import Representation
from lcifr.certification.counterexample import Trial
from lcifr.certification.deployment import Encoder
from lcifr.certification.producer import TOLERANCE, FrozenEncoder, provenance_of, represent_region
from lcifr.certification.query import OWN_WORD, FloatArray, Query, is_strict, query_of
from lcifr.certification.verdicts import Reason
from lcifr.certification.whole_search import NODES, EndToEnd, find_simple
from lcifr.data import Individuals
from lcifr.data.io.ids import as_ids
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.deployed import REFUSED
from lcifr.models.trees.deployed import TreesOnLatents
from lcifr.prove import Answer, Budget, Status, maximize
from lcifr.prove.radius import signed_outputs
from lcifr.regions.region import Region


def search_on_box(
    trial: Trial, region: Region, *, budget: Budget | int | None = None, device: str | None = None
) -> EndToEnd:
    """Certify people on their boxes, and refute others by somebody similar; the rest is undecided, with the reason.

    Parameters
    ----------
    region : of people who can exist.
    """
    trees, rule = deployment_of(trial), trial.model.rule
    overflow = trial.own.may_overflow | (trees.first.error_over(region) >= REFUSED).any(1)
    rows = np.flatnonzero(~overflow)  # of the others there is no box
    handed = box_of_everybody(
        trial.encoder, trial.people.take(rows), region.take(rows), trial.arithmetic, budget=budget, device=device
    )
    query = query_on_box(trial, handed, rows)
    box = Region.from_arrays(handed.lower, handed.upper)
    answer = query.ask(trees.second.trees, box, budget=budget, device=device)
    strict = is_strict(rule, trial.own)
    alike, reached, spent = np.zeros((3, region.people), np.bool_)
    alike[rows] = (answer.upper < query.limit).all(1)
    certified = alike & strict & (not trees.first.is_exact)
    reached[rows] = (answer.best > query.limit).any(1)
    spent[rows] = (answer.status == Status.BUDGET).any(1)
    left = np.flatnonzero((~alike & strict)[rows])
    found = find_simple(trial, region, rows[left], _candidates(trial, region, rows, left, handed.latent, answer))
    margin = np.zeros(region.people)
    margin[rows] = np.minimum((query.limit - answer.upper).min(1), np.finfo(np.float64).max)
    reasons = {
        Reason.NONE: certified | found.found,
        Reason.EXACT_BALL: np.full(region.people, trees.first.is_exact),
        Reason.OVERFLOW: overflow,
        Reason.TIE: ~is_strict(rule, trial.own.exactly()),
        Reason.ROUNDING: ~strict,
        Reason.BOX: reached,
        Reason.BUDGET: spent,
    }
    return EndToEnd(certified, found, margin, reasons, overflow)


def deployment_of(trial: Trial) -> TreesOnLatents:
    """Encoder and trees, as machines compute them."""
    assert isinstance(trial.deployment, TreesOnLatents)
    return trial.deployment


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
    room = deployment_of(trial).second.room_over(Region.from_arrays(handed.lower, handed.upper))
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
