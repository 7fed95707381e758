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
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.artifacts.folder import describe_files, fresh_folder, versions, write_manifest
from lcifr.artifacts.handover import Representation
from lcifr.certification.bundles.claims import claims_about, plain_person, rests_on_box
from lcifr.certification.bundles.hashes import rule_of_bundle
from lcifr.certification.bundles.manifest import Drawn, encoder_bytes, readable
from lcifr.certification.deployment import Encoder
from lcifr.certification.producer import freeze
from lcifr.certification.verdicts import Audit, Certificates, unproved
from lcifr.check.exact import LETTERS, MOST
from lcifr.data import Individuals
from lcifr.errors import ArtefactError

FORMAT = "lcifr-audit-10"
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
    if representation is not None and isinstance(decisions, Audit) and rests_on_box(encoder, decisions.model):
        raise ArtefactError(
            "an audit of trees behind an encoder rests on boxes of its own, and a bundle holds one for each person",
            fix="leave the representation out, or pass what certify found on it",
        )
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
            claims = claims_about(
                encoder, part, None if representation is None else representation.take(rows), decisions, rows, options
            )
            for place, (row, claim) in enumerate(zip(rows, claims, strict=True)):
                if decisions is not None and decisions.certified[row] and claim["decision"]["verdict"] != "certified":
                    short.append(int(row))
                line = {"id": source.ids[row], "x": plain_person(part, place), **claim}
                file.write(json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n")
    return short
