"""Closed-form bounds of linear models on balls and boxes, rounded to the safe side."""

from __future__ import annotations

import numpy as np

from lcifr.certification.query import FloatArray, Query
from lcifr.models.network import FLOOR, Network, gamma


def _coefficients(model: Network, query: Query) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """direction · (W z + b) as c · z + d: c (people, k, width), d (people, k), and |direction|·|W|, |direction|·|b|.

    The sizes come with FLOOR, which covers what underflows in c and d.
    """
    layer = model.layers[0]
    size = np.abs(query.directions)
    return (
        query.directions @ layer.weight,
        query.directions @ layer.bias,
        size @ np.abs(layer.weight) + FLOOR,
        size @ np.abs(layer.bias) + FLOOR,
    )


def upper_on_box(model: Network, query: Query, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """(people, k) a number that direction · model(z) does not exceed on the box, in exact arithmetic.

    The best corner by sign. Each of products and sums errs by a factor within 1 ± u, and no partial result passes
    through more than outputs + width + 4 of them, so γ of that many, times the sum of absolute values, covers all.
    """
    c, d, size, size_bias = _coefficients(model, query)
    best = np.maximum(c * lower[:, None], c * upper[:, None]).sum(-1) + d
    far = np.maximum(np.abs(lower), np.abs(upper))[:, None]
    slack = gamma(model.outputs + model.inputs + 16) * ((size * far).sum(-1) + size_bias)
    return np.asarray(np.nextafter(best + 2 * slack, np.inf))


def largest_radius(model: Network, query: Query, latent: FloatArray) -> FloatArray:
    """(people,) the largest ball around z on which every direction surely stays below its limit; 0 where none does."""
    c, d, size, size_bias = _coefficients(model, query)
    many, sides = model.outputs + model.inputs + 16, 1 if query.at is None else 2  # opposite ones grow together
    slack = 2 * sides * gamma(many) * ((size * np.abs(latent)[:, None]).sum(-1) + size_bias + np.abs(query.limit))
    room = query.margin((c * latent[:, None]).sum(-1) + d) - slack
    norm = sides * (size.sum(-1) * gamma(many) * 2 + np.abs(c).sum(-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(norm > 0, room * (1 - 4 * gamma(many)) / norm, np.where(room > 0, np.inf, 0.0))
    return np.asarray(np.maximum(found, 0.0).min(1))
