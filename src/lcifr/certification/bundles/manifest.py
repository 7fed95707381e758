"""Manifest of a bundle: the sample that was drawn, and functions as a checker reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import ArtefactError
from lcifr.models.function import Function
from lcifr.models.model import Model
from lcifr.models.network import Network


@dataclass(frozen=True)
class Drawn:
    """A sample: ``people`` drawn at random and without repetition from ``of`` people by ``seed``; or everybody."""

    people: int
    of: int
    seed: int

    @property
    def everybody(self) -> bool:
        return self.people == self.of

    def rows(self) -> NDArray[np.int64]:
        """(people,) their rows, rising; the same ones every time."""
        if self.everybody:
            return np.arange(self.of)
        return np.sort(np.random.default_rng(self.seed).choice(self.of, self.people, replace=False))

    def __str__(self) -> str:
        if self.everybody:
            return f"all {self.of:,} people"
        return f"{self.people:,} of {self.of:,} people, drawn at random (seed {self.seed})"


def read_drawn(bundle: Path) -> Drawn | None:
    """Of whom the people of a bundle are a sample, by the word of whoever wrote it; None where it does not say."""
    found = json.loads((bundle / "manifest.json").read_bytes()).get("drawn")
    values = [found.get(name) for name in ("people", "of", "seed")] if isinstance(found, dict) else [None]
    return Drawn(*values) if all(type(value) is int for value in values) else None


def draw(of: int, most: int | None, seed: int = 0) -> Drawn:
    """At most so many people; everybody if None."""
    return Drawn(of if most is None else min(most, of), of, seed)


NOTHING_BETWEEN = b'{"kind":"network","factors":[]}'
"""The encoder before a model that reads encoded people itself."""


def encoder_bytes(function: Function, model: Model | None) -> bytes:
    """An encoder as a bundle holds it before this model.

    The identity is no step that a machine takes, so a model on raw columns has nothing before it. Written as a matrix,
    it would cost the checker most of its time.
    """
    raw = isinstance(function, Network) and function.is_identity
    return NOTHING_BETWEEN if raw and model is not None else function.to_bytes()


def readable(model: bytes) -> bytes:
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
