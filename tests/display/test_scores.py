"""Charts and sentences of scores, contributions and profiles: what they say is what the numbers say."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest

from lcifr.display.canvas import SHAPES, WIDTH, compact
from lcifr.display.charts import Histogram
from lcifr.display.html import svg_file
from lcifr.display.score_charts import person_mark, profile_chart, score_chart
from lcifr.display.scores import (
    BAR,
    AttributeScore,
    Contribution,
    Freedom,
    MarkedScore,
    PersonScore,
    Profile,
    crossings,
    moves,
    person_sentence,
    place_bars,
    profile_sentence,
    range_text,
    score_rows,
)

AGES = AttributeScore(
    "age", "years", (0.5, 2.5, 3.5, 6.5), (), ((0.5, -0.25, 1.0),), (), Histogram((0.5, 3.5, 6.5), {"people": (4, 5)}),
    (), 1.25,
)  # fmt: skip
TOWNS = AttributeScore(
    "town", "", (), tuple(f"town {k}" for k in range(20)), (tuple(range(20)),), (), None, (1,) * 20, 19.0
)
STEPS = Profile(
    "age", "years", (20.0, 24.0, 26.0, 30.0), (), (1.0, -0.5, -1.0), (0.0,), 21.0, 28.0, 1.0, -1.0, "output"
)


def test_a_table_of_a_score_says_what_is_added_between_the_edges():
    assert score_rows(AGES) == (("0.5 to 3.5", "4", "−0.25 to +0.5"), ("3.5 to 6.5", "5", "+1"))
    assert [row[0] for row in score_rows(TOWNS)] == list(TOWNS.categories)


def test_marks_lie_in_the_chart_whatever_the_value():
    for own in (-1e9, 0.5, 3.0, 1e9):
        mark = person_mark(MarkedScore(AGES, own, Freedom(((own - 1, own + 1),))))
        assert mark.own is not None
        assert 0 <= mark.own[0] == mark.own[2] <= WIDTH
        ((x, _, width, _),) = mark.similar
        assert 0 <= x <= x + width <= WIDTH + 1
    mark = person_mark(MarkedScore(TOWNS, "town 3", Freedom(values=("town 1", "town 3", "town 19"))))
    assert len(mark.similar) == 2  # the last of twenty has no row
    assert person_mark(MarkedScore(AGES)).own is None


@pytest.mark.parametrize("score", [AGES, TOWNS], ids=["number", "category"])
def test_a_chart_survives_the_way_to_the_pages_script(score):
    picture = score_chart(MarkedScore(score))
    drawn = fromstring(svg_file(picture, description="d", key="k"))
    height, shapes = compact(picture)
    again = [(one.tag.rpartition("}")[2], one) for one in drawn.iter() if one.tag.rpartition("}")[2] in SHAPES]
    assert len(shapes) == len(again)
    for (kind, *values), (tag, one) in zip(shapes, again, strict=True):
        names = list(SHAPES.values())[kind]
        assert list(SHAPES)[kind] == tag
        assert [str(value) for value in values[: len(names)]] == [
            one.get(name, "").removesuffix(".0") for name in names
        ]
    assert str(height) == drawn.attrib["viewBox"].split()[-1]


def test_a_crossing_is_said_where_it_is():
    assert crossings(STEPS, 0.0) == [24.0]
    assert "at 24 years" in profile_sentence(STEPS)
    line = Profile("age", "", (20.0, 25.0, 30.0), (), (1.0, 0.5, -0.5), (0.0,), 20.0, 30.0, 1.0, -0.5, "output")
    assert crossings(line, 0.0) == [27.5]
    beyond = Profile("age", "", (20.0, 24.0, 30.0), (), (1.0, -1.0), (0.0,), 25.0, 28.0, -1.0, -1.0, "output")
    assert crossings(beyond, 0.0) == []
    assert "same side" in profile_sentence(beyond)
    town = Profile("town", "", (), ("a", "b"), (1.0, -1.0), (4e-13,), "a", "b", 1.0, -1.0, "output")
    assert "on the other side of 0" in profile_sentence(town)
    assert profile_chart(town).shapes


def test_years_are_written_without_a_comma():
    born = Profile("born", "", (1980.0, 1985.0, 1990.0), (), (1.0, -1.0), (0.0,), 1981.0, 1989.0, 1.0, -1.0, "output")
    assert "1981" in profile_sentence(born, year=True)
    assert "1,98" not in profile_sentence(born, year=True)


def test_bars_are_on_one_scale_with_zero_inside():
    listed = (Contribution("a", -2.0, -3.0, 0.5), Contribution("b", 1.0, 1.0, 1.0), Contribution("c", 0.0, 0.0, 0.0))
    score = PersonScore(0.1, -0.9, -2.0, 1.0, "yes", "no", 0.0, listed)
    first, second, third = place_bars(score)
    assert first.zero == second.zero == third.zero
    assert first.bar[0] + first.bar[1] == first.zero
    assert second.bar[0] == second.zero
    assert first.bar[1] == pytest.approx(2 * second.bar[1], abs=2)
    assert all(0 <= one.bar[0] <= one.bar[0] + one.bar[1] <= BAR for one in (first, second, third))
    assert first.range is not None
    assert second.range is None
    assert (moves(listed[0]), range_text(listed[1])) == (True, "stays")
    assert "between −2 and 1" in person_sentence(score)
