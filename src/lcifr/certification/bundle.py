"""Audit bundles: people, claims and the proofs of them, for the exact checker."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.audit import box_of_everyone, limits_end_to_end, limits_on_box, two_of
from lcifr.certification.consumer import surroundings
from lcifr.certification.counterexample import CounterexampleChecker
from lcifr.certification.demands import BoolArray, FloatArray, IntArray, Limits, limits_of, outputs_at
from lcifr.certification.handover import FrozenEncoder, Representation, freeze
from lcifr.certification.subject import Subject, rule_of_bundle
from lcifr.certification.verdicts import Audit, Certificates
from lcifr.check.exact import LETTERS, MOST
from lcifr.data import Individuals
from lcifr.data.files import describe_files, fresh_folder, versions, write_manifest
from lcifr.errors import ArtefactError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.function import Function
from lcifr.models.model import Model
from lcifr.models.rule import Kind, Rule
from lcifr.prove import Answer, Budget, Resources
from lcifr.prove.proof import CellProof, to_plain, together
from lcifr.regions.region import Cell, Region
from lcifr.regions.whole_numbers import narrow_to_whole_numbers


@dataclass(frozen=True)
class ProofSample:
    """A sample: ``people`` drawn at random and without repetition from ``of`` people by ``seed``; or all of them."""

    people: int
    of: int
    seed: int

    @property
    def is_everyone(self) -> bool:
        return self.people == self.of

    def rows(self) -> NDArray[np.int64]:
        """(people,) their rows, rising; the same ones every time."""
        if self.is_everyone:
            return np.arange(self.of)
        return np.sort(np.random.default_rng(self.seed).choice(self.of, self.people, replace=False))

    def __str__(self) -> str:
        if self.is_everyone:
            return f"all {self.of:,} people"
        return f"{self.people:,} of {self.of:,} people, drawn at random (seed {self.seed})"


def read_sample(bundle: Path) -> ProofSample | None:
    """How the people of a bundle were drawn, as its writer states it; None where it does not say."""
    found = json.loads((bundle / "manifest.json").read_bytes()).get("drawn")
    values = [found.get(name) for name in ("people", "of", "seed")] if isinstance(found, dict) else [None]
    return ProofSample(*values) if all(type(value) is int for value in values) else None


def draw(of: int, most: int | None, seed: int = 0) -> ProofSample:
    """A sample of at most so many people; all of them if None."""
    return ProofSample(of if most is None else min(most, of), of, seed)


NOTHING_BETWEEN = b'{"kind":"network","factors":[]}'
"""The encoder before a model that reads encoded people itself."""


def encoder_bytes(function: Function, model: Model | None) -> bytes:
    """An encoder as a bundle holds it before this model.

    The identity is no step that a machine takes, so a model on raw columns has nothing before it. Written as a matrix,
    it would cost the checker most of its time.
    """
    return NOTHING_BETWEEN if function.is_identity and model is not None else function.to_bytes()


def checked_size(model: bytes) -> bytes:
    """The content of a model's file, if a checker reads so much at all.

    Raises
    ------
    ArtefactError
        For models that are larger, with their size and the limit.
    """
    from lcifr.check.bundle import LARGER
    from lcifr.check.exact import BYTES, VALUES

    values, most = sum(map(model.count, (b",", b":", b"[", b"{"))), VALUES * LARGER
    if values > most or len(model) > BYTES:
        raise ArtefactError(
            f"the model has {values:,} values in {len(model):,} bytes, a checker reads {most:,} values in {BYTES:,}",
            fix="audit without proofs on file (--no-bundle), or train fewer or smaller trees",
        )
    return model


# Proofs in the shape the exact checker wants: only what the final inequality needs.

TO_THE_END = 1e-10
"""Nothing but the limit ends a proof: it is known to be true, so "close enough" would stop short of it."""


def prove(function: Function, limits: Limits, region: Region, resources: Resources) -> list[list[Any] | None]:
    """For each person plain trees that prove every direction below its limit; None where the search stops short of it.

    That all limits hold is known from other bounds, maybe of another engine. That a proof shows what the search says of
    it is left to the checker, which must be loud.
    """
    answer = limits.ask(function, region, tolerance=min(TO_THE_END, limits.precision), budget=resources, proof=True)
    reached = np.asarray((answer.upper < limits.limit).all(1))
    return [
        _of_person(answer, region, person, function.last_weight) if good else None
        for person, good in enumerate(reached.tolist())
    ]


def _of_person(answer: Answer, region: Region, person: int, last: FloatArray | None) -> list[Any] | None:
    """The trees of all cells of the person, cell by cell; None where a direction has no proof."""
    by_cell: dict[int, list[CellProof]] = {}
    for proofs in answer.proof[person] if answer.proof is not None else (None,):
        if proofs is None:
            return None
        for proof in proofs:
            if not any(proof is other for other in by_cell.setdefault(proof.cell, [])):
                by_cell[proof.cell].append(proof)
    trees: list[Any] = []
    for index in sorted(by_cell):
        order = row_order(region.cells[index])
        found = [tree for proof in by_cell[index] for tree in to_plain(proof)]
        ordered = [_renumbered(tree, order) for tree in found]
        trees += together(ordered if last is None else [_slim(tree, last) for tree in ordered])
    return trees


def _slim(tree: list[Any], last: FloatArray) -> list[Any]:
    """Leave out proved ends of the last hidden layer that the pass of a leaf does not use.

    A line below ReLU with a slope in [0, 1] holds whatever the interval. A line above it with slope s needs the lower
    end only if s > 0, the upper one only if s < 1.
    """
    if len(tree) == 1:  # its ends may serve other directions, too
        return tree
    for kind, *inside in tree:
        if kind == "leaf" and inside[0]:
            ends, ((direction, lines, _),) = inside
            ends[:] = _used(ends, lines, _weights(direction, last) > 0) if direction else ends
    return tree


def _weights(direction: list[Any], last: FloatArray) -> FloatArray:
    dense = np.zeros(len(last))
    for output, value in direction:
        dense[output] = value
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(dense @ last)


def _used(ends: list[Any], lines: list[Any], above: BoolArray) -> Iterator[list[Any]]:
    depth = max(layer for layer, *_ in ends)
    slopes = dict.fromkeys(range(len(above)), 0.0)
    for layer, k, slope, _, beta in lines:
        if layer == depth:
            slopes[k] = slope
            if beta:  # β speaks about the interval itself
                del slopes[k]
    needs = {2 * k + lower: above[k] and (s > 0 if lower else s < 1) for k, s in slopes.items() for lower in (0, 1)}
    for layer, places, *by in ends:
        if kept := [place for place in places if layer != depth or needs.get(place, True)]:
            yield [layer, kept, *by]


def row_order(cell: Cell) -> list[int]:
    """For each linear row of the engine's cell its place in the checker's: one row per matrix row, sorted."""
    if cell.rows is None:
        return []
    rows = [tuple(row) for row in cell.rows.G.tolist()]
    places = {row: place for place, row in enumerate(sorted(set(rows)))}
    return [places[row] for row in rows]


def _renumbered(tree: list[Any], order: list[int]) -> list[Any]:
    """The multipliers of rows under the checker's numbers; rows that it takes as one are added up."""
    for kind, *inside in tree if order else ():
        for *_, rows in (*inside[0], *inside[1]) if kind == "leaf" else ():
            rates: dict[int, float] = {}
            for row, rate in rows:
                rates[order[row]] = rates.get(order[row], 0.0) + rate
            rows[:] = [[row, rate] for row, rate in sorted(rates.items())]
    return tree


