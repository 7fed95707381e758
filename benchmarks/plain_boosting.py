"""Accuracy of boosters without the promise (γ 0) beside scikit-learn's HistGradientBoosting, without test people.

python -m benchmarks.plain_boosting                      (all six datasets; two of them need LCIFR_DATA)
python -m benchmarks.plain_boosting compas law_school
python -m benchmarks.plain_boosting health --only "deeper trees"    (scikit-learn's, and of ours the one that is named)

Small datasets are judged by five folds among training and validation people, three times, or ten times where there are
at most a thousand, which are learned with bags, too. Large ones are judged by their validation people.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.boosting import histogram_booster
from sklearn.model_selection import RepeatedStratifiedKFold

from lcifr import FairBooster, datasets
from lcifr.datasets import Dataset
from lcifr.learn.scores import DegenerateModelWarning, share_error

NAMES = ("adult", "compas", "crime", "german", "health", "law_school")
SMALL, FEW = 10_000, 1_000
OURS: dict[str, dict[str, Any]] = {
    "attributes alone": {},
    "with pairs": {"interactions": "auto"},
    "deeper trees": {"depth": 5, "learning_rate": 0.3, "rounds": 100},
}
BAGS = "8 bags of attributes"


def main(*arguments: str) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=(*NAMES, []), help="datasets")
    parser.add_argument("--only", choices=(*OURS, BAGS), help="of our boosters this one alone")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DegenerateModelWarning)
    for name in options.names or NAMES:
        data = datasets.load(name)
        ours = partial(FairBooster, "same(all)", schema=data.schema, gamma=0.0, tie_free=False)
        models: dict[str, Callable[[], Any]] = {"HistGradientBoosting": histogram_booster}
        models |= {word: partial(ours, **settings) for word, settings in OURS.items()}
        if len(data.train) <= FEW:
            models[BAGS] = partial(ours, bags=8)
        print(f"{name}, {len(data.train)} people to learn from", flush=True)
        for word, make in models.items():
            if options.only not in (None, word) and word in (*OURS, BAGS):
                continue
            start = time.process_time()
            found = [_right(make().fit(X, y), others, truth) for X, y, others, truth in _divisions(data)]
            share, people = float(np.concatenate(found).mean()), len(found[0]) * min(5, len(found))
            seconds = (time.process_time() - start) / len(found)
            accuracy = f"{100 * share:5.1f} ± {100 * share_error(share, people):.1f} %"
            print(f"  {word:22s} {accuracy}  {seconds:6.1f} CPU s a fit", flush=True)
    return 0


def _right(model: Any, X: pd.DataFrame, truth: np.ndarray) -> np.ndarray:
    return np.asarray(model.predict(X) == truth)


def _divisions(data: Dataset) -> Iterator[tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]]:
    """People to learn from and people to judge by, with their labels."""
    if len(data.train) > SMALL:
        yield data.train.X, np.asarray(data.train.y), data.validation.X, np.asarray(data.validation.y)
        return
    X, y = pd.concat([data.train.X, data.validation.X]), np.concatenate([data.train.y, data.validation.y])
    repeats = 10 if len(data.train) <= FEW else 3
    for rows, others in RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0).split(X, y):
        yield X.iloc[rows], y[rows], X.iloc[others], y[others]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
