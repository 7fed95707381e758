"""A whole audit bundle: hashes first, then person by person, and the sum of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lcifr.check import files
from lcifr.check.exact import Rejected
from lcifr.check.judge import Judge
from lcifr.check.problem import read_network
from lcifr.check.read import fields
from lcifr.check.similar import Formula
from lcifr.check.table import read_attributes


@dataclass
class Report:
    """What was confirmed. ``rejected`` names people with reasons; ``trusted`` people rest on a solver's word."""

    people: int = 0
    radius_confirmed: list[str] = field(default_factory=list)
    certified: int = 0
    vacuous: int = 0
    counterexamples: int = 0
    undecided: int = 0
    trusted: list[str] = field(default_factory=list)
    rejected: dict[str, str] = field(default_factory=dict)
    latent_hash: str = ""

    @property
    def exit_code(self) -> int:
        """0 all confirmed, 1 something is not, 3 all but what rests on a solver's word."""
        return 1 if self.rejected else 3 if self.trusted else 0

    def lines(self) -> list[str]:
        """For people to read."""
        claimed = self.people - len(self.rejected) - len(self.trusted)
        found = [
            f"{claimed} of {self.people} people: everything that is claimed of them is confirmed in exact arithmetic",
            f"  radius confirmed     {len(self.radius_confirmed)}",
            f"  CERTIFIED confirmed  {self.certified} (of them vacuous, nobody is similar: {self.vacuous})",
            f"  COUNTEREXAMPLE confirmed  {self.counterexamples}",
            f"  UNDECIDED, nothing claimed  {self.undecided}",
            f"  on a solver's word alone  {len(self.trusted)}",
        ]
        return found + [f"NOT confirmed: {name}: {reason}" for name, reason in self.rejected.items()]


def check_bundle(folder: str | Path, progress: Callable[[int], None] | None = None) -> Report:
    """Check everything in a bundle. Raises Rejected where it cannot be read at all."""
    root = Path(folder)
    manifest = files.read_manifest(root)
    judge = _judge(root, manifest)
    report, seen, digest = Report(), set(), hashlib.sha256()
    for line in files.read_lines(root):
        judged = judge.judge(line)
        digest.update(files.latent_bytes(line))
        report.people += 1
        if judged.name in seen:
            raise Rejected(f"{judged.name} is there twice")
        seen.add(judged.name)
        if judged.rejected:
            report.rejected[judged.name] = "; ".join(judged.rejected)
            continue
        if judged.radius == "confirmed":
            report.radius_confirmed.append(judged.name)
        if "trusted" in (judged.radius, judged.verdict):
            report.trusted.append(judged.name)
        elif judged.verdict == "confirmed":
            report.certified += judged.verdict_claimed == "certified"
            report.vacuous += judged.vacuous and judged.verdict_claimed == "certified"
            report.counterexamples += judged.verdict_claimed == "counterexample"
        report.undecided += judged.verdict_claimed == "undecided"
        if progress:
            progress(report.people)
    if report.people != manifest.get("people"):
        raise Rejected(f"{files.PEOPLE} holds {report.people} people, {files.MANIFEST} says {manifest.get('people')}")
    said = fields(manifest.get("hashes"), "hashes", *HASHES).get("latent")
    if said is not None and said != digest.hexdigest():
        raise Rejected(f"{files.PEOPLE} holds other latents than the hand-over that {files.MANIFEST} names")
    report.latent_hash = "" if said is None else digest.hexdigest()
    return report


HASHES = ("encoder", "model", "similarity", "encoding", "latent")


def _judge(root: Path, manifest: dict[str, object]) -> Judge:
    """Everything but the people, with the hashes by which other files name it."""
    encoding = files.read_json(files.read_file(root, files.ENCODING), files.ENCODING)
    similarity = files.read_json(files.read_file(root, files.SIMILARITY), files.SIMILARITY)
    tree = fields(similarity, files.SIMILARITY, "format", "formula")
    if tree.get("format") != 1:
        raise Rejected(f"{files.SIMILARITY} is not of format 1")
    encoder, encoder_hash = files.read_weights(root, files.ENCODER)
    found = {
        "encoder": encoder_hash,
        "similarity": files.canonical_hash(similarity),
        "encoding": files.canonical_hash(encoding),
    }
    model = None
    if manifest.get("decision") is not None:
        layers, found["model"] = files.read_weights(root, files.MODEL)
        model = read_network(layers)
    said = fields(manifest.get("hashes"), "hashes", *HASHES)
    for what, value in found.items():
        if said.get(what) != value:
            raise Rejected(f"{files.MANIFEST} names another {what} than the one that is there: the hashes differ")
    formula = Formula(tree.get("formula"), read_attributes(encoding))
    return Judge(formula, read_network(encoder), model, manifest.get("decision"))
