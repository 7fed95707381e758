"""Vectors made of columns by affine maps and ReLU, in any order: the nodes of a dataflow graph.

A graph of affine maps and ReLUs becomes layers one behind the other. What is needed later than in the next layer is
carried: x is relu(x) − relu(−x) behind a ReLU, and itself behind an affine map. No weight is multiplied with another
one, added to another one or rounded: every entry of a layer is a weight of the model, its negative, 1, −1 or 0. Two
affine maps with no ReLU between are two factors of the chain, because a machine rounds between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import NetworkError

FloatArray = NDArray[np.float64]

WIDEST = 2**11
"""Numbers side by side, at most: a file of a few bytes can ask for as many as it likes."""
LARGEST = 2**24
"""Weights of all layers together, zeros included, at most."""


@dataclass(frozen=True, eq=False)
class FlowVector:
    """Some numbers of a person; ``width`` says how many. It is one of the four kinds below."""

    width: int


@dataclass(frozen=True, eq=False)
class LeafVector(FlowVector):
    """Columns that a model is given, in any order; equal ones are one input of the chain."""

    columns: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Term:
    """weight @ vector, weight (outputs, width) float64."""

    weight: FloatArray
    vector: FlowVector


@dataclass(frozen=True, eq=False)
class AffineVector(FlowVector):
    """Σ weight @ vector + bias, computed as one sum of products for each output.

    Parameters
    ----------
    spare : products that a machine may round more often than a sum with so many terms does; see ``affine``.
    """

    terms: tuple[Term, ...]
    bias: FloatArray
    spare: int = 0


@dataclass(frozen=True, eq=False)
class ReluVector(FlowVector):
    """max(vector, 0)."""

    of: FlowVector


@dataclass(frozen=True, eq=False)
class SignedVector(FlowVector):
    """Components of the three kinds above, each as it is or negated, which no machine rounds.

    Parameters
    ----------
    parts : for each component the vector, its place there, and 1 or −1.
    """

    parts: tuple[tuple[FlowVector, int, int], ...]


def leaf(columns: Sequence[Any]) -> LeafVector:
    """Columns as the inputs of what follows."""
    return LeafVector(checked_width(len(columns)), tuple(columns))


def affine(*terms: tuple[ArrayLike, FlowVector], bias: ArrayLike | None = None, spare: int = 0) -> AffineVector:
    """Σ weight @ vector + bias.

    Parameters
    ----------
    spare : the rounding bound of a sum grows with its number of terms. A runtime that rounds a weight a few times more
        (a batch normalisation multiplied into it) is covered by so many terms 0 · 0 more.
    """
    made = tuple(Term(np.asarray(weight, dtype=np.float64), vector) for weight, vector in terms)
    width = made[0].weight.shape[0]
    shift = np.zeros(width) if bias is None else np.asarray(bias, dtype=np.float64)
    if shift.shape != (width,) or any(term.weight.shape != (width, term.vector.width) for term in made):
        raise NetworkError(f"weights {[term.weight.shape for term in made]} and bias {shift.shape} do not fit")
    return AffineVector(checked_width(width), made, shift, spare)


def scaled(vector: FlowVector, factors: ArrayLike, shifts: ArrayLike = 0.0, spare: int = 0) -> AffineVector:
    """factors · vector + shifts, each (width,) or one for all."""
    diagonal = np.diag(np.broadcast_to(np.asarray(factors, dtype=np.float64), (vector.width,)))
    return affine((diagonal, vector), bias=np.broadcast_to(shifts, (vector.width,)), spare=spare)


def relu(vector: FlowVector) -> ReluVector:
    """max(vector, 0)."""
    return ReluVector(vector.width, vector)


def components(vector: FlowVector) -> tuple[tuple[FlowVector, int, int], ...]:
    """Every component as that of a leaf, an affine vector or a ReLU: the vector, the place there, and 1 or −1."""
    return vector.parts if isinstance(vector, SignedVector) else tuple((vector, i, 1) for i in range(vector.width))


def negative(vector: FlowVector) -> SignedVector:
    """−vector, exactly."""
    return SignedVector(vector.width, tuple((base, i, -sign) for base, i, sign in components(vector)))


def chosen(vector: FlowVector, places: Sequence[int]) -> SignedVector:
    """The components at these places."""
    parts = components(vector)
    return SignedVector(checked_width(len(places)), tuple(parts[i] for i in places))


def joined(vectors: Sequence[FlowVector]) -> SignedVector:
    """One behind the other."""
    width = checked_width(sum(vector.width for vector in vectors))
    return SignedVector(width, tuple(part for vector in vectors for part in components(vector)))


def clipped(vector: FlowVector, lower: FloatArray, upper: FloatArray) -> FlowVector:
    """Between ends, each (width,) and perhaps infinite."""
    if not (lower <= upper).all():
        raise NetworkError("a clip leaves no interval: its lower end is above the upper one, or one of them is NaN")
    below, above = np.isfinite(lower), np.isfinite(upper)
    if below.all() and above.all():  # one layer instead of two: lower + relu(x − lower) − relu(x − upper)
        unit = np.eye(vector.width)
        rising = relu(vector) if not lower.any() else relu(scaled(vector, 1.0, -lower))
        return affine((unit, rising), (-unit, relu(scaled(vector, 1.0, -upper))), bias=lower)
    found = at_least(vector, lower) if below.any() else vector
    return negative(at_least(negative(found), -upper)) if above.any() else found


def at_least(vector: FlowVector, lower: FloatArray) -> FlowVector:
    """max(vector, lower) for constants (width,); where one is −∞ the component itself."""
    there = np.isfinite(lower)
    if there.all():
        return relu(vector) if not lower.any() else scaled(relu(scaled(vector, 1.0, -lower)), 1.0, lower)
    places = np.flatnonzero(there)
    part = at_least(chosen(vector, places.tolist()), lower[places])
    order = [int(np.searchsorted(places, i)) + vector.width if there[i] else i for i in range(vector.width)]
    return chosen(joined([vector, part]), order)


def larger(one: FlowVector, other: FlowVector) -> AffineVector:
    """max(one, other), component by component: other + relu(one − other)."""
    unit = np.eye(one.width)
    return affine((unit, other), (unit, relu(affine((unit, one), (-unit, other)))))


def leaky(vector: FlowVector, slopes: ArrayLike) -> AffineVector:
    """x where it is positive, slope · x where it is negative."""
    slope = np.broadcast_to(np.asarray(slopes, dtype=np.float64), (vector.width,))
    return affine((np.eye(vector.width), relu(vector)), (np.diag(-slope), relu(negative(vector))))


def checked_width(width: int) -> int:
    """So many numbers side by side, or an error."""
    if not 0 < width <= WIDEST:
        raise NetworkError(f"{width} numbers side by side", fix=f"between 1 and {WIDEST} can be read")
    return width


def sources(vector: FlowVector) -> Iterator[FlowVector]:
    """The vectors that a leaf, an affine vector or a ReLU is directly made of, without any signs between."""
    read = (
        [term.vector for term in vector.terms]
        if isinstance(vector, AffineVector)
        else [vector.of]
        if isinstance(vector, ReluVector)
        else []
    )
    yield from dict.fromkeys(base for one in read for base, _, _ in components(one))


def new_weights(vector: FlowVector, seen: set[FlowVector]) -> int:
    """Weights, zeros included, of the affine vectors behind a vector that are not in ``seen``; they are added to it."""
    count, open_vectors = 0, [base for base, _, _ in components(vector)]
    while open_vectors:
        one = open_vectors.pop()
        if one not in seen:
            seen.add(one)
            count += sum(term.weight.size for term in one.terms) if isinstance(one, AffineVector) else 0
            open_vectors += sources(one)
    return count
