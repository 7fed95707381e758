"""Comparison of a model as it was read with the library that it comes from: decisions, outputs, and proved rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.query import Outputs, is_strict
from lcifr.models.model import Model

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class LibraryComparison:
    """What both say of some people.

    Parameters
    ----------
    read, library : (people,) decisions of the model as it was read, and of the library itself.
    differ : (people,) whether these differ. wrong : (people,) and rounding cannot be the reason.
    largest : the largest difference of an output, where the library gives its outputs. allowed : the largest that
        rounding can make of them, among these people.
    """

    read: NDArray[Any]
    library: NDArray[Any]
    differ: BoolArray
    wrong: BoolArray
    largest: float | None
    allowed: float

    def __len__(self) -> int:
        return len(self.differ)

    @property
    def agrees(self) -> bool:
        """Whether nothing differs but what rounding explains."""
        return not self.wrong.any()

    @property
    def equal(self) -> int:
        """People about whom both decide the same."""
        return int((~self.differ).sum())


def compare(
    model: Model, outputs: Outputs, library: NDArray[Any], library_outputs: NDArray[Any] | None = None
) -> LibraryComparison:
    """Compare decisions, and outputs where the library gives them.

    Parameters
    ----------
    outputs : of these people by the model as it was read; ``deployment_error`` is what rounding can do in the library.
    library : (people,) its decisions. library_outputs : (people, outputs) its numbers, of the same function.
    """
    found = model.decide(outputs.values)
    if model.labels is None:
        gap = np.abs(np.reshape(found, outputs.values.shape) - np.reshape(library, outputs.values.shape))
        differ, wrong = (gap > 0).any(1), ~(gap <= outputs.error).all(1)
        library_outputs = np.reshape(library, (len(found), -1))
    else:
        differ = np.asarray(found != library)
        wrong = is_strict(model.rule, outputs) & differ
    largest = None
    if library_outputs is not None and len(found):
        gaps = np.abs(np.reshape(library_outputs, outputs.values.shape) - outputs.values)
        wrong = wrong | ~(gaps <= outputs.error).all(1)
        largest = float(gaps.max())
    return LibraryComparison(found, library, differ, wrong, largest, float(outputs.error.max(initial=0.0)))
