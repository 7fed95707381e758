"""Regions stretched about the people they belong to: training against more, or less, than what is promised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lcifr.regions.region import Cell, FloatArray, Region


def stretch_region(region: Region, x: FloatArray, factor: float) -> Region:
    """Every interval ``factor`` times as long, seen from the person; categories and linear rows stay.

    Seen from the person means from the own value where the interval holds it, else from the end nearest to it.

    Parameters
    ----------
    x : (people, features) the people, encoded.
    """
    if factor == 1.0:
        return region
    return replace(region, cells=tuple(_stretch(cell, x, factor) for cell in region.cells), origin=None)


def _stretch(cell: Cell, x: FloatArray, factor: float) -> Cell:
    center = np.clip(x[:, cell.numeric], cell.lower, cell.upper)
    return replace(cell, lower=center - factor * (center - cell.lower), upper=center + factor * (cell.upper - center))
