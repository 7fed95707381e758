"""The hand-over: z and how far anybody similar can land from it, per person; never x.

folder/manifest.json        format, hashes, who proved what with which tolerance
folder/latent.safetensors   z, radius, lower, upper, exact, vacuous
folder/ids.json             one id per person
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.artifacts.folder import (
    describe_files,
    fresh_folder,
    read_arrays,
    read_json,
    write_manifest,
)
from lcifr.artifacts.provenance import IDS, LATENT, Outline, Provenance, manifest_of
from lcifr.data.io.files import write_json
from lcifr.data.io.ids import Id
from lcifr.errors import ArtefactError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


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
                f"{report} is about a different hand-over", fix="check the bundle that belongs to this one"
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
            write_manifest(fresh, manifest_of(self.provenance, describe_files(fresh), self.latent.shape, self.counts))

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
