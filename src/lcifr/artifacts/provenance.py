"""Provenance of a hand-over: whose proof it is and about what exactly, and the manifest that says so."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.artifacts.folder import MANIFEST, open_folder
from lcifr.data import Encoding
from lcifr.errors import ArtefactError, LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.similarity.language.printer import print_formula
from lcifr.similarity.similarity import Similarity

FORMAT = "lcifr-handover-3"
LATENT, IDS = "latent.safetensors", "ids.json"


@dataclass(frozen=True)
class Provenance:
    """Whose proof this is, and about what exactly.

    Parameters
    ----------
    weights, schema, encoding, similarity : hashes.
    similarity_text : the formula, or None where the producer withholds it. Its hash is ``similarity``.
    tolerance, method, versions : how the radii were proved, and with what.
    whole_numbers : whether the radii cover whole numbers only, where the schema calls an attribute whole.
    arithmetic : of the encoder: ball and box hold what any machine that computes in it finds. A verdict in floating
        point needs one that is not exact.
    latent_format : of the numbers in the file.
    scales : schema and scales with which the text is the formula of that hash, as ``Encoding.to_dict`` gives them.
    """

    weights: str
    schema: str
    encoding: str
    similarity: str
    similarity_text: str | None
    tolerance: float
    method: str
    whole_numbers: bool = False
    arithmetic: Arithmetic = Arithmetic.EXACT
    latent_format: str = "float64"
    versions: dict[str, str] = field(default_factory=dict)
    scales: dict[str, Any] | None = None

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Provenance:
        """As a manifest or a result holds it; ValueError for an unknown arithmetic or format."""
        found = cls(**plain)
        if found.latent_format != "float64":
            raise ValueError(f"latents are stored as float64, not as {found.latent_format!r}")
        return replace(found, arithmetic=Arithmetic(found.arithmetic))

    @property
    def universe(self) -> str:
        """Whom the radii cover: ``whole`` numbers where the schema calls an attribute whole, or all ``reals``."""
        return "whole" if self.whole_numbers else "reals"

    def formula(self) -> Similarity | None:
        """φ, read from its text; None where it is withheld.

        Raises
        ------
        ArtefactError
            If the text is not the formula whose hash stands here, or holds more than that: a comment is in no hash.
        """
        if self.similarity_text is None:
            return None
        wrong = ArtefactError("the text of φ is not the formula that the hash names", fix="ask the producer for both")
        try:
            encoding = Encoding.from_dict(self.scales or {})
            found = Similarity(str(self.similarity_text), encoding.schema, encoding)
        except LcifrError as problem:
            raise wrong from problem
        named = (encoding.hash, found.hash, print_formula(found.formula))
        if named != (self.encoding, self.similarity, self.similarity_text):
            raise wrong
        return found


@dataclass(frozen=True)
class Outline:
    """What the manifest of a hand-over says, once its files are found to be those that it speaks about."""

    people: int
    width: int
    provenance: Provenance
    counts: Any

    @classmethod
    def read(cls, root: Path) -> Outline:
        manifest = open_folder(root, FORMAT, (IDS, LATENT))
        people, width = manifest.get("people"), manifest.get("width")
        if type(people) is not int or type(width) is not int or people < 0 or width < 1:
            raise ArtefactError(f"{root / MANIFEST} does not say how many people and coordinates there are")
        try:
            provenance = Provenance.from_dict(manifest["provenance"])
        except (KeyError, TypeError, ValueError):
            raise ArtefactError(f"{root / MANIFEST} does not say whose proof this is, or in which arithmetic") from None
        try:
            provenance.formula()
        except ArtefactError as problem:
            raise ArtefactError(f"{root / MANIFEST}: {problem}") from None
        return cls(people, width, provenance, manifest.get("counts"))

    def shapes(self) -> dict[str, tuple[type, tuple[int, ...]]]:
        """The arrays that there must be."""
        matrix, vector = (np.float64, (self.people, self.width)), (np.bool_, (self.people,))
        matrices: dict[str, tuple[type, tuple[int, ...]]] = dict.fromkeys(("latent", "lower", "upper"), matrix)
        return {**matrices, "radius": (np.float64, (self.people,)), "exact": vector, "vacuous": vector}

    def no_ids(self, root: Path) -> ArtefactError:
        return ArtefactError(f"{root / IDS} is not a list of {self.people} ids (text or whole numbers)")

    def check_counts(self, root: Path, counts: dict[str, int]) -> None:
        if self.counts != counts:
            raise ArtefactError(f"{root / MANIFEST} does not agree with {LATENT}: {self.counts}")


def manifest_of(
    provenance: Provenance, files: dict[str, Any], shape: tuple[int, ...], counts: dict[str, int]
) -> dict[str, Any]:
    people, width = shape
    return {
        "format": FORMAT,
        "people": people,
        "width": width,
        "provenance": asdict(provenance),
        "counts": counts,
        "files": files,
    }
