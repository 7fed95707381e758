"""Numbers as people read them: shares add up, thousands are written alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lcifr.display.text import format_value, percent, percents, short, split_tenths

COUNTS = st.lists(st.integers(0, 10_000), min_size=1, max_size=8).filter(any)


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


def test_thousands_are_written_alike_wherever_they_stand():
    assert [format_value(1662), format_value(1662.0), format_value(1662.5), short(1662)] == [
        "1,662",
        "1,662",
        "1,662.5",
        "1,662",
    ]
    assert [short(12345.6), short(-20000), short(1e5, 6), short(0.00012)] == ["12,350", "−20,000", "100,000", "0.00012"]
    assert format_value(1984, year=True) == "1984"
