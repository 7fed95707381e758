"""Numbers and charts as people read them: shares add up, signs are not mixed, labels keep out of each other's way."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcifr.drawing.charts import Dot, frontier_chart, histogram_chart
from lcifr.drawing.histogram import histogram
from lcifr.drawing.labels import Box, fit_row, place_labels, width_of
from lcifr.drawing.markup import to_html
from lcifr.drawing.text import format_value, percent, percents, short, split_tenths

COUNTS = st.lists(st.integers(0, 10_000), min_size=1, max_size=8).filter(any)
MARGINS = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=300)


@given(COUNTS)
def test_the_parts_of_a_whole_add_up_and_none_is_far_from_itself(parts):
    tenths = split_tenths(parts)
    assert sum(tenths) == 1000
    for tenth, part in zip(tenths, parts, strict=True):
        assert abs(tenth - 1000 * part / sum(parts)) < 1


@given(COUNTS)
def test_what_is_printed_says_neither_all_nor_none_where_that_is_false(parts):
    for text, part in zip(percents(parts), parts, strict=True):
        assert (text == "0.0 %") == (part == 0)
        assert (text == "100.0 %") == (part == sum(parts))


@given(COUNTS, st.integers(1, 1000))
def test_parts_of_a_part_add_up_to_it(parts, tenths):
    assert sum(split_tenths(parts, tenths)) == tenths


def test_thirds_add_up_to_a_hundred():
    assert percents([1, 1, 1]) == ["33.3 %", "33.3 %", "33.4 %"]
    assert [percent(1 / 3)] * 3 == ["33.3 %"] * 3  # which do not


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


def test_thousands_are_written_alike_wherever_they_stand():
    assert [format_value(1662), format_value(1662.0), format_value(1662.5), short(1662)] == [
        "1,662",
        "1,662",
        "1,662.5",
        "1,662",
    ]
    assert [short(12345.6), short(-20000), short(1e5, 6), short(0.00012)] == ["12,350", "−20,000", "100,000", "0.00012"]
    assert format_value(1984, year=True) == "1984"


DOTS = st.lists(st.tuples(st.floats(0, 400), st.floats(0, 200)), min_size=1, max_size=12)


@given(DOTS, st.lists(st.sampled_from(["plain", "unaware", "γ = 1", "γ = 0.0001"]), min_size=12, max_size=12))
def test_labels_cover_neither_dots_nor_each_other(dots, texts):
    paper = Box(0, 0, 440, 260)
    boxes = place_labels(dots, texts[: len(dots)], paper, 6)
    placed = [box for box in boxes if box is not None]
    for place, box in enumerate(placed):
        assert box.inside(paper)
        assert not any(box.overlaps(other) for other in placed[:place])
        assert not any(box.overlaps(Box(x - 6, y - 6, x + 6, y + 6)) for x, y in dots)
    assert placed or len(dots) > 1


@given(st.lists(st.floats(0, 440), min_size=1, max_size=6).map(sorted), st.integers(1, 12))
def test_a_row_of_numbers_stays_inside_and_apart(centres, length):
    text = "9" * length
    moved = fit_row(centres, [text] * len(centres), 440)
    if moved is not None:
        assert all(width_of(text) / 2 <= x <= 440 - width_of(text) / 2 for x in moved)
        assert all(right - left >= width_of(text) for left, right in pairwise(moved))


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
