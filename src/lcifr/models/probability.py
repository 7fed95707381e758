"""Thresholds on probabilities as intervals of margins: logistic(margin) ≥ threshold, as runtimes compute it.

A runtime rounds its sigmoid: in float32 that of 1.2e-7 is not above 0.5. How far it may be off is an assumption, named
here; inside the interval that follows from it the decision is unknown, outside it is certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np

from lcifr.errors import NetworkError

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
