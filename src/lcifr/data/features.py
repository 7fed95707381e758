"""Feature columns: which column of the encoded matrix belongs to which attribute."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lcifr.data.schema import Categorical, Schema


@dataclass(frozen=True)
class Feature:
    """One column of the matrix: a whole numeric attribute, or one value of a categorical one."""

    attribute: str
    value: str | None = None

    def __str__(self) -> str:
        return self.attribute if self.value is None else f"{self.attribute}={self.value}"


@dataclass(frozen=True)
class FeatureColumns:
    """One column for a number, one for each value of a category, in the order of the schema."""

    schema: Schema

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """What each column of the matrix is."""
        return tuple(
            Feature(attribute.name, value)
            for attribute in self.schema
            for value in (attribute.values if isinstance(attribute, Categorical) else (None,))
        )

    @cached_property
    def _slices(self) -> dict[str, slice]:
        slices, start = {}, 0
        for attribute in self.schema:
            width = len(attribute.values) if isinstance(attribute, Categorical) else 1
            slices[attribute.name] = slice(start, start + width)
            start += width
        return slices

    def columns(self, attribute: str) -> slice:
        """The feature columns of one attribute."""
        return self._slices[self.schema[attribute].name]

    @cached_property
    def numeric_columns(self) -> NDArray[np.intp]:
        """(numeric attributes,) the feature column of each, in the order of ``schema.numeric``."""
        return np.array([self.columns(attribute.name).start for attribute in self.schema.numeric], dtype=np.intp)

    @cached_property
    def category_starts(self) -> NDArray[np.intp]:
        """(categorical attributes,) the first feature column of each, in the order of ``schema.categorical``."""
        return np.array([self.columns(attribute.name).start for attribute in self.schema.categorical], dtype=np.intp)
