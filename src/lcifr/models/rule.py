"""Rule: how outputs become a decision, and when two decisions are the same (the paper's μ). Defined here alone.

=========  ===========================  =======================================  ==================================
kind       outputs                      decision                                 the same decision
=========  ===========================  =======================================  ==================================
sign       one                          class 1 where the output is > 0;         the same class
                                        0 decides for class 0; 0 may be a band
                                        in which it is unknown
class      one for each of the classes  the class of the largest output;         classes of the same group
                                        the first of several that are largest
number     the numbers themselves       the outputs                              less than the tolerance apart, each
=========  ===========================  =======================================  ==================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.errors import LcifrError, NetworkError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Kind(StrEnum):
    """What the outputs are."""

    SIGN = "sign"
    """One output, above 0 for the second of two classes."""
    CLASS = "class"
    """One output for each class, the largest decides."""
    NUMBER = "number"
    """The outputs are the decision."""


@dataclass(frozen=True)
class Rule:
    """Outputs to a decision.

    Parameters
    ----------
    kind : see the table above.
    outputs : how many the function has.
    groups : of ``class``: the classes that count as one decision; each class is in one group.
    tolerance : of ``number``: how far apart counts as another decision, in units of the output; None until it is
        chosen: nothing can be certified before.
    band : of ``sign``: class 0 up to the first, class 1 from the second on, and between them undecided. What is
        certified or refuted is outside. A threshold on a probability is such a band (:mod:`lcifr.models.rule`).
        Of ``class``: a lead up to the second may be none, because probabilities are rounded.
    log_odds : of ``sign``: slope and shift, where the model's probability of the second class is the logistic function
        of slope · output + shift; None where it is not, or where that is not known. No decision depends on it.
    """

    kind: Kind
    outputs: int
    groups: tuple[tuple[int, ...], ...] = ()
    tolerance: float | None = None
    band: tuple[float, float] = (0.0, 0.0)
    log_odds: tuple[float, float] | None = None

    def least_probability(self, second: NDArray[np.bool_], margin: FloatArray) -> FloatArray:
        """(people,) at least this is the probability of the decided class, for outputs so far on its side of the band.

        Rounded down; NaN where the probability is not known.

        Parameters
        ----------
        second : (people,) whether the second class is decided. margin : (people,) proved.
        """
        if self.log_odds is None:
            return np.full(len(margin), np.nan)
        slope, shift = self.log_odds
        ends = np.where(second, self.band[1] + margin, self.band[0] - margin)
        odds = (slope * ends + shift) * np.where(second, 1.0, -1.0)
        odds -= 8 * np.finfo(np.float64).eps * (abs(slope) * np.abs(ends) + abs(shift))
        with np.errstate(over="ignore"):
            return np.asarray((1.0 - 8 * np.finfo(np.float64).eps) / (1.0 + np.exp(-odds)))

    @classmethod
    def of(cls, outputs: int, *, groups: Sequence[Sequence[int]] | None = None, tolerance: float | None = None) -> Rule:
        """By the number of outputs; a tolerance makes it a regression, groups join classes."""
        if tolerance is not None:
            if groups is not None or not (np.isfinite(tolerance) and tolerance >= 0):
                raise LcifrError("a tolerance is a number that is not negative, without groups of classes")
            return cls(Kind.NUMBER, outputs, (), float(tolerance))
        if outputs == 1:
            if groups is not None:
                raise LcifrError("two classes have no groups", fix="leave groups out")
            return cls(Kind.SIGN, 1)
        named = tuple(tuple(int(c) for c in group) for group in groups or ())
        listed = [c for group in named for c in group]
        if len(set(listed)) != len(listed) or not set(listed) <= set(range(outputs)):
            raise LcifrError(f"groups {named} name a class twice, or one that is not in 0 … {outputs - 1}")
        alone = tuple((c,) for c in range(outputs) if c not in listed)
        return cls(Kind.CLASS, outputs, tuple(sorted(named + alone)))

    @property
    def classes(self) -> int:
        """How many classes there are; none for numbers."""
        return {Kind.SIGN: 2, Kind.CLASS: self.outputs, Kind.NUMBER: 0}[self.kind]

    @property
    def group_of(self) -> IntArray:
        """(classes,) the group of each class."""
        found = np.arange(self.classes)
        for place, group in enumerate(self.groups):
            found[list(group)] = place
        return found

    def decide(self, values: FloatArray) -> NDArray[Any]:
        """(people, outputs) to (people,) classes by their numbers; or the number itself, (people, outputs) if several.

        At a tie it decides as the table says. No certificate rests on that: a certificate needs a strict margin.
        """
        if self.kind is Kind.NUMBER:
            return values[:, 0] if self.outputs == 1 else values
        if self.kind is Kind.SIGN:
            return np.asarray(values[:, 0] > self.middle, dtype=np.int64)
        return np.asarray(values.argmax(1), dtype=np.int64)

    @property
    def middle(self) -> float:
        """The middle of the band: what a plain decision compares with."""
        return self.band[0] / 2 + self.band[1] / 2

    @property
    def known_tolerance(self) -> float:
        """The tolerance of a rule about numbers; an error where none was given."""
        if self.tolerance is None:
            raise LcifrError("a regression needs a tolerance", fix="pass tolerance=… in the units of the target")
        return self.tolerance


# Thresholds on probabilities as intervals of margins: logistic(margin) ≥ threshold, as runtimes compute it.
#
# A runtime rounds its sigmoid: in float32 that of 1.2e-7 is not above 0.5. How far it may be off is an assumption,
# named here; inside the interval that follows from it the decision is unknown, outside it is certain.

ASSUMED_ROUNDOFFS = 8
"""A runtime's sigmoid is assumed to be off by at most so many units of roundoff, relative to its exact value."""
DIGITS = 60
SINGLE_UNIT = 2.0**-24
"""The unit of roundoff of float32."""