def limits_of_box(lower: FloatArray, upper: FloatArray) -> Limits:
    """That every coordinate stays inside its box: ±e_j against the ends, which are never reached but by room."""
    people, width = lower.shape
    signs = np.concatenate([np.eye(width), -np.eye(width)])
    limit = np.concatenate([np.nextafter(upper, np.inf), np.nextafter(-lower, np.inf)], axis=1)
    return Limits(np.broadcast_to(signs, (people, *signs.shape)), limit)


# Claims of an audit bundle about each person: the latent and the decision, each with the proofs that confirm it.

Claim = dict[str, Any]
"""A claim, or ``latent`` and ``decision`` of one person, as a line of the bundle has them."""


@dataclass(frozen=True)
class PeopleClaims:
    """Claims about people, one search for each part of them.

    Parameters
    ----------
    decisions : what is claimed of all people; None for claims about radii alone. resources : of each proof.
    """

    encoder: FrozenEncoder
    decisions: Certificates | Audit | None
    resources: Resources

    def about(self, people: Individuals, handed: Representation | None, rows: IntArray) -> Iterator[Claim]:
        """What is claimed of each of some people, with proofs.

        Parameters
        ----------
        handed : the representation of these people. rows : their places in the decisions.
        """
        lowered, decisions = self.encoder.similarity.region(people), self.decisions
        if isinstance(decisions, Audit) and rests_on_box(self.encoder, decisions.model):
            yield from self._audited_on_box(people, lowered, decisions, rows)
            return
        latents = [] if handed is None else list(self._latents(lowered, handed))
        found: Iterator[Claim] = iter([])
        if isinstance(decisions, Audit):
            found = self._audited(people, lowered, decisions, rows)
        elif decisions is not None and handed is not None:
            proved = np.array(["proofs" in latent for latent in latents], np.bool_)
            found = self._certified(people, handed, decisions, np.flatnonzero(decisions.certified[rows] & proved))
        for latent, decision in zip_longest(latents, found):
            yield {name: claim for name, claim in (("latent", latent), ("decision", decision)) if claim is not None}

    def _latents(self, lowered: Region, part: Representation) -> Iterator[Claim]:
        about, encoding = part.provenance, self.encoder.encoding
        region = narrow_to_whole_numbers(lowered, encoding) if about.whole_numbers else lowered
        error = self.encoder.function.deployed(about.arithmetic, encoding).error_over(region)
        limits = limits_of_box(part.lower, part.upper).lowered(error)
        for row, proofs in enumerate(prove(self.encoder.function, limits, region, self.resources)):
            yield {
                "z": part.latent[row].tolist(),
                "radius": float(part.radius[row]),
                "lower": part.lower[row].tolist(),
                "upper": part.upper[row].tolist(),
                "exact": bool(part.exact[row]),
                "vacuous": bool(part.vacuous[row]),
                "universe": about.universe,
                "arithmetic": str(about.arithmetic),
                **({} if proofs is None else {"proofs": proofs}),
            }

    def _certified(
        self, people: Individuals, part: Representation, decisions: Certificates, sure: IntArray
    ) -> Iterator[Claim]:
        """Of the ``sure`` places what is proved; nothing of the others."""
        deployment, rule = decisions.model.function.deployed(decisions.arithmetic), decisions.model.rule
        own = there = outputs_at(deployment, part.latent)
        if rule.kind is Kind.NUMBER:  # the checker has f, and measures from f(x)
            own = self._checker(people, decisions, decisions.handover_arithmetic).own
        region = Region.from_arrays(*surroundings(part, decisions.on))
        limits = limits_of(rule, own).lowered(deployment.room_over(region))
        shown, classes = self._shown(deployment.merged, limits, region, sure), rule.decide(there.values)
        for place in range(len(part)):
            if place in shown:
                about = {"universe": part.provenance.universe, "arithmetic": str(decisions.arithmetic)}
                claim = {"verdict": "certified", **class_claim(rule, classes[place]), **about, "on": decisions.on}
                yield {**claim, "proofs": shown[place]}
            else:
                yield {"verdict": "undecided"}

    def _audited(self, people: Individuals, lowered: Region, decisions: Audit, rows: IntArray) -> Iterator[Claim]:
        region, checker = narrow_to_whole_numbers(lowered, self.encoder.encoding), self._checker(people, decisions)
        limits, asked = limits_end_to_end(checker, region), checker.deployment.asked_over(region)
        shown = self._shown(checker.deployment.merged, limits, asked, np.flatnonzero(decisions.certified[rows]))
        yield from _verdicts(checker, decisions, rows, shown, "whole")

    def _audited_on_box(
        self, people: Individuals, lowered: Region, decisions: Audit, rows: IntArray
    ) -> Iterator[Claim]:
        """Of trees behind an encoder: where z of everyone similar is, and what trees decide there."""
        checker = self._checker(people, decisions)
        sure = np.flatnonzero(decisions.certified[rows])
        latents, shown = dict[int, Claim](), dict[int, list[Any]]()
        if len(sure):
            region = narrow_to_whole_numbers(lowered.take(sure), self.encoder.encoding)
            handed = box_of_everyone(checker.subject, people.take(sure), region, self.resources)
            found = list(self._latents(lowered.take(sure), handed))
            proved = np.flatnonzero(["proofs" in latent for latent in found])
            boxes, limits = Region.from_arrays(handed.lower, handed.upper), limits_on_box(checker, handed, sure)
            proofs = self._shown(two_of(checker)[1].merged, limits, boxes, proved)
            latents = {int(sure[k]): found[k] for k in proofs}
            shown = {int(sure[k]): proofs[k] for k in proofs}
        for place, decision in enumerate(_verdicts(checker, decisions, rows, shown, "box")):
            yield {**({"latent": latents[place]} if place in latents else {}), "decision": decision}

    def _checker(
        self, people: Individuals, decisions: Certificates | Audit, handed: Arithmetic | None = None
    ) -> CounterexampleChecker:
        subject = Subject(self.encoder, decisions.model, decisions.arithmetic, handed=handed)
        return CounterexampleChecker(subject, people)

    def _shown(self, function: Function, limits: Limits, region: Region, sure: IntArray) -> dict[int, list[Any]]:
        """The proofs of those among the ``sure`` places whose proof goes as far as it must."""
        if len(sure) == 0:
            return {}
        found = zip(sure.tolist(), prove(function, limits.take(sure), region.take(sure), self.resources), strict=True)
        return {place: proofs for place, proofs in found if proofs is not None}


