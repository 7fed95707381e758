"""Cells of boosters: fitted on training people, judged end to end by the closed form, cross-validated where asked for.

Certified is **end to end** in every figure: ``certified`` over the reals, ``end_to_end`` over whole numbers where the
schema says so, which are what the figures of networks are called on the ball and end to end.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.cells import Cell
from experiments.store import Found, Store
from experiments.trees.settings import FOLD_COUNT
from experiments.verdicts import accuracies, share
from lcifr import FairBooster
from lcifr.data import Encoding, Numeric, Schema
from lcifr.datasets import Dataset, Split
from lcifr.similarity.similarity import Similarity


def booster(cell: Cell, store: Store, data: Dataset) -> Found:
    """One setting: learned from training people, stopped by validation people."""
    # φ's standard deviations and ranks are those of all training people, whoever is learned from.
    similarity = Similarity.ready(cell.settings["row"], data.schema, Encoding.fit(data.train.X, data.schema))
    (X, y), checked = (_drawn(split, cell.settings) for split in (data.train, data.validation))
    model = make(cell.settings, similarity).fit(X, y, validation=checked)
    point = {
        "training": seen(model, data.train),
        "validation": seen(model, data.validation),
        "test": exactly(model, data.test),
        "head": "pairs" if "interactions" in cell.settings["options"] else "",
    }
    if cell.settings["folds"]:
        point["crossed"] = crossed(cell.settings, data)
    model.save(store.model_path(cell.name, "booster"))
    people = [len(data.train), len(data.validation), len(data.test)]
    return {"points": [point], "people": people, "rounds": model.n_iter_, "unread": list(model.unread_)}


def _drawn(split: Split, settings: dict[str, Any]) -> tuple[Any, Any]:
    """Everybody and their labels, or as many as the settings say."""
    rows = draw(len(split), settings.get("learners", len(split)), settings.get("seed", 0))
    return split.X.iloc[rows], split.y.iloc[rows]


def make(settings: dict[str, Any], similarity: Similarity | str, **others: Any) -> FairBooster:
    """The booster that the settings describe, not fitted."""
    weights = {"gamma": settings["gamma"], "stretch": settings["stretch"]}
    return FairBooster(similarity, **weights, **settings["options"], **others)


def seen(model: FairBooster, split: Split) -> dict[str, float]:
    """What choices are made by."""
    return {**accuracies(model.predict(split.X), split.y), "certified": share(model.certified(split.X))}


def exactly(model: FairBooster, split: Split) -> dict[str, float]:
    """Everything the tables show."""
    start = time.process_time()
    figures = seen(model, split)
    seconds = round((time.process_time() - start) / len(split), 7)
    try:
        whole = share(model.set_params(whole_numbers=True).certified(split.X))
    finally:
        model.set_params(whole_numbers=False)
    return {**figures, "end_to_end": whole, "seconds": seconds}


def crossed(settings: dict[str, Any], data: Dataset) -> dict[str, float]:
    """Means over folds of training and validation people, each judged by a model that has not seen it.

    Within a fold people to stop by are held out of those who are learned from; the fold's seed draws both.
    """
    from sklearn.model_selection import StratifiedKFold

    X, y = pd.concat([data.train.X, data.validation.X]), np.concatenate([data.train.y, data.validation.y])
    figures = []
    for seed in settings["folds"]:
        for rows, others in StratifiedKFold(FOLD_COUNT, shuffle=True, random_state=seed).split(X, y):
            model = make(settings, settings["row"], schema=data.schema, random_state=seed).fit(X.iloc[rows], y[rows])
            figures.append(seen(model, Split(X.iloc[others], pd.Series(y[others]))))
    means = {key: round(float(np.mean([one[key] for one in figures])), 3) for key in figures[0]}
    return {**means, "error": round(float(np.std([one["accuracy"] for one in figures])) / len(figures) ** 0.5, 3)}


# -- over the reals, by the search -------------------------------------------------------------------------------------


def over_reals(schema: Schema) -> Schema:
    """The same attributes, none of them whole: audits and checks of people then speak about the reals."""
    attributes = (replace(one, integer=False) if isinstance(one, Numeric) else one for one in schema.attributes)
    return replace(schema, attributes=tuple(attributes))


def similarity_over_reals(row: str, data: Dataset) -> Similarity:
    """φ of a row over the reals, with the scales and ranks of training people."""
    schema = over_reals(data.schema)
    return Similarity.ready(row, schema, Encoding.fit(data.train.X, schema))


def draw(people: int, most: int, seed: int) -> NDArray[np.intp]:
    """Rows of everybody, or of as many at random."""
    if people <= most:
        return np.arange(people)
    return np.sort(np.random.default_rng(seed).permutation(people)[:most])
