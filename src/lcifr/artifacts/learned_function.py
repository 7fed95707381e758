"""Functions from people to z as their estimators' parameters describe them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import Any

Plain = Mapping[str, Any]


class LearnedFunction(ABC):
    """A function that an estimator learned; parameters : of the estimator, plain."""

    parameters: Plain

    @property
    def is_unaware(self) -> bool:
        """Whether it is the baseline by that name: learned for the label alone, without what φ leaves free."""
        return bool(self.parameters["tie_free"]) and self.parameters["gamma"] == 0

    @property
    def whole_numbers(self) -> bool:
        """Whether its hand-overs speak about whole numbers only."""
        return bool(self.parameters["whole_numbers"])