def _verdicts(
    checker: CounterexampleChecker, decisions: Audit, rows: IntArray, shown: dict[int, list[Any]], on: str
) -> Iterator[Claim]:
    """Of each person: certified with the proofs ``shown`` of them, a counterexample, or nothing."""
    rule = decisions.model.rule
    classes = rule.decide(checker.own.values)
    for place, row in enumerate(rows):
        about = {**class_claim(rule, classes[place]), "universe": "whole", "arithmetic": str(decisions.arithmetic)}
        if place in shown:
            yield {"verdict": "certified", **about, "on": on, "proofs": shown[place]}
        elif decisions.violated[row]:
            yield {"verdict": "counterexample", **about, "other": plain_person(decisions.others, int(row))}
        else:
            yield {"verdict": "undecided"}


def rests_on_box(encoder: FrozenEncoder, model: Model) -> bool:
    """Whether the model is proved on a box of z, from end to end: as trees behind an encoder are."""
    return Subject(encoder, model).deployed.boxed is not None


def plain_person(people: Individuals, row: int) -> dict[str, Any]:
    """One person as the checker reads them."""
    return {"numbers": people.numbers[row].tolist(), "codes": people.codes[row].tolist()}


def class_claim(rule: Rule, decided: Any) -> dict[str, int]:
    """The class of a person as a claim has it; a number is no part of one."""
    return {} if rule.kind is Kind.NUMBER else {"prediction": int(decided)}


