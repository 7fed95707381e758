"""Pictures of shares: bars of the right size, whatever the names are."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest

from lcifr.display.canvas import WIDTH, Picture
from lcifr.display.charts import ShareGrid, Shares, ShareStrip, ValueParts, grid_chart, strip_chart
from lcifr.display.html import svg_file

HALF: Shares = {"proved": 0.5, "open": 0.25, "violating": 0.25}
ALL: Shares = {"proved": 1.0, "open": 0.0, "violating": 0.0}


def bars(picture: Picture) -> list[dict[str, str]]:
    drawn = fromstring(svg_file(picture, description="d", key="k"))
    return [dict(one.attrib) for one in drawn.iter() if one.tag.endswith("}rect")]


def test_a_strip_is_as_high_everywhere_and_divided_by_share():
    strip = ShareStrip(ValueParts("age", "years", ("0", "1"), (0.0, 1.0, 2.0)), (HALF, ALL))
    drawn = bars(strip_chart(strip))
    kinds = {one["class"]: float(one["height"]) for one in drawn if float(one["x"]) < WIDTH / 2}
    assert kinds["bar certified"] == pytest.approx(2 * kinds["bar counterexample"], abs=0.2)
    assert kinds["bar undecided"] == pytest.approx(kinds["bar counterexample"], abs=0.2)
    whole = [float(one["height"]) for one in drawn if float(one["x"]) > WIDTH / 2]
    assert whole == pytest.approx([sum(kinds.values())], abs=0.3)


def test_a_grid_has_a_divided_rectangle_for_each_part_and_escapes_names():
    names = ValueParts("sex<script>", "", ("female & more", "a very long category that has no room"))
    grid = ShareGrid(ValueParts("age", "", ("0", "1", "2"), (0.0, 1.0, 2.0, 3.0)), names, ((HALF, ALL, ALL),) * 2)
    chart = grid_chart(grid)
    drawn = bars(chart)
    assert len(drawn) == 2 * (3 + 1 + 1)
    assert all(float(one["x"]) + float(one["width"]) <= WIDTH for one in drawn)
    assert "<script>" not in svg_file(chart, description="d", key="k")


def test_a_part_in_which_nobody_can_be_is_empty():
    nobody: Shares = {"proved": 0.0, "open": 0.0, "violating": 0.0}
    strip = ShareStrip(ValueParts("age", "", ("0", "1"), (0.0, 1.0, 2.0)), (nobody, ALL))
    assert len(bars(strip_chart(strip))) == 1
