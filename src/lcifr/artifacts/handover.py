"""The hand-over: z and how far anybody similar can land from it, per person; never x.

folder/manifest.json        format, hashes, who proved what with which tolerance
folder/latent.safetensors   z, radius, lower, upper, exact, vacuous
folder/ids.json             one id per person
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.folder import (
    MANIFEST,
    describe_files,
    fresh_folder,
    open_folder,
    read_arrays,
    read_json,
)
from lcifr.data import Encoding
from lcifr.data.io.files import write_json
from lcifr.data.io.ids import Id
from lcifr.errors import ArtefactError, LcifrError
from lcifr.models.arithmetic import Arithmetic
from lcifr.similarity.language.printer import print_formula
from lcifr.similarity.similarity import Similarity

FORMAT = "lcifr-handover-3"
LATENT, IDS = "latent.safetensors", "ids.json"
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "arithmetic", Arithmetic(self.arithmetic))  # a manifest has its name
        if self.latent_format != "float64":
            raise ValueError(f"latents are stored as float64, not as {self.latent_format!r}")

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
class Representation:
    """What a producer hands over: for every person a latent z and a proved ball and box that hold everybody similar.

    Parameters
    ----------
    ids : (people,) strings or integers, each once.
    latent : (people, width) z.
    radius : (people,) ε ≥ ‖f(x′) − z‖∞ for every similar x′ and for x itself.
    lower, upper : (people, width) the proved box; it lies in the ball.
    exact : (people,) whether the radius is known to be tight, up to the tolerance.
    vacuous : (people,) whether nobody at all is similar.
    provenance : hashes, tolerance, method.
    checked : (people,) whether an auditor's report confirms the radius; until then it is the producer's claim.
    """

    ids: tuple[Id, ...]
    latent: FloatArray
    radius: FloatArray
    lower: FloatArray
    upper: FloatArray
    exact: BoolArray
    vacuous: BoolArray
    provenance: Provenance
    checked: BoolArray | None = None

    def __post_init__(self) -> None:
        _check(self, "the representation")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def width(self) -> int:
        return int(self.latent.shape[1])

    @property
    def radius_status(self) -> NDArray[np.str_]:
        """(people,) ``claimed`` or ``checked``."""
        checked = np.zeros(len(self), np.bool_) if self.checked is None else self.checked
        return np.where(checked, "checked", "claimed")

    def take(self, index: Any) -> Representation:
        """Some of the people: a slice, a mask or indices."""
        chosen = np.arange(len(self))[index]
        return replace(
            self,
            ids=tuple(self.ids[i] for i in chosen),
            checked=None if self.checked is None else self.checked[chosen],
            **{name: array[chosen] for name, array in self.arrays().items()},
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays as the file holds them."""
        names = ("latent", "radius", "lower", "upper", "exact", "vacuous")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def latent_hash(self) -> str:
        """The name of exactly what is said of these people; an auditor's report speaks about it."""
        import hashlib

        digest = hashlib.sha256()
        rows = np.concatenate([self.latent, self.radius[:, None], self.lower, self.upper], axis=1).astype("<f8")
        about = (self.provenance.universe, str(self.provenance.arithmetic))
        said = zip(self.ids, self.exact.tolist(), self.vacuous.tolist(), strict=True)
        for head, row in zip(said, rows, strict=True):  # person by person, so that a checker can go along
            digest.update(json.dumps([*head, *about]).encode() + b"\n" + row.tobytes())
        return digest.hexdigest()

    def with_report(self, report: str | Path) -> Representation:
        """The same with the radii that a checker's report (``python -m lcifr.check BUNDLE --json``) confirms."""
        found, about = read_json(Path(report)), self.provenance
        named = {"hand-over": self.latent_hash, "encoder.json": about.weights}  # a radius of another φ is none of this
        named |= {"encoding.json": about.encoding, "similarity.json": about.similarity, "schema": about.schema}
        hashes = found.get("hashes") if isinstance(found, dict) else None
        if not isinstance(hashes, dict) or not named.items() <= hashes.items():
            raise ArtefactError(
                f"{report} speaks about another hand-over", fix="check the bundle that belongs to this one"
            )
        confirmed, empty = (self._named(found, kind) for kind in ("radius", "vacuous_radius"))
        return replace(self, checked=confirmed, vacuous=self.vacuous | (confirmed & empty))

    def _named(self, report: dict[str, Any], kind: str) -> BoolArray:
        """(people,) who is among these names of a checker's report."""
        names = report["names"].get(kind, ()) if isinstance(report.get("names"), dict) else ()
        return np.isin(np.array([str(name) for name in self.ids]), np.array([*names], dtype=str))

    def frame(self) -> Any:
        """A pandas frame, one row per person; ``frame().to_parquet(…)`` for other tools."""
        import pandas as pd

        columns = {f"z{j}": self.latent[:, j] for j in range(self.width)}
        more = {
            "radius": self.radius,
            "exact": self.exact,
            "vacuous": self.vacuous,
            "radius_status": self.radius_status,
        }
        return pd.DataFrame({"id": list(self.ids), **columns, **more})

    # -- files ---------------------------------------------------------------------------------------------------------

    def write(self, folder: str | Path) -> None:
        """Write the hand-over as a new folder; it appears whole or not at all."""
        from safetensors.numpy import save_file

        with fresh_folder(folder) as fresh:
            save_file({name: np.ascontiguousarray(array) for name, array in self.arrays().items()}, fresh / LATENT)
            write_json(fresh / IDS, list(self.ids))
            write_json(
                fresh / MANIFEST, manifest_of(self.provenance, describe_files(fresh), self.latent.shape, self.counts)
            )

    @property
    def counts(self) -> dict[str, int]:
        exact = int(self.exact.sum())
        return {"exact": exact, "not_exact": len(self) - exact, "vacuous": int(self.vacuous.sum())}

    @classmethod
    def read(cls, folder: str | Path) -> Representation:
        """Read a hand-over, and refuse it, naming the file, where it does not add up."""
        root = Path(folder)
        outline = Outline.read(root)
        arrays = read_arrays(root / LATENT, outline.shapes())
        ids = read_json(root / IDS)
        if not isinstance(ids, list) or len(ids) != outline.people or not all(type(i) in (str, int) for i in ids):
            raise outline.no_ids(root)
        found = cls(tuple(ids), **arrays, provenance=outline.provenance)
        outline.check_counts(root, found.counts)
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
            provenance = Provenance(**manifest["provenance"])
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
            raise ArtefactError(f"{root / MANIFEST} counts otherwise than {LATENT}: {self.counts}")


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


def _check(found: Representation, what: str) -> None:
    people, width = found.latent.shape
    shapes = {"radius": (people,), "lower": (people, width), "upper": (people, width), "exact": (people,)}
    for name, shape in (shapes | {"vacuous": (people,)}).items():
        if getattr(found, name).shape != shape:
            raise ArtefactError(f"{what}: {name} has the shape {getattr(found, name).shape}, expected {shape}")
    if len(found.ids) != people or len(set(map(str, found.ids))) != people:
        raise ArtefactError(f"{what}: there must be one id per person, each once", fix="pass ids that are unique")
    for name in ("latent", "radius", "lower", "upper"):
        if not np.isfinite(getattr(found, name)).all():
            raise ArtefactError(f"{what}: {name} holds NaN or infinity")
    if (found.radius < 0).any():
        raise ArtefactError(f"{what}: a radius is negative (row {int(np.argmax(found.radius < 0))})")
    if (found.lower > found.upper).any():
        raise ArtefactError(f"{what}: a box runs backwards (row {int(np.argmax((found.lower > found.upper).any(1)))})")
