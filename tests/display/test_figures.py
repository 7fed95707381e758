"""Figures for notebooks: they show themselves."""

from __future__ import annotations

import io

import pytest

from lcifr.display.canvas import SHAPES, Picture, circle, line, polyline, rectangle, text
from lcifr.display.figures import draw, new_figure


def test_a_figure_is_a_picture_in_a_notebook_that_never_imported_pyplot() -> None:
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    figure = new_figure()
    figure.add_subplot().plot([0, 1], [1, 0])
    shown = image.open(io.BytesIO(figure._repr_png_()))
    assert shown.format == "PNG"
    assert len(shown.convert("L").getcolors()) > 1  # something is drawn on it


def test_every_shape_is_drawn_where_svg_draws_it_and_in_the_colour_of_the_style_sheet() -> None:
    colors = pytest.importorskip("matplotlib.colors")
    shapes = (
        line(10, 20, 30, 40, "axis"),
        rectangle(50, 60, 70, 80, "bar certified", "0.50"),
        circle(90, 100, 5, "dot counterexample"),
        text(110, 120, "$x$ <b>", "end", "name"),
        polyline([(1, 2), (3, 4), (5, 6)], "path o1"),
    )
    assert {shape.tag for shape in shapes} == set(SHAPES)
    (axes,) = draw([Picture("a title", shapes)]).axes
    assert axes.get_xlim() == (0, 440)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # down, as in SVG
    (straight, path), (bar, dot), (title, words) = axes.lines, axes.patches, axes.texts
    assert straight.get_xydata().tolist() == [[10, 20], [30, 40]]
    assert path.get_xydata().tolist() == [[1, 2], [3, 4], [5, 6]]
    assert (*bar.get_xy(), bar.get_width(), bar.get_height()) == (50, 60, 70, 80)
    assert (dot.center, dot.radius) == ((90, 100), 5)
    assert (title.get_text(), words.get_text(), words.get_position()) == ("a title", "$x$ <b>", (110, 120))
    assert colors.to_hex(bar.get_facecolor()) == "#0f5f8c"
    assert colors.to_hex(dot.get_facecolor()) == colors.to_hex(path.get_color()) == "#b3261e"
