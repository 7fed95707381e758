"""The frontier of boosted additive models, cross-validated among training and validation people, without test people.

    python -m experiments.booster_frontier german/cat_noise compas/cat_noise crime/cat_noise

Certified is end to end and over the reals. Two points are marked, by the rules of ``experiments.families.rules``. Once
they are to be compared with networks on test people, that is what ``python -m experiments run`` does.

The paper's figures beside them are of its test people, who on Compas are harder to tell apart than those here.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from experiments import paper
from experiments.choose import goal
from experiments.families import rules
from experiments.folds import COUNT
from experiments.trees.gradient import pipeline
from experiments.trees.settings import weights
from lcifr import FairBooster, datasets
from lcifr.datasets import Dataset
from lcifr.learn.scores import DegenerateModelWarning, share_error


@dataclass(frozen=True)
class FrontierRow:
    """One setting: means over the folds in per cent, standard error of the accuracy, CPU seconds of a fit."""

    name: str
    accuracy: float
    error: float
    balanced: float
    certified: float
    seconds: float


def folds(data: Dataset, repeats: int) -> Iterator[tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]]:
    """People to learn from and people to judge by, with their labels; without repeats, the dataset's own split."""
    from sklearn.model_selection import StratifiedKFold

    if not repeats:
        yield data.train.X, np.asarray(data.train.y), data.validation.X, np.asarray(data.validation.y)
    X, y = pd.concat([data.train.X, data.validation.X]), np.concatenate([data.train.y, data.validation.y])
    for repeat in range(repeats):
        for rows, others in StratifiedKFold(COUNT, shuffle=True, random_state=repeat).split(X, y):
            yield X.iloc[rows], y[rows], X.iloc[others], y[others]


def judge(name: str, data: Dataset, repeats: int, make: Callable[[], Any]) -> FrontierRow:
    """A setting, learned and judged fold by fold."""
    figures, seconds = [], 0.0
    for X, y, others, truth in folds(data, repeats):
        start = time.process_time()
        model = make().fit(X, y)
        seconds += time.process_time() - start
        found = model.predict(others)
        each = [np.mean(found[truth == label] == label) for label in np.unique(truth)]
        certified = model.certified(others).mean() if isinstance(model, FairBooster) else np.nan
        figures.append((np.mean(found == truth), np.mean(each), certified))
    accuracy, balanced, certified = 100 * np.mean(figures, axis=0)
    error = 100 * float(np.std([one[0] for one in figures])) / len(figures) ** 0.5
    if not repeats:
        error = 100 * share_error(accuracy / 100, len(data.validation))
    return FrontierRow(name, accuracy, error, balanced, certified, seconds / len(figures))


def measure(row: str, repeats: int, options: dict[str, Any], *, only_plain: bool = False) -> list[FrontierRow]:
    """Both plain models of scikit-learn, ours without the promise, and every setting with it."""
    data = datasets.load(row.split("/")[0])

    def ours(**settings: Any) -> Callable[[], Any]:
        return lambda: FairBooster(row, schema=data.schema, **{**options, **settings})

    tried = {
        "scikit-learn, default depth": lambda: pipeline(max_iter=300, early_stopping=True),
        "scikit-learn, depth 1": lambda: pipeline(max_depth=1, max_iter=300, early_stopping=True),
        "plain": ours(gamma=0.0, tie_free=False),
        "unaware": ours(gamma=0.0),
    }
    if not only_plain:
        tried |= {f"γ {g:g} stretch {s:g}": ours(gamma=g, stretch=s) for g, s in weights(row)}
    return [judge(name, data, repeats, make) for name, make in tried.items()]


def choose(row: str, points: Sequence[FrontierRow]) -> dict[str, str]:
    """The names of the two points, and what they are."""
    plain = next(point for point in points if point.name == "plain")
    ours = [point for point in points if point.name.startswith("γ")]
    marks: dict[str, str] = {}
    for word, point in (
        ("accurate", rules.accurate(ours, goal(row, []), _itself)),
        ("certified", rules.certified(ours, plain.balanced, _itself)),
    ):
        if point is not None:
            marks[point.name] = f"{marks[point.name]}, {word}" if point.name in marks else word
    return marks


def _itself(point: FrontierRow) -> FrontierRow:
    return point


def show(row: str, points: Sequence[FrontierRow], seconds: float) -> None:
    print(f"\n{row}: accuracy / balanced / certified end to end over the reals, {seconds:.0f} CPU s in all")
    marks, printed = choose(row, points), paper.printed(row)
    for name, found in (printed or {}).items():
        figures = " / ".join(f"{found[key]:5.1f}" for key in ("accuracy", "balanced", "certified"))
        print(f"  {'the paper, ' + name + ' (test)':28s} {figures}")
    for point in points:
        certified = "    –" if np.isnan(point.certified) else f"{point.certified:5.1f}"
        figures = f"{point.accuracy:5.1f} / {point.balanced:5.1f} / {certified}"
        print(f"  {point.name:28s} {figures}  ± {point.error:.1f}  {point.seconds:5.1f} s  {marks.get(point.name, '')}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.booster_frontier", description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="+", help="dataset and constraint, such as german/cat_noise")
    parser.add_argument(
        "--repeats", type=int, default=1, help="divisions into five folds; 0: judge by validation people"
    )
    parser.add_argument("--rounds", type=int, default=FairBooster("").rounds)
    parser.add_argument("--learning-rate", type=float, default=FairBooster("").learning_rate)
    parser.add_argument("--plain", action="store_true", help="only the models without the promise")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", DegenerateModelWarning)  # the figures say it
    for row in options.rows:
        start = time.process_time()
        settings = {"rounds": options.rounds, "learning_rate": options.learning_rate}
        points = measure(row, options.repeats, settings, only_plain=options.plain)
        show(row, points, time.process_time() - start)
    return 0


if __name__ == "__main__":
    sys.exit(main())
