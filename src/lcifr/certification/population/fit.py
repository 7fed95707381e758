"""Goodness of fit of predicted numbers: R² and mean error, accumulated chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray


@final
@dataclass
class Fit:
    """Predicted numbers beside the true ones.

    Parameters
    ----------
    people : how many. mean, spread : of the true numbers, Σ(y − mean)².
    squared, absolute : of the errors, Σ(y − predicted)² and Σ|y − predicted|.
    of_mean, of_mean_squared : the same sums of whoever always says the mean of training; None where it is not known.
    """

    people: int = 0
    mean: float = 0.0
    spread: float = 0.0
    squared: float = 0.0
    absolute: float = 0.0
    of_mean: float | None = None
    of_mean_squared: float | None = None

    def add(self, true: NDArray[Any], predicted: NDArray[Any], learned_mean: float | None) -> None:
        """These people too. Means are merged as Chan, Golub and LeVeque do: no large squares that cancel."""
        y = np.asarray(true, dtype=np.float64)
        if not len(y):
            return
        error, mean, people = y - np.asarray(predicted, dtype=np.float64), float(y.mean()), self.people + len(y)
        apart = mean - self.mean
        self.spread += float(np.square(y - mean).sum()) + apart**2 * self.people * len(y) / people
        self.mean += apart * len(y) / people
        self.people = people
        self.squared += float(np.square(error).sum())
        self.absolute += float(np.abs(error).sum())
        if learned_mean is not None:
            self.of_mean = (self.of_mean or 0.0) + float(np.abs(y - learned_mean).sum())
            self.of_mean_squared = (self.of_mean_squared or 0.0) + float(np.square(y - learned_mean).sum())

    def figures(self) -> dict[str, float]:
        """R² (not where all true numbers are one), mean absolute error, and both of always saying the mean."""
        found = {"mean_error": self.absolute / self.people}
        if self.of_mean is not None:
            found["mean_error_of_mean"] = self.of_mean / self.people
        if self.spread > 0:
            found["r2"] = 1.0 - self.squared / self.spread
            if self.of_mean_squared is not None:
                found["r2_of_mean"] = 1.0 - self.of_mean_squared / self.spread
        return found
