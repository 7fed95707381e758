"""Labels keep out of the way of dots and of each other."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lcifr.display.canvas import LabelBox, fit_row, place_labels, width_of

DOTS = st.lists(st.tuples(st.floats(0, 400), st.floats(0, 200)), min_size=1, max_size=12)


@given(DOTS, st.lists(st.sampled_from(["plain", "unaware", "γ = 1", "γ = 0.0001"]), min_size=12, max_size=12))
def test_labels_cover_neither_dots_nor_each_other(dots, texts):
    paper = LabelBox(0, 0, 440, 260)
    boxes = place_labels(dots, texts[: len(dots)], paper, 6)
    placed = [box for box in boxes if box is not None]
    for place, box in enumerate(placed):
        assert box.inside(paper)
        assert not any(box.overlaps(other) for other in placed[:place])
        assert not any(box.overlaps(LabelBox(x - 6, y - 6, x + 6, y + 6)) for x, y in dots)
    assert placed or len(dots) > 1


@given(st.lists(st.floats(0, 440), min_size=1, max_size=6).map(sorted), st.integers(1, 12))
def test_a_row_of_numbers_stays_inside_and_apart(centres, length):
    text = "9" * length
    moved = fit_row(centres, [text] * len(centres), 440)
    if moved is not None:
        assert all(width_of(text) / 2 <= x <= 440 - width_of(text) / 2 for x in moved)
        assert all(right - left >= width_of(text) for left, right in pairwise(moved))
