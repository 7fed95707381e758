"""Audits of models from elsewhere: how many people a second a core, beside the library's own ``predict``.

A scikit-learn pipeline (scaler, one-hot, logistic regression) on the raw columns of German, its people repeated with
other numbers. Reading it, its file, and the same with PCA in between are in the same run.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lcifr import Similarity, datasets
from lcifr.certification.audit import audit_region
from lcifr.certification.subject import Subject
from lcifr.data import Individuals
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.loading import load_file

PEOPLE = 50_000
PHI = "same(categorical except sex) and numeric within 0.05 sd"
MIXED = {"logistic": (), "PCA, logistic": (PCA(10),)}


def main() -> None:
    data = datasets.load("german")
    table = _more(data.train.X, PEOPLE)
    similar = Similarity(PHI, data.schema, data.train.X)
    print(f"{PEOPLE:,} people, 1 core, people a CPU second\n")
    print("| model | library's predict | engine | engine / predict | certified | loading its skops file |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, between in MIXED.items():
        model = make_pipeline(_columns(data), *between, LogisticRegression(max_iter=1000)).fit(
            data.train.X, data.train.y
        )
        print(f"| {name} | {_row(model, table, similar)} |")


def _row(model: Any, table: pd.DataFrame, similar: Similarity) -> str:
    read = Subject.of_library(model, table, similar)
    people, subject = Individuals.read(table, similar.schema), replace(read, arithmetic=Arithmetic.FLOAT64)
    names = tuple(range(len(people)))

    def prove() -> Any:
        region = read.encoder.similarity.region(people)
        return audit_region(subject, people, region, names, modular=False)

    prove()  # machine code is made once
    found, engine = _timed(prove)
    _, library = _timed(lambda: model.predict(table))
    with tempfile.TemporaryDirectory() as folder:
        import skops.io

        path = Path(folder) / "model.skops"
        skops.io.dump(model, path)
        load_file(path)
        _, loading = _timed(lambda: load_file(path).read_table(table, similar.encoding))
    speeds = f"{len(table) / library:,.0f} | {len(table) / engine:,.0f} | {library / engine:.2f}"
    return f"{speeds} | {found.certified.mean():.1%} | {loading:.2f} s"


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def _columns(data: Any) -> ColumnTransformer:
    texts = list(data.schema.names_categorical)
    numbers = [name for name in data.train.X.columns if name not in texts]
    parts = [("numbers", StandardScaler(), numbers), ("texts", OneHotEncoder(drop="first"), texts)]
    return ColumnTransformer(parts, sparse_threshold=0)


def _more(table: pd.DataFrame, count: int) -> pd.DataFrame:
    """People of the table, each column drawn by itself: so that no two are the same."""
    random = np.random.default_rng(0)
    return pd.DataFrame({name: random.choice(table[name].to_numpy(), count) for name in table.columns})


if __name__ == "__main__":
    main()
