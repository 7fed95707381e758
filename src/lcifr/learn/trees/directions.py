"""Directions in which scores are bad for a person: what a worst case maximises, by the kind of target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lcifr.models.rule import Kind
from lcifr.regions.region import FloatArray

KINDS = {Kind.SIGN: 0, Kind.NUMBER: 1, Kind.CLASS: 2}
"""How compiled functions name a kind."""


@dataclass(frozen=True)
class Directions:
    """Linear functions of the scores that must stay small; each person has some of them, in *slots*.

    =======  ===================  =========================  ==========================================
    kind     directions           slots of a person          loss of the values v
    =======  ===================  =========================  ==========================================
    sign     +score, −score       the one against the label  softplus(v)
    number   +score, −score       both                       ½ max(v₀ − y, v₁ + y)²
    class    score_k − score_l    all k, with l the label    log Σ exp v, the label's own being 0
    =======  ===================  =========================  ==========================================
    """

    kind: Kind
    outputs: int

    @property
    def matrix(self) -> FloatArray:
        """(directions, outputs)."""
        if self.kind is not Kind.CLASS:
            return np.array([[1.0], [-1.0]])
        unit = np.eye(self.outputs)
        return np.asarray((unit[:, None] - unit[None]).reshape(-1, self.outputs))

    def slots(self, label: FloatArray) -> NDArray[np.int32]:
        """(n, slots) the directions of people with these labels (n,)."""
        if self.kind is Kind.SIGN:
            return label.astype(np.int32)[:, None]
        if self.kind is Kind.NUMBER:
            return np.tile(np.array([0, 1], np.int32), (len(label), 1))
        return np.arange(self.outputs, dtype=np.int32) * self.outputs + label.astype(np.int32)[:, None]

    def start(self, label: FloatArray, weight: FloatArray) -> FloatArray:
        """(outputs,) the best scores that are the same for everybody."""
        if self.kind is Kind.NUMBER:
            return np.array([np.average(label, weights=weight)])
        shares = np.bincount(label.astype(np.int64), weights=weight, minlength=max(2, self.outputs)) / weight.sum()
        logs = np.log(np.maximum(shares, 1e-6))  # a class may be missing from what is learned from
        return np.asarray(logs - logs.mean() if self.kind is Kind.CLASS else logs[1:] - logs[:1])
