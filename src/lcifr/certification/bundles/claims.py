"""Claims of an audit bundle about each person: the latent and the decision, each with the proofs that confirm it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

from lcifr.artifacts.handover import Representation
from lcifr.certification.bundles.evidence import box_question, prove
from lcifr.certification.consumer import surroundings
from lcifr.certification.counterexample import Trial
from lcifr.certification.deployment import Encoder, deploy_encoder, deploy_model, is_raw
from lcifr.certification.query import Query, outputs_at, query_of
from lcifr.certification.trees_behind_encoder import box_of_everybody, deployment_of, query_on_box
from lcifr.certification.verdicts import Audit, Certificates
from lcifr.certification.whole_search import query_end_to_end
from lcifr.data import Individuals
from lcifr.models.model import Model
from lcifr.models.network import Network
from lcifr.models.rule import Kind
from lcifr.models.trees.trees import Trees
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

Claim = dict[str, Any]
"""``latent``, ``decision`` or both, as a line of the bundle has them."""


def claims_about(
    encoder: Encoder,
    part: Individuals,
    handed: Representation | None,
    decisions: Certificates | Audit | None,
    rows: np.ndarray,
    options: dict[str, Any],
) -> Iterator[Claim]:
    """What is claimed of each person of a part, with proofs.

    Parameters
    ----------
    handed : the representation of these people. rows : their places in ``decisions``.
    """
    lowered = encoder.similarity.region(part)
    if isinstance(decisions, Audit) and rests_on_box(encoder, decisions.model):
        yield from _audited_on_box(encoder, part, lowered, decisions, rows, options)
        return
    latents = [] if handed is None else list(_latents(encoder, lowered, handed, options))
    found: Iterator[dict[str, Any]] = iter([])
    if isinstance(decisions, Audit):
        found = _audited(encoder, part, lowered, decisions, rows, options)
    elif decisions is not None and handed is not None:
        proved = np.array(["proofs" in latent for latent in latents], np.bool_)
        sure = np.flatnonzero(decisions.certified[rows] & proved)
        found = _certified(encoder, part, handed, decisions, sure, options)
    for latent, decision in zip_longest(latents, found):
        yield {name: said for name, said in (("latent", latent), ("decision", decision)) if said is not None}


def rests_on_box(encoder: Encoder, model: Model) -> bool:
    """Whether the model is trees behind an encoder: from end to end, they are proved on a box of z."""
    return isinstance(model.function, Trees) and not is_raw(encoder)


def plain_person(people: Individuals, row: int) -> dict[str, Any]:
    """One person as the checker reads them."""
    return {"numbers": people.numbers[row].tolist(), "codes": people.codes[row].tolist()}


def _latents(
    encoder: Encoder, lowered: Region, part: Representation, options: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    whole = part.provenance.whole_numbers
    region = narrow_to_whole_numbers(lowered, encoder.encoding) if whole else lowered
    error = deploy_encoder(encoder, part.provenance.arithmetic).error_over(region)
    evidence = prove(encoder.function, box_question(part.lower, part.upper).lowered(error), region, **options)
    for row in range(len(part)):
        yield {
            "z": part.latent[row].tolist(),
            "radius": float(part.radius[row]),
            "lower": part.lower[row].tolist(),
            "upper": part.upper[row].tolist(),
            "exact": bool(part.exact[row]),
            "vacuous": bool(part.vacuous[row]),
            "universe": part.provenance.universe,
            "arithmetic": str(part.provenance.arithmetic),
            **({"proofs": evidence.proofs[row]} if evidence.reached[row] else {}),
        }


def _certified(
    encoder: Encoder,
    people: Individuals,
    part: Representation,
    decisions: Certificates,
    sure: np.ndarray,
    options: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    """Of the ``sure`` places what is proved; nothing of the others."""
    deployment, rule = deploy_model(decisions.model, decisions.arithmetic), decisions.model.rule
    own = there = outputs_at(deployment, part.latent)
    if rule.kind is Kind.NUMBER:  # whoever checks has f, and measures from f(x)
        own = Trial(encoder, decisions.model, people, decisions.arithmetic, decisions.handover_arithmetic).own
    region = Region.from_arrays(*surroundings(part, decisions.on))
    query = query_of(rule, own).lowered(deployment.room_over(region))
    shown, classes = _shown(deployment.merged, query, region, sure, options), rule.decide(there.values)
    for place in range(len(part)):
        if place in shown:
            about = {"universe": part.provenance.universe, "arithmetic": str(decisions.arithmetic), "on": decisions.on}
            yield {"verdict": "certified", **_prediction(decisions, classes[place]), **about, "proofs": shown[place]}
        else:
            yield {"verdict": "undecided"}


def _audited(
    encoder: Encoder, part: Individuals, lowered: Region, decisions: Audit, rows: np.ndarray, options: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    region = narrow_to_whole_numbers(lowered, encoder.encoding)
    trial = Trial(encoder, decisions.model, part, decisions.arithmetic)
    query = query_end_to_end(trial, region)
    sure = np.flatnonzero(decisions.certified[rows])
    shown = _shown(trial.asked.merged, query, trial.asked.asked_over(region), sure, options)
    yield from _verdicts(trial, decisions, rows, shown, "whole")


def _audited_on_box(
    encoder: Encoder, part: Individuals, lowered: Region, decisions: Audit, rows: np.ndarray, options: dict[str, Any]
) -> Iterator[Claim]:
    """Of trees behind an encoder: where z of everybody similar is, and what trees decide there."""
    trial = Trial(encoder, decisions.model, part, decisions.arithmetic)
    sure = np.flatnonzero(decisions.certified[rows])
    latents, shown = dict[int, Any](), dict[int, list[Any]]()
    if len(sure):
        region = narrow_to_whole_numbers(lowered.take(sure), encoder.encoding)
        handed = box_of_everybody(encoder, part.take(sure), region, decisions.arithmetic, **options)
        found = list(_latents(encoder, lowered.take(sure), handed, options))
        proved = np.flatnonzero(["proofs" in latent for latent in found])
        boxes, query = Region.from_arrays(handed.lower, handed.upper), query_on_box(trial, handed, sure)
        proofs = _shown(deployment_of(trial).second.trees, query, boxes, proved, options)
        latents = {int(sure[k]): found[k] for k in proofs}
        shown = {int(sure[k]): proofs[k] for k in proofs}
    for place, decision in enumerate(_verdicts(trial, decisions, rows, shown, "box")):
        yield {**({"latent": latents[place]} if place in latents else {}), "decision": decision}


def _verdicts(
    trial: Trial, decisions: Audit, rows: np.ndarray, shown: dict[int, list[Any]], on: str
) -> Iterator[dict[str, Any]]:
    """Of each person: certified with the proofs ``shown`` of them, a counterexample, or nothing."""
    classes = decisions.model.rule.decide(trial.own.values)
    for place, row in enumerate(rows):
        about = {**_prediction(decisions, classes[place]), "universe": "whole", "arithmetic": str(decisions.arithmetic)}
        if place in shown:
            yield {"verdict": "certified", **about, "on": on, "proofs": shown[place]}
        elif decisions.violated[row]:
            yield {"verdict": "counterexample", **about, "other": plain_person(decisions.others, int(row))}
        else:
            yield {"verdict": "undecided"}


def _shown(
    network: Network | Trees, query: Query, region: Region, sure: np.ndarray, options: dict[str, Any]
) -> dict[int, list[Any]]:
    """The proofs of those among the ``sure`` places whose proof goes as far as it must."""
    if len(sure) == 0:
        return {}
    evidence = prove(network, query.take(sure), region.take(sure), **options)
    return {int(place): evidence.proofs[k] for k, place in enumerate(sure) if evidence.reached[k]}


def _prediction(decisions: Certificates | Audit, found: Any) -> dict[str, int]:
    return {} if decisions.model.rule.kind is Kind.NUMBER else {"prediction": int(found)}
