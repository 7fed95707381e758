"""The audit bundle: x, φ, encoding, weights and proofs, for an auditor's eyes only.

    folder/manifest.json        format, files with their hashes, the rule of decision
    folder/people.jsonl.gz      per person x, latent with its proofs, decision with its proofs
    folder/similarity.json, encoding.json, encoder.json, model.json

The hash of each of the last four is the name by which a hand-over knows it (``Similarity.hash`` and so on).
``python -m lcifr.check FOLDER`` confirms all of it in exact arithmetic.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.artifacts.folder import describe_files, fresh_folder, versions, write_manifest
from lcifr.artifacts.handover import Representation
from lcifr.certification.bundles.evidence import box_question, prove
from lcifr.certification.bundles.manifest import Drawn, encoder_bytes, readable, rule_of_bundle
from lcifr.certification.consumer import surroundings
from lcifr.certification.counterexample import Trial
from lcifr.certification.deployment import Encoder, deploy_encoder, deploy_model
from lcifr.certification.end_to_end import query_end_to_end
from lcifr.certification.producer import freeze
from lcifr.certification.query import Query, outputs_at, query_of
from lcifr.certification.verdicts import Audit, Certificates, unproved
from lcifr.check.exact import LETTERS, MOST
from lcifr.data import Individuals
from lcifr.errors import ArtefactError
from lcifr.models.network import Network
from lcifr.models.rule import Kind
from lcifr.models.trees.trees import Trees
from lcifr.regions.region import Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers

FORMAT = "lcifr-audit-9"
PEOPLE, SIMILARITY, ENCODING = "people.jsonl.gz", "similarity.json", "encoding.json"
ENCODER, MODEL = "encoder.json", "model.json"
AT_ONCE = 1024
"""People whose proofs are in memory together."""


def write_bundle(
    folder: str | Path,
    encoder: Any,
    X: Any,
    representation: Representation | None = None,
    decisions: Certificates | Audit | None = None,
    drawn: Drawn | None = None,
    **options: Any,
) -> Certificates | Audit | None:
    """Write everything an auditor needs to check a hand-over, or decisions, or both, with the proofs.

    Returns the decisions as the bundle has them: whoever is certified and whose proof stops short of it is UNDECIDED,
    and so is a verdict on the ball or box of somebody whose radius has no proof. Such a radius is said, not claimed.

    Parameters
    ----------
    X : the people; representation and decisions speak about them, in this order.
    representation : the hand-over whose radii are to be proved. Decisions of a consumer need it.
    decisions : what :func:`certify` or :func:`audit` found. drawn : of how many these people are a sample.
    options : ``budget`` and ``device`` of the proofs.
    """
    encoder = freeze(encoder)
    people = Individuals.read(X, encoder.encoding.schema)
    _check(people, encoder, representation, decisions)
    with fresh_folder(folder) as fresh:
        (fresh / ENCODER).write_bytes(encoder_bytes(encoder.function, None if decisions is None else decisions.model))
        (fresh / ENCODING).write_bytes(encoder.encoding.to_bytes())
        (fresh / SIMILARITY).write_bytes(encoder.similarity.to_bytes())
        if decisions is not None:
            (fresh / MODEL).write_bytes(readable(decisions.model.function.to_bytes()))
        short = _write_people(fresh / PEOPLE, encoder, people, representation, decisions, options)
        manifest = {
            "format": FORMAT,
            "people": len(people),
            **({} if drawn is None else {"drawn": asdict(drawn)}),
            "decision": None if decisions is None else rule_of_bundle(decisions.model.rule),
            "versions": versions(),
            "files": describe_files(fresh),
        }
        write_manifest(fresh, manifest)
    return unproved(decisions, short) if short else decisions


def _check(
    people: Individuals, encoder: Encoder, representation: Representation | None, decisions: Certificates | Audit | None
) -> None:
    if representation is None and decisions is None:
        raise ArtefactError("there is nothing to prove", fix="pass a representation, decisions, or both")
    if len(people) > MOST:
        raise ArtefactError(f"a bundle holds at most {MOST:,} people, these are {len(people):,}", fix="write several")
    for what in (representation, decisions):
        if what is not None and (long := [name for name in what.ids if len(str(name)) > LETTERS]):
            raise ArtefactError(f"an id has more than {LETTERS} letters: {long[0]!s:.40}…", fix="give shorter ids")
        if what is not None and len(what) != len(people):
            raise ArtefactError(f"there are {len(people)} people, but {len(what)} in the {type(what).__name__}")
    if isinstance(decisions, Certificates) and (representation is None or representation.ids != decisions.ids):
        raise ArtefactError("a consumer's certificates rest on a representation", fix="pass the one that was certified")
    if representation is not None and representation.provenance.weights != encoder.function.hash:
        raise ArtefactError("the representation comes from another encoder", fix="pass the encoder that made it")
    if representation is not None and (stranger := _first_stranger(people, encoder, representation)) is not None:
        name = representation.ids[stranger]
        raise ArtefactError(
            f'row {stranger} of X is not "{name}", whom the representation speaks about: f(x) is outside the box',
            fix="pass the people whom it speaks about, in its order; nothing could be confirmed of others",
        )


def _first_stranger(people: Individuals, encoder: Encoder, representation: Representation) -> int | None:
    """The first row whose f(x) is not in the box of the representation, rounding aside."""
    features = encoder.encoding.encode(people)
    at, off = encoder.function(features), encoder.function.error(features)
    outside = (at + off < representation.lower) | (at - off > representation.upper)
    rows = np.flatnonzero(outside.any(axis=1))
    return int(rows[0]) if len(rows) else None


def _write_people(
    path: Path,
    encoder: Encoder,
    people: Individuals,
    representation: Representation | None,
    decisions: Certificates | Audit | None,
    options: dict[str, Any],
) -> list[int]:
    """Returns the rows of the people who are certified and not proved."""
    short: list[int] = []
    source = representation if representation is not None else decisions
    assert source is not None
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        for start in range(0, len(people), AT_ONCE):
            rows = np.arange(start, min(start + AT_ONCE, len(people)))
            part = people.take(rows)
            lines: list[dict[str, Any]] = [
                {"id": source.ids[row], "x": plain_person(part, place)} for place, row in enumerate(rows)
            ]
            lowered = encoder.similarity.region(part)
            if representation is not None:
                latents = _latents(encoder, lowered, representation.take(rows), options)
                for line, latent in zip(lines, latents, strict=True):
                    line["latent"] = latent
            if isinstance(decisions, Audit):
                found = _audited(encoder, part, lowered, decisions, rows, options)
            elif decisions is not None and representation is not None:
                proved = np.array(["proofs" in line["latent"] for line in lines], np.bool_)
                sure = np.flatnonzero(decisions.certified[rows] & proved)
                found = _certified(encoder, part, representation.take(rows), decisions, sure, options)
            else:
                found = iter([{}] * len(rows))
            for row, line, decision in zip(rows, lines, found, strict=True):
                if decision:
                    line["decision"] = decision
                if decisions is not None and decisions.certified[row] and decision["verdict"] != "certified":
                    short.append(int(row))
                file.write(json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n")
    return short


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
    shown = _shown(trial.deployment.merged, query, trial.deployment.asked_over(region), sure, options)
    classes = decisions.model.rule.decide(trial.own.values)
    for place, row in enumerate(rows):
        about = {**_prediction(decisions, classes[place]), "universe": "whole", "arithmetic": str(decisions.arithmetic)}
        if place in shown:
            yield {"verdict": "certified", **about, "on": "whole", "proofs": shown[place]}
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
