"""Figures for notebooks: they show themselves."""

from __future__ import annotations

import io

import pytest

from lcifr.display.figures import new_figure


def test_a_figure_is_a_picture_in_a_notebook_that_never_imported_pyplot() -> None:
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    figure = new_figure()
    figure.add_subplot().plot([0, 1], [1, 0])
    shown = image.open(io.BytesIO(figure._repr_png_()))
    assert shown.format == "PNG"
    assert len(shown.convert("L").getcolors()) > 1  # something is drawn on it
