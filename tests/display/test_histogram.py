"""Histograms: zero is an edge, and no bar holds both signs."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from lcifr.display.charts import histogram

MARGINS = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=300)


@example([0.0], 5e-324)
@example([0.0], -5e-324)
@given(MARGINS, st.floats(-1e6, 1e6))
def test_zero_is_an_edge_of_every_histogram_of_margins_and_no_bar_holds_both_signs(values, shift):
    margins = np.array(values) + shift
    shown = histogram(margins, {"certified": margins > 0, "undecided": margins <= 0}, around_zero=True)
    assert 0.0 in shown.edges
    zero = shown.edges.index(0.0)
    assert sum(shown.counts["certified"][:zero]) == 0
    assert sum(shown.counts["undecided"][zero:]) == 0
    assert sum(map(sum, shown.counts.values())) == len(margins)


def test_one_counterexample_among_a_thousand_certificates_has_a_bar_left_of_zero():
    margins = np.append(np.linspace(2.0, 3.0, 1000), -1e-6)
    shown = histogram(margins, {"certified": margins > 0, "counterexample": margins < 0}, around_zero=True)
    assert shown.counts["counterexample"][: shown.edges.index(0.0)] == (1,)