# The audit bundle: x, φ, encoding, weights and proofs, for an auditor's eyes only.
#
#     folder/manifest.json        format, files with their hashes, the rule of decision
#     folder/people.jsonl.gz      per person x, latent with its proofs, decision with its proofs
#     folder/similarity.json, encoding.json, encoder.json, model.json
#
# The hash of each of the last four is the name by which a hand-over knows it (``Similarity.hash`` and so on).
# ``python -m lcifr.check FOLDER`` confirms all of it in exact arithmetic.

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
    drawn: ProofSample | None = None,
    *,
    budget: Budget | int | None = None,
    device: str | None = None,
) -> Certificates | Audit | None:
    """Write everything an auditor needs to check a hand-over, or decisions, or both, with the proofs.

    Returns the decisions as the bundle has them: people who are certified and whose proof stops short are UNDECIDED,
    and so is a verdict on a ball or box whose radius has no proof. Such a radius is stated, not claimed.

    Parameters
    ----------
    X : the people; representation and decisions speak about them, in this order.
    representation : the hand-over whose radii are to be proved. Decisions of a consumer need it.
    decisions : what :func:`certify` or :func:`audit` found. drawn : of how many these people are a sample.
    budget, device : of the proofs.
    """
    encoder = freeze(encoder)
    people = Individuals.read(X, encoder.encoding.schema)
    _check(people, encoder, representation, decisions)
    with fresh_folder(folder) as fresh:
        write_model(fresh, encoder, None if decisions is None else decisions.model)
        claims = PeopleClaims(encoder, decisions, Resources.of(budget, device))
        short = _write_people(fresh / PEOPLE, people, representation, claims)
        manifest = {
            "format": FORMAT,
            "people": len(people),
            **({} if drawn is None else {"drawn": asdict(drawn)}),
            "decision": None if decisions is None else rule_of_bundle(decisions.model.rule),
            "versions": versions(),
            "files": describe_files(fresh),
        }
        write_manifest(fresh, manifest)
    return decisions.with_undecided(short) if decisions is not None and short else decisions