@dataclass(frozen=True)
class MarginBand:
    """Margins at or below ``lower`` are surely below the threshold, those at or above ``upper`` surely not."""

    lower: float
    upper: float


def probability_band(
    threshold: float, roundoff: float, where: str, *, second: bool = True, absolute: bool = False
) -> MarginBand:
    """The margins whose probability may be on either side of a threshold, as a runtime computes it.

    A runtime that computes in float32 may round the threshold to it before it compares: both are in the band.

    Parameters
    ----------
    second : whether the threshold is one of p, the logistic function of the margin; else it is one of 1 − p, computed
        from p. Margins are those of p in either case.
    absolute : whether p is off by so many units of roundoff of 1, and not of p itself: onnxruntime's sigmoid is exact
        to a few units of 1, and of small probabilities not relatively.
    """
    with localcontext() as context:
        context.prec = DIGITS
        rounded = threshold if roundoff < SINGLE_UNIT else float(np.float32(threshold))
        least, most = Decimal(min(threshold, rounded)), Decimal(max(threshold, rounded))
        off = ASSUMED_ROUNDOFFS * Decimal(roundoff)
        if second and absolute:
            low, high = least - off, most + off
        elif second:  # p is off by a factor within 1 ± off
            low, high = least / (1 + off), most / (1 - off)
        else:  # 1 − p is off by off · p, and by its own rounding
            low, high = 1 - most - 2 * off, 1 - least + 2 * off
        if low <= 0 or high >= 1:
            raise NetworkError(
                f"{where}: on which side of a probability threshold of {threshold:g} people are, only rounding decides",
                fix="use a threshold between 0 and 1, or one of the decision function",
            )
        return MarginBand(_down((low / (1 - low)).ln()), _up((high / (1 - high)).ln()))


def behind_line(band: MarginBand, slope: float, shift: float, roundoff: float) -> MarginBand:
    """The band of f where ``band`` is that of slope · f + shift, computed with two rounded operations; slope > 0."""
    with localcontext() as context:
        context.prec = DIGITS
        by, plus = Decimal(slope), Decimal(shift)
        ends = []
        for end, sign in ((band.lower, -1), (band.upper, 1)):
            margin = Decimal(end)
            room = 4 * Decimal(roundoff) * (abs(margin) + 2 * abs(plus)) + Decimal(2) ** -1000
            ends.append((margin + sign * room - plus) / by)
        return MarginBand(_down(ends[0]), _up(ends[1]))


def _down(value: Decimal) -> float:
    return math.nextafter(float(value), -math.inf)


def _up(value: Decimal) -> float:
    return math.nextafter(float(value), math.inf)
