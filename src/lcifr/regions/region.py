"""Region: S_φ(x) of a batch of people as a union of cells, the input of every proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.errors import RegionError

if TYPE_CHECKING:
    from lcifr.regions.witness import RegionOrigin

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Choice:
    """One one-hot group: exactly one of ``columns`` is 1, and only an allowed one.

    Parameters
    ----------
    columns : (values,) feature columns of the group.
    allowed : (people, values) which of them the other individual may have.
    """

    columns: IntArray
    allowed: BoolArray


@dataclass(frozen=True)
class LinearRows:
    """Linear rows G x′ ≤ g.

    Parameters
    ----------
    G : (rows, features), the same for everybody.
    g : (people, rows).
    """

    G: FloatArray
    g: FloatArray


@dataclass(frozen=True)
class Cell:
    """A box over the numeric columns × one allowed category per choice, cut by linear rows; for many people at once.

    Parameters
    ----------
    numeric : (numerics,) the feature columns that are in no choice, ascending.
    lower, upper : (people, numerics) the box, in the order of ``numeric``.
    choices : the one-hot groups; together with ``numeric`` they hold every feature column exactly once.
    rows : linear rows, or None.
    present : (people,) who has this cell at all. Where it is False the other arrays mean nothing.
    """

    numeric: IntArray
    lower: FloatArray
    upper: FloatArray
    choices: tuple[Choice, ...]
    rows: LinearRows | None
    present: BoolArray

    def take(self, index: Any) -> Cell:
        """The same cell for some of the people; ``index`` is anything that indexes an array's first axis."""
        return Cell(
            self.numeric,
            self.lower[index],
            self.upper[index],
            tuple(Choice(choice.columns, choice.allowed[index]) for choice in self.choices),
            LinearRows(self.rows.G, self.rows.g[index]) if self.rows is not None else None,
            self.present[index],
        )

    def between(self, lower: FloatArray, upper: FloatArray) -> Cell:
        """The same cell with another box, inside its own; whoever's box is empty has no cell."""
        present = self.present & (lower <= upper).all(1)
        lower, upper = (np.where(present[:, None], end, 0.0) for end in (lower, upper))
        return replace(self, lower=lower, upper=upper, present=present)


@dataclass(frozen=True)
class Region:
    """For each of ``people`` individuals, the union of the cells present for them.

    An individual without any present cell has an empty region: nobody is similar to them.
    ``origin`` says which formula and whose neighbourhood this is, where there is one; only ``decode`` needs it.
    """

    people: int
    features: int
    cells: tuple[Cell, ...]
    origin: RegionOrigin | None = field(default=None, repr=False, compare=False)

    @property
    def nonempty(self) -> BoolArray:
        """(people,) whether anybody at all is in the person's region."""
        somewhere = np.zeros(self.people, np.bool_)
        for cell in self.cells:
            somewhere |= cell.present
        return somewhere

    def take(self, index: Any) -> Region:
        """The region of some of the people, in the order asked for (a slice, a mask or indices)."""
        chosen = np.arange(self.people)[index]
        origin = self.origin.take(chosen) if self.origin is not None else None
        return Region(len(chosen), self.features, tuple(cell.take(index) for cell in self.cells), origin)

    @classmethod
    def union(cls, regions: Sequence[Region]) -> Region:
        """Everybody's cells from all of ``regions``, which speak about the same people in the same features."""
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
            The box. In the columns of a choice it cuts too: a category needs an upper end of at least 1 in its own
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
        from lcifr.regions.from_arrays import cell_from_arrays

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
        from lcifr.regions.geometry import region_contains

        return region_contains(self, points, tolerance)

    def sample(self, count: int, *, seed: int = 0) -> FloatArray:
        """``count`` points of each person's region, whole categories, rows respected.

        Every part of every cell can be reached. People with an empty region get NaN.

        Returns
        -------
        (people, count, features)
        """
        from lcifr.regions.sampling import sample_region

        return sample_region(self, count, np.random.default_rng(seed))

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
        from lcifr.regions.geometry import project_onto_region

        return project_onto_region(self, points, tolerance)

    def decode(self, points: ArrayLike) -> Any:
        """Points of the region as individuals in the table's own units: :class:`lcifr.regions.witness.Witnesses`."""
        if self.origin is None:
            raise RegionError(
                "this region was not made from a formula, so nothing says what its columns mean",
                fix="make it with Similarity.region, or use Encoding.decode",
            )
        return self.origin.decode(points)
