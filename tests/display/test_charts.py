"""Charts: ticks below every axis, names beside every dot."""

from __future__ import annotations

import numpy as np
import pytest

from lcifr.display.canvas import Picture
from lcifr.display.charts import Dot, frontier_chart, histogram, histogram_chart


def _count(picture: Picture, kind: str) -> int:
    return sum(shape.values[-1] == kind for shape in picture.shapes)


@pytest.mark.parametrize("scale", [1e-7, 1.0, 123_456.0, 1e9])
def test_a_chart_always_has_numbers_below_it(scale):
    values = np.linspace(-1, 2, 50) * scale
    shown = histogram(values, {"certified": values > 0, "undecided": values <= 0}, around_zero=True)
    assert shown is not None
    assert _count(histogram_chart(shown, title="t", axis="a"), "tick") >= 4


def test_models_that_lie_together_keep_their_names():
    dots = [Dot(f"γ = {k}", "tried", 0.4 + 0.005 * k, 0.5 + 0.001 * k) for k in range(5)]
    assert _count(frontier_chart(dots, 0.3, title="t"), "name") == 5
