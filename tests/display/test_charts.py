"""Charts: ticks below every axis, names beside every dot."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lcifr.display.canvas import to_html
from lcifr.display.charts import Dot, frontier_chart, histogram, histogram_chart


@pytest.mark.parametrize("scale", [1e-7, 1.0, 123_456.0, 1e9])
def test_a_chart_always_has_numbers_below_it(scale):
    values = np.linspace(-1, 2, 50) * scale
    shown = histogram(values, {"certified": values > 0, "undecided": values <= 0}, around_zero=True)
    drawn = to_html(histogram_chart(shown, title="t", description="d", axis="a", key="k"))
    assert len(re.findall('class="tick"', drawn)) >= 4


def test_models_that_lie_together_keep_their_names():
    dots = [Dot(f"γ = {k}", "tried", 0.4 + 0.005 * k, 0.5 + 0.001 * k) for k in range(5)]
    drawn = to_html(frontier_chart(dots, 0.3, title="t", description="d", key="k"))
    assert len(re.findall('class="name"', drawn)) == 5
