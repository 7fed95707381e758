"""Cross-validation among training and validation people: test people take no part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lcifr.datasets import Dataset, Split

COUNT = 5


@dataclass(frozen=True)
class Fold:
    """Whom a model is learned from, and who judges it; ``seed`` divided them."""

    seed: int
    learned: Split
    held_out: Split


def folds(data: Dataset, seeds: Iterable[int]) -> Iterator[Fold]:
    """Five for every seed, each with the shares of labels of them all."""
    from sklearn.model_selection import StratifiedKFold

    X, y = pd.concat([data.train.X, data.validation.X]), np.concatenate([data.train.y, data.validation.y])
    for seed in seeds:
        for rows, others in StratifiedKFold(COUNT, shuffle=True, random_state=seed).split(X, y):
            learned, held_out = (Split(X.iloc[some], pd.Series(y[some])) for some in (rows, others))
            yield Fold(seed, learned, held_out)


def means(figures: list[dict[str, float]], digits: int = 3) -> dict[str, float]:
    """The mean of each figure over the folds, and the standard error of the accuracy's."""
    each = {key: round(float(np.mean([one[key] for one in figures])), digits) for key in figures[0]}
    error = float(np.std([one["accuracy"] for one in figures])) / len(figures) ** 0.5
    return {**each, "error": round(error, digits)}
