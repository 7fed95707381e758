"""Cells of boosters: fitted on training people, judged end to end by the closed form, cross-validated where asked for.

Certified is **end to end** in every figure: ``certified`` over the reals, ``end_to_end`` over whole numbers where the
schema says so, which are what the figures of networks are called on the ball and end to end.
"""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.cells import Cell
from experiments.folds import folds, means
from experiments.store import Found, Store
from experiments.verdicts import accuracies, share
from lcifr import FairBooster
from lcifr.data import Encoding, Numeric, Schema
from lcifr.datasets import Dataset, Split
from lcifr.phi.similarity import Similarity


def booster(cell: Cell, store: Store, data: Dataset) -> Found:
    """One setting: learned from training people, stopped by validation people.

    Where there is a weaker row, the same model is judged by its φ, too.
    """
    settings = cell.settings
    # φ's standard deviations and ranks are those of all training people, whichever people are learned from.
    encoding = Encoding.fit(data.train.X, data.schema)
    asked = [Similarity.ready(row, data.schema, encoding) for row in rows(settings)]
    near, checked = (_drawn(split, settings) for split in (data.train, data.validation))
    model = make(settings, asked[0]).fit(near.X, near.y, validation=(checked.X, checked.y))
    points = [
        {
            "training": seen(about, near),
            "validation": seen(about, data.validation),
            "test": exactly(about, data.test),
            "head": settings["reads"],
        }
        for about in (speaking_of(model, similarity) for similarity in asked)
    ]
    if settings["folds"]:
        points = [{**point, "crossed": means} for point, means in zip(points, crossed(settings, data), strict=True)]
    model.save(store.model_path(cell.name, "booster"))
    people = [len(near), len(data.validation), len(data.test)]
    found = {"points": points[:1], "people": people, "rounds": model.n_iter_, "unread": list(model.unread_)}
    return {**found, "weaker_points": points[1:]} if points[1:] else found


def rows(settings: dict[str, Any]) -> list[str]:
    """The row that a booster is learned for, and a weaker one in which it may be chosen."""
    return [settings[name] for name in ("row", "weaker") if name in settings]


def _drawn(split: Split, settings: dict[str, Any]) -> Split:
    """Everyone, or as many as the settings say."""
    drawn = draw(len(split), settings.get("learners", len(split)), settings.get("seed", 0))
    return Split(split.X.iloc[drawn], split.y.iloc[drawn])


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


def crossed(settings: dict[str, Any], data: Dataset) -> list[dict[str, float]]:
    """For each row means over folds of training and validation people, each judged by a model that has not seen it.

    Within a fold people to stop by are held out of those who are learned from; the fold's seed draws both.
    """
    figures: dict[str, list[dict[str, float]]] = {row: [] for row in rows(settings)}
    for fold in folds(data, settings["folds"]):
        model = make(settings, settings["row"], schema=data.schema, random_state=fold.seed)
        model.fit(fold.learned.X, np.asarray(fold.learned.y))
        for row, known in figures.items():
            similarity = Similarity.ready(row, model.schema_, model.encoding_)
            known.append(seen(speaking_of(model, similarity), fold.held_out))
    return [means(known) for known in figures.values()]


def speaking_of(booster: FairBooster, similarity: Similarity) -> FairBooster:
    """The same model about another φ, or over another universe of people, such as the reals."""
    other = copy.copy(booster)
    other.schema_, other.encoding_, other.similarity_ = similarity.schema, similarity.encoding, similarity
    return other


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
    """Rows of everyone, or of as many at random."""
    if people <= most:
        return np.arange(people)
    return np.sort(np.random.default_rng(seed).permutation(people)[:most])
