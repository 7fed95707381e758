"""Bands of margins: outside, every runtime whose sigmoid is as exact as assumed decides alike."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from lcifr.errors import NetworkError
from lcifr.models.rule import ASSUMED_ROUNDOFFS, behind_line, probability_band

UNIT = 2.0**-53
THRESHOLDS = st.floats(1e-6, 1 - 1e-6)
laws = settings(deadline=None, max_examples=200)


def logistic(margin: float) -> Decimal:
    return 1 / (1 + (-Decimal(margin)).exp())


@laws
@given(THRESHOLDS, st.booleans())
def test_outside_the_band_the_worst_runtime_decides_right(threshold: float, second: bool):
    band = probability_band(threshold, UNIT, "model", second=second)
    with localcontext() as context:
        context.prec = 80
        off, level = ASSUMED_ROUNDOFFS * Decimal(UNIT), Decimal(threshold)
        for margin, above in ((band.lower, False), (band.upper, True)):
            p = logistic(margin)
            if second:
                assert p * (1 - off) >= level if above else p * (1 + off) <= level
            else:  # 1 − p from p, rounded once more
                first = 1 - p
                assert first + off + Decimal(UNIT) <= level if above else first - off - Decimal(UNIT) >= level
    assert band.lower < band.upper < band.lower + 1e-7


@laws
@given(THRESHOLDS)
def test_scipy_decides_as_the_band_says_one_float_beside_it(threshold: float):
    band = probability_band(threshold, UNIT, "model")
    below = band.lower - np.arange(50) * np.abs(np.spacing(band.lower))
    above = band.upper + np.arange(50) * np.abs(np.spacing(band.upper))
    assert (expit(below) < threshold).all()
    assert (expit(above) > threshold).all()


def test_float32_cannot_tell_a_tiny_margin_from_a_tie():
    band = probability_band(0.5, 2.0**-24, "model")
    assert not expit(np.float32(2e-8)) > 0.5
    assert band.lower < 0 < 2e-8 < band.upper


@laws
@given(THRESHOLDS, st.floats(1e-3, 50), st.floats(-50, 50))
def test_calibration_takes_the_band_back(threshold: float, slope: float, shift: float):
    inner = probability_band(threshold, UNIT, "model")
    band = behind_line(inner, slope, shift, UNIT)
    outside = (band.lower, inner.lower, -1), (band.upper, inner.upper, 1)
    for score, end, sign in outside:
        computed = slope * score + shift  # two roundings
        assert sign * computed >= sign * end


@pytest.mark.parametrize("threshold", [0.0, 1.0, 1 - 2**-53, -1.0])
def test_thresholds_that_only_rounding_decides_are_refused(threshold: float):
    with pytest.raises(NetworkError, match="only rounding decides"):
        probability_band(threshold, UNIT, "model")
