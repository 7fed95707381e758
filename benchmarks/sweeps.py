"""Sweeps of four models: shares of everybody who can exist, and what closed forms save for additive ones.

    python -m benchmarks.sweeps                     a minute each
    python -m benchmarks.sweeps --seconds 10        or as long as that

Ranges of numbers are those of the dataset. The additive model is swept twice, in closed form and by the search, for the
same cells.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from lcifr import Encoding, FairEncoder, RobustClassifier, Schema, Similarity, datasets, sweep
from lcifr.certification.library.library_model import LibraryModel
from lcifr.certification.sweep.additive_models.terms import AdditiveTerms
from lcifr.certification.sweep.result import Standing, Sweep
from lcifr.certification.sweep.sweeper import Sweeper
from lcifr.certification.sweep.swept_model import SweptModel
from lcifr.models.arithmetic import Arithmetic
from lcifr.similarity.ready_formulas import ready

SAME_CELLS = 256


def main(options: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweeps")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each sweep")
    seconds = parser.parse_args(list(options)).seconds
    warnings.simplefilter("ignore")
    print(f"at most {seconds:g} s each, one core")
    for name, model in {
        "German credit, FairEncoder and linear head, cat_noise": german_network,
        "Compas, scikit-learn MLP 20 + 20, cat": compas_network,
        "German credit, additive: 200 stumps of XGBoost, cat_noise": german_stumps,
        "Compas, XGBoost, 100 trees of depth 3, cat": compas_trees,
    }.items():
        _report(name, model(), seconds)
    closed_form()
    return 0


@dataclass(frozen=True)
class Subject:
    """What is swept: the arguments of :func:`lcifr.sweep`."""

    words: tuple[Any, ...]
    named: dict[str, Any]
    people: Any


def ranged(name: str) -> tuple[Schema, Any]:
    """The schema of a dataset with the ranges of its numbers, and all its people."""
    data = datasets.load(name)
    table = pd.concat([part.X for part in (data.train, data.validation, data.test)], ignore_index=True)
    attributes = [
        replace(one, lower=float(table[one.name].min()), upper=float(table[one.name].max()))
        if one.name in data.schema.names_numeric
        else one
        for one in data.schema
    ]
    return replace(data.schema, attributes=tuple(attributes)), table


def german_network() -> Subject:
    """As `lcifr demo` learns it."""
    schema, table = ranged("german")
    train = datasets.load("german").train
    encoder = FairEncoder("german/cat_noise", schema=schema, epochs=60, batch_size=64, random_state=0)
    encoder.fit(train.X, train.y)
    head = RobustClassifier(gamma=3.0).fit(encoder.transform(train.X), train.y)
    return Subject((encoder, head, table), {}, table)


def foreign(name: str, formula: str, estimator: Any) -> Subject:
    """A model of another library behind one-hot columns."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    schema, table = ranged(name)
    train = datasets.load(name).train
    columns = make_column_transformer(
        (OneHotEncoder(categories=[list(one.values) for one in schema.categorical]), list(schema.names_categorical)),
        (StandardScaler(), list(schema.names_numeric)),
    )
    model = make_pipeline(columns, estimator).fit(train.X, np.asarray(train.y))
    similarity = Similarity(ready(formula), schema, Encoding.fit(train.X, schema))
    return Subject((model, table), {"similarity": similarity}, table)


def compas_network() -> Subject:
    from sklearn.neural_network import MLPClassifier

    return foreign("compas", "compas/cat", MLPClassifier((20, 20), random_state=0, max_iter=100))


def german_stumps() -> Subject:
    from xgboost import XGBClassifier

    return foreign("german", "german/cat_noise", XGBClassifier(n_estimators=200, max_depth=1, random_state=0))


def compas_trees() -> Subject:
    from xgboost import XGBClassifier

    return foreign("compas", "compas/cat", XGBClassifier(n_estimators=100, max_depth=3, random_state=0))


def _report(name: str, subject: Subject, seconds: float) -> None:
    begun = time.process_time()
    found = sweep(*subject.words, **subject.named, seconds=seconds, cells=10_000_000)
    print(f"\n{name}: {time.process_time() - begun:.0f} CPU s")
    print("\n".join(f"  {line}" for line in str(found).splitlines()))
    standing = found.locate(subject.people)
    counts = ", ".join(f"{int((standing == one).sum()):,} {one}" for one in Standing if (standing == one).any())
    print(f"  people of the table: {counts}", flush=True)


@dataclass(frozen=True, eq=False)
class Searched(SweptModel):
    """The same model without closed forms."""

    @cached_property
    def additive(self) -> AdditiveTerms | None:
        return None


def closed_form() -> None:
    """The same cells of the additive model, in closed form and by the search."""
    subject = german_stumps()
    read = LibraryModel.read(subject.words[0], subject.people, subject.named["similarity"])
    about = (read.encoder, read.model, Arithmetic.FLOAT32, None)
    print(f"\nadditive model, {SAME_CELLS:,} cells at most")
    known: list[tuple[str, float, Sweep]] = []
    makers: dict[str, Callable[..., SweptModel]] = {"closed form": SweptModel, "search": Searched}
    for name, make in makers.items():
        sweeper = Sweeper(make(*about))
        sweeper.run(cells=64)  # what is compiled is off the clock
        begun = time.process_time()
        found = sweeper.run(cells=SAME_CELLS)
        known.append((name, time.process_time() - begun, found))
    for name, cpu, found in known:
        share = float(found.share(Standing.PROVED))
        print(f"  {name:12s} {cpu:8.2f} CPU s, proved {100 * share:.2f} %, {cpu / known[0][1]:.1f}×")


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
