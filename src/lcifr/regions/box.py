"""Boxes in the data's own units, with outward rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lcifr.data import Encoding
from lcifr.semantics.holds import Floats


@dataclass
class Box:
    """Bounds of the numeric attributes in the data's units, narrowed step by step.

    Both arrays are (people, numerics), laid out by column, because one attribute is narrowed at a time.
    """

    encoding: Encoding
    lower: Floats
    upper: Floats

    def narrow(self, j: int, side: str, raw: Floats) -> None:
        if side == "lower":
            np.maximum(self.lower[:, j], raw, out=self.lower[:, j])
        else:
            np.minimum(self.upper[:, j], raw, out=self.upper[:, j])

    def encoded(self) -> tuple[Floats, Floats]:
        """The ends as features. Encoding is monotone in floats, so the tightest raw end is the tightest encoded one."""
        return self.encoding.scale(self.lower), self.encoding.scale(self.upper)


def outward(value: Floats, error: Floats, side: str) -> Floats:
    """A float beyond every float whose decimal is on the right side of ``value ± error``.

    A float and the decimal it prints differ by less than one unit in the last place, so two steps outward from the end
    of the error interval (one for its own rounding, one for the decimal) are enough. A step is at most 2u of the end's
    size, or 2⁻¹⁰⁷⁴. Every error here is at least 10u of the value and the smallest normal number, so once more the
    error is two steps and the rounding of this very line.
    """
    return value - 2 * error if side == "lower" else value + 2 * error
