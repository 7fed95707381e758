"""Region: S_φ(x) of a batch of people as a union of cells, the input of every proof."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from lcifr.data import Encoding, Individuals
from lcifr.errors import RegionError
from lcifr.regions.cell import (
    BoolArray,
    Cell,
    Choice,
    FloatArray,
    IntArray,
    LinearRows,
    WholeColumn,
    cell_contains,
    cell_from_arrays,
    on_rows,
)
from lcifr.regions.sampling import project_onto_cell, sample_cells

__all__ = ["BoolArray", "Cell", "Choice", "FloatArray", "IntArray", "LinearRows", "Region", "WholeColumn"]


@dataclass(frozen=True)
class Witnesses:
    """Decoded points.

    Parameters
    ----------
    individuals
        The people, in the table's own units; whole categories, whole numbers where the schema says so.
    confirmed : (people,) or (people, k)
        Whether φ(x, x′) holds on the decoded pair.
    """

    individuals: Individuals
    confirmed: BoolArray

    def to_pandas(self) -> Any:
        return self.individuals.to_pandas()


@dataclass(frozen=True)
class RegionOrigin(ABC):
    """What the columns of a region mean, and whose neighbourhood it is."""

    encoding: Encoding
    people: Individuals

    def take(self, index: Any) -> Self:
        """The origin for some of the people."""
        return replace(self, people=self.people.take(index))

    @abstractmethod
    def decode(self, points: ArrayLike) -> Witnesses:
        """See :meth:`Region.decode`; points (people, features) or (people, k, features), flattened in that order."""


@dataclass(frozen=True)
class Region:
    """For each of ``people`` individuals, the union of the cells present for them.

    An individual without any present cell has an empty region: no one is similar to them.
    ``origin`` says which formula and whose neighbourhood this is, where there is one; only ``decode`` needs it.
    ``whole`` lists the columns that hold whole numbers only: proofs then say nothing about the reals between them.
    """

    people: int
    features: int
    cells: tuple[Cell, ...]
    origin: RegionOrigin | None = field(default=None, repr=False, compare=False)
    whole: tuple[WholeColumn, ...] = field(default=(), repr=False)

    @property
    def universe(self) -> Literal["reals", "whole"]:
        """Which individuals proofs about this region cover."""
        return "whole" if self.whole else "reals"

    @property
    def nonempty(self) -> BoolArray:
        """(people,) whether the person's region is nonempty."""
        somewhere = np.zeros(self.people, np.bool_)
        for cell in self.cells:
            somewhere |= cell.present
        return somewhere

    def take(self, index: Any) -> Region:
        """The region of some of the people, in the order asked for (a slice, a mask or indices)."""
        chosen = np.arange(self.people)[index]
        origin = self.origin.take(chosen) if self.origin is not None else None
        return Region(len(chosen), self.features, tuple(cell.take(index) for cell in self.cells), origin, self.whole)

    def hull(self) -> Region:
        """The region of one person that holds all regions, cell by cell; without linear rows."""
        return Region(1, self.features, tuple(cell.hull() for cell in self.cells if cell.present.any()))

    @classmethod
    def union(cls, regions: Sequence[Region]) -> Region:
        """The union of ``regions`` of the same people in the same features."""
        if not regions:
            raise RegionError("a union needs at least one region")
        shapes = {(region.people, region.features) for region in regions}
        if len(shapes) > 1:
            raise RegionError(f"regions of different shapes (people, features) have no union: {sorted(shapes)}")
        return replace(regions[0], cells=tuple(cell for region in regions for cell in region.cells), origin=None)

    @classmethod
    def from_arrays(
        cls,
        lower: ArrayLike,
        upper: ArrayLike,
        choices: Sequence[tuple[ArrayLike, ArrayLike]] = (),
        rows: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Region:
        """One cell without a formula.

        Parameters
        ----------
        lower, upper : (people, features)
            The box. It also restricts the columns of a choice: a category needs an upper end of at least 1 in its own
            column and a lower end of at most 0 in the others.
        choices : pairs of (columns, allowed)
            The one-hot groups: column indices, and (people, len(columns)) booleans.
        rows : (G, g)
            Linear rows G x′ ≤ g with G (rows, features) and g (people, rows).

        Raises
        ------
        RegionError
            For shapes that do not fit, bounds that are not finite, or overlapping choices.
        """
        cell, features = cell_from_arrays(lower, upper, choices, rows)
        return cls(len(cell.present), features, (cell,))

    def contains(self, points: ArrayLike, *, tolerance: float = 0.0) -> BoolArray:
        """Whether points lie in the region.

        Parameters
        ----------
        points : (people, features) or (people, k, features)
        tolerance : how far outside still counts, in encoded units.

        Returns
        -------
        (people,) or (people, k) booleans; a category must be one of the allowed ones, as a whole.
        """
        stacked = self._points(points)
        inside = np.zeros(stacked.shape[:2], bool)
        for cell in self.cells:
            inside |= cell_contains(cell, stacked, tolerance)
        return inside if np.ndim(points) == 3 else inside[:, 0]

    def sample(self, count: int, *, seed: int = 0) -> FloatArray:
        """``count`` points of each person's region, whole categories, rows respected.

        Every part of every cell can be reached. People with an empty region get NaN.

        Returns
        -------
        (people, count, features)
        """
        shape = (self.people, count, self.features)
        return sample_cells(self.cells, shape, np.random.default_rng(seed))

    def project(self, points: ArrayLike, *, tolerance: float = 1e-7) -> FloatArray:
        """The nearest point of the person's nearest cell, categories relaxed to the simplex of the allowed ones.

        Parameters
        ----------
        points : (people, features)
        tolerance : how far outside its linear rows the result may be.

        Returns
        -------
        (people, features); NaN for people with an empty region.
        """
        start = self._points(points)
        if np.ndim(points) == 3:
            raise RegionError("project takes one point per person: (people, features)")
        target = start[:, 0]
        nearest = np.full_like(target, np.nan)
        distance = np.full(self.people, np.inf)
        for cell in self.cells:
            landed = project_onto_cell(cell, target, tolerance)
            reached = cell.present & on_rows(cell, landed, tolerance)  # a cell may have no point between its rows
            away = np.where(reached, np.linalg.norm(landed - target, axis=1), np.inf)
            closer = away < distance
            nearest[closer], distance[closer] = landed[closer], away[closer]
        return nearest

    def decode(self, points: ArrayLike) -> Witnesses:
        """Points of the region as individuals in the table's own units."""
        if self.origin is None:
            raise RegionError(
                "this region was not made from a formula, so nothing says what its columns mean",
                fix="make it with Similarity.region, or use Encoding.decode",
            )
        return self.origin.decode(points)

    def _points(self, points: ArrayLike) -> FloatArray:
        """``points`` as (people, k, features), checked."""
        array = np.asarray(points, dtype=np.float64)
        if array.ndim not in (2, 3) or array.shape[0] != self.people or array.shape[-1] != self.features:
            raise RegionError(
                f"points have shape {array.shape}, expected ({self.people}, {self.features}) "
                f"or ({self.people}, k, {self.features})"
            )
        return array if array.ndim == 3 else array[:, None, :]
