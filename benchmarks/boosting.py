"""CPU seconds of boosting, Cat + Noise: plain, and against the worst similar person, beside scikit-learn's.

python -m benchmarks.boosting                 (Adult)
python -m benchmarks.boosting adult health    (any datasets)
"""

from __future__ import annotations

import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from lcifr import FairBooster, datasets
from lcifr.datasets import Dataset
from lcifr.learn.scores import DegenerateModelWarning

ROUNDS = 300


def main(*names: str) -> int:
    warnings.simplefilter("ignore", DegenerateModelWarning)
    for name in names or ("adult",):
        _measure(name, datasets.load(name))
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")
    return 0


def _measure(name: str, data: Dataset) -> None:

    def ours(gamma: float) -> Callable[[], Any]:
        formula = f"{name}/cat_noise"
        return lambda: FairBooster(formula, schema=data.schema, gamma=gamma, rounds=ROUNDS, patience=ROUNDS)

    _fit(ours(1.0)().set_params(rounds=1), data)  # what is compiled is off the clock
    print(f"{name}, {len(data.train)} people, {ROUNDS} rounds without early stopping, {os.cpu_count()} cores")
    models = {
        "scikit-learn, depth 1": lambda: histogram_booster(max_depth=1, max_iter=ROUNDS, early_stopping=False),
        "plain": ours(0.0),
        "worst similar person": ours(1.0),
    }
    first = None
    for word, make in models.items():
        cpu, wall = time.process_time(), time.perf_counter()
        _fit(make(), data)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        first = cpu if first is None else first
        print(f"  {word:22s} {cpu:7.2f} CPU s  {wall:7.2f} s  {cpu / first:5.1f}×", flush=True)


def _fit(model: Any, data: Dataset) -> None:
    if isinstance(model, FairBooster):
        model.fit(data.train.X, data.train.y, validation=(data.validation.X, data.validation.y))
    else:
        model.fit(data.train.X, data.train.y)


def histogram_booster(**settings: Any) -> Any:
    """scikit-learn's booster on the same columns."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    texts = make_column_selector(dtype_include=["object", "string", "category"])
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    table = make_column_transformer((encoder, texts), remainder="passthrough")
    return make_pipeline(table, HistGradientBoostingClassifier(**settings))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
