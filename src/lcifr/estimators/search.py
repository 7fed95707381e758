"""Resumable search: candidates are fitted and evaluated, or read from the folder of an earlier run."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from lcifr.data import read_frame
from lcifr.data.files import ChangedFileWarning, sha256_of, write_json
from lcifr.errors import LearningError
from lcifr.estimators.base_booster import BaseBooster
from lcifr.estimators.base_head import Head
from lcifr.estimators.baselines import Producer
from lcifr.estimators.encoder import FairEncoder
from lcifr.estimators.evaluation import FrontierPoint, evaluate_models
from lcifr.estimators.input_validation import is_table
from lcifr.estimators.saving import load_producer
from lcifr.models.model import Degeneracy

PARTS = ("encoder", "head")
"""The files of a candidate beside its note."""


class Search:
    """Fits and evaluates models, or reads those of an earlier run."""

    def __init__(
        self,
        families: Sequence[Producer],
        head: Head,
        training: tuple[Any, Any],
        validation: tuple[Any, Any],
        folder: str | Path | None,
        by: str,
    ) -> None:
        self.head, self.training, self.validation, self.by = head, training, validation, by
        self.on = "box" if any(isinstance(one, BaseBooster) for one in families) else "ball"
        self.folder = None if folder is None else Path(folder)
        known = getattr(families[0].similarity, "encoding", None)  # whom a ready φ takes ranks among
        self.ranked = training[0] if known is None or known.ranked is None else known.ranked
        self.fitted: dict[str, tuple[Producer, Head]] = {}
        if self.folder is not None:
            self._open(self.folder, _fingerprint(families, head, training, validation, by))

    @staticmethod
    def _open(folder: Path, mark: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / "search.json"
        if note.exists() and json.loads(note.read_text(encoding="utf-8")).get("mark") != mark:
            raise LearningError(
                f"{folder} holds a search with other people or other settings", fix="give an empty folder, or remove it"
            )
        write_json(note, {"mark": mark})

    def visit(self, candidate: Producer, name: str) -> FrontierPoint:
        """The point of this candidate, fitted now or found in the folder."""
        if (found := self._found(name)) is not None:
            return found
        candidate.fit(*self.training, validation=self.validation)
        head = candidate.head_ if isinstance(candidate, BaseBooster) else self._head(candidate)
        point = evaluate_models(candidate, head, *self.validation, name=name, by=self.by, on=self.on)
        self.fitted[name] = candidate, head
        if self.folder is not None:
            candidate.save(self.folder / f"{name}.encoder")
            head.save(self.folder / f"{name}.head")
            files = {part: sha256_of(self.folder / f"{name}.{part}") for part in PARTS}
            write_json(self.folder / f"{name}.json", {"point": asdict(point), "files": files})  # last: all is whole
        return point

    def _head(self, encoder: FairEncoder) -> Head:
        """Trained on z of the training people, against their balls or boxes; a booster has one of its own."""
        head: Head = clone(self.head)
        near = encoder.reach(self.training[0])
        box = (near.lower, near.upper) if self.on == "box" else None
        head.fit(encoder.transform(self.training[0]), np.asarray(self.training[1]), radius=near.radius, box=box)
        return head

    def _found(self, name: str) -> FrontierPoint | None:
        """What an earlier run found for this candidate, if its models are still the ones that it wrote."""
        if self.folder is None or not (self.folder / f"{name}.json").is_file():
            return None
        try:
            said = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
            for part in PARTS:
                if sha256_of(self.folder / f"{name}.{part}") != said["files"][part]:
                    raise ValueError(f"{name}.{part} is not what the search wrote")
            point = said["point"]
            return FrontierPoint(**point | {"degeneracies": tuple(Degeneracy(**one) for one in point["degeneracies"])})
        except (OSError, ValueError, KeyError, TypeError) as problem:
            warnings.warn(f"{self.folder}: {problem}; it is learned again", ChangedFileWarning, stacklevel=4)
            return None

    def models(self, name: str) -> tuple[Producer, Head]:
        if name not in self.fitted:
            assert self.folder is not None
            encoder = load_producer(self.folder / f"{name}.encoder", training=self.ranked)
            self.fitted[name] = encoder, type(self.head).load(self.folder / f"{name}.head")
        return self.fitted[name]


def _fingerprint(
    families: Sequence[Producer], head: Head, training: tuple[Any, Any], validation: tuple[Any, Any], by: str
) -> str:
    """sha256 of settings and data, so that a folder is never continued with others."""
    digest = hashlib.sha256(by.encode())
    for encoder in families:
        digest.update(repr(clone(encoder).set_params(gamma=0.0, verbose=False)).encode())
        digest.update(repr(encoder.similarity).encode() + repr(head).encode())
    for table, labels in (training, validation):
        if is_table(table):
            frame = read_frame(table)
            for column in frame.column_names:
                digest.update(column.encode() + repr(frame[column].to_pylist()).encode())
        else:
            digest.update(np.asarray(table).tobytes())
        digest.update(repr(np.asarray(labels).tolist()).encode())
    return digest.hexdigest()
