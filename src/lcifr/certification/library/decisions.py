"""What a model's own library decides about the people of an audit, and what was computed to compare it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.certification.query import BoolArray, FloatArray
from lcifr.data import Individuals
from lcifr.models.model import Model
from lcifr.models.table_model import TableModel


@dataclass(frozen=True)
class EvaluatedPeople:
    """People encoded (people, features), and a plain forward pass: values and rounding errors (people, outputs)."""

    people: Individuals
    features: FloatArray
    values: FloatArray
    rounding_error: FloatArray


@dataclass(frozen=True)
class LibraryDecisions:
    """The library's own word: ``own`` (people,) is what it decides about the people of the audit.

    ``evaluated`` : what the model as it was read computes about them, where the library was compared with that.
    """

    source: TableModel
    model: Model
    own: NDArray[Any]
    evaluated: EvaluatedPeople | None = None

    def known_of(self, people: Individuals) -> EvaluatedPeople | None:
        """What was computed, if it is about exactly these people: of anybody else it would be a wrong verdict."""
        known = self.evaluated
        if known is None or known.people is people:
            return known
        same = np.array_equal(known.people.numbers, people.numbers) and np.array_equal(known.people.codes, people.codes)
        return known if same else None

    def differ(self, rows: NDArray[np.int64], others: Individuals) -> BoolArray:
        """(rows,) whether the library itself decides otherwise about ``others`` than about the people ``rows``."""
        return self.model.differ(self.own[rows], self.source.library_decides(others))
