"""Producers for audits by sample: honest ones, and one who certifies people falsely."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcifr.evidence.sampling import CommitRequest, OpenRequest, commit, open_drawn
from tests.certification.made_bundles import contents, rewritten

CERTIFIED, MIXED = 0, 2
"""Scenes of made bundles: in the one everybody is certified, in the other one of four is refuted."""


def bundle_of(
    place: Path, lines: int, false: int = 0, scene: int = CERTIFIED, arithmetic: str | None = None, **more: Any
) -> Path:
    """A bundle of so many people, the first of whom have a certificate that is false: of the other decision.

    arithmetic : that all of them claim, in place of their own. more : of every line.
    """
    plain = copy.deepcopy(contents(scene, "whole"))
    known = plain["lines"]
    plain["lines"] = [copy.deepcopy(known[number % len(known)]) | {"id": f"person {number}"} for number in range(lines)]
    for line in plain["lines"]:
        line.pop("latent", None)
        line |= copy.deepcopy(more)
        line["decision"] |= {} if arithmetic is None else {"arithmetic": arithmetic}
    for line in plain["lines"][:false]:
        line["decision"]["prediction"] = 1 - line["decision"]["prediction"]
    plain["manifest"]["people"] = lines
    return rewritten(place, plain)


@dataclass(frozen=True)
class Audited:
    """The files of one audit by sample."""

    bundle: Path
    commitment: Path
    challenge: Path
    opening: Path

    @property
    def files(self) -> tuple[Path, Path, Path]:
        """As the checker takes them."""
        return self.commitment / "commitment.json", self.challenge, self.opening


def write_challenge(path: Path, root: str, seed: bytes, people: int, **more: Any) -> Path:
    """A challenge with a seed of one's own."""
    asked = {"format": "lcifr-challenge-1", "commitment": root, "seed": seed.hex(), "people": people}
    path.write_text(json.dumps({**asked, "confidence": "0.95", "earlier": [], **more}))
    return path


def audited(place: Path, bundle: Path, people: int, seed: bytes = bytes(32)) -> Audited:
    """Commit, challenge, open."""
    done = commit(CommitRequest(bundle, place / "commitment"))
    challenge = write_challenge(place / "challenge.json", done.root, seed, people)
    open_drawn(OpenRequest(bundle, place / "commitment", challenge, place / "opening"))
    return Audited(bundle, place / "commitment", challenge, place / "opening")