def write_model(fresh: Path, encoder: FrozenEncoder, model: Model | None) -> None:
    """The files of a bundle beside its people: encoder, encoding, φ, and the model on top where there is one."""
    (fresh / ENCODER).write_bytes(encoder_bytes(encoder.function, model))
    (fresh / ENCODING).write_bytes(encoder.encoding.to_bytes())
    (fresh / SIMILARITY).write_bytes(encoder.similarity.to_bytes())
    if model is not None:
        (fresh / MODEL).write_bytes(checked_size(model.function.to_bytes()))


@contextmanager
def line_writer(path: Path) -> Iterator[Callable[[Claim], Any]]:
    """Writes one line of JSON at a time into a compressed file; equal lines give equal bytes."""
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file:
        yield lambda line: file.write(json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n")


def _check(
    people: Individuals,
    encoder: FrozenEncoder,
    representation: Representation | None,
    decisions: Certificates | Audit | None,
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
            f'row {stranger} of X is not "{name}" of the representation: f(x) is outside the box',
            fix="pass the people of the representation, in its order; nothing could be confirmed of others",
        )


def _first_stranger(people: Individuals, encoder: FrozenEncoder, representation: Representation) -> int | None:
    """The first row whose f(x) is not in the box of the representation, rounding aside."""
    features = encoder.encoding.encode(people)
    at, off = encoder.function(features), encoder.function.error(features)
    outside = (at + off < representation.lower) | (at - off > representation.upper)
    rows = np.flatnonzero(outside.any(axis=1))
    return int(rows[0]) if len(rows) else None


def _write_people(
    path: Path, people: Individuals, representation: Representation | None, claims: PeopleClaims
) -> list[int]:
    """Returns the rows of the people who are certified and not proved."""
    short: list[int] = []
    decisions = claims.decisions
    source = representation if representation is not None else decisions
    assert source is not None
    with line_writer(path) as write:
        for start in range(0, len(people), AT_ONCE):
            rows = np.arange(start, min(start + AT_ONCE, len(people)))
            part, handed = people.take(rows), None if representation is None else representation.take(rows)
            for place, (row, claim) in enumerate(zip(rows, claims.about(part, handed, rows), strict=True)):
                if decisions is not None and decisions.certified[row] and claim["decision"]["verdict"] != "certified":
                    short.append(int(row))
                write({"id": source.ids[row], "x": plain_person(part, place), **claim})
    return short
