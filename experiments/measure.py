"""What each kind of cell does: train, judge on validation and on the whole test set, and write figures down."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from experiments import confirm, networks, scaling
from experiments.cells import Cell
from experiments.families.crossing import cross_networks
from experiments.folds import folds, means
from experiments.networks import decay, fit, heads_of, learn, paper_head
from experiments.settings import TRANSFER
from experiments.store import Found, Store
from experiments.trees import boosters, gradient
from experiments.trees.confirm import confirm_trees
from experiments.verdicts import exactly, quick, seen
from lcifr import datasets
from lcifr.datasets import Dataset, Split
from lcifr.estimators import FairEncoder, RobustClassifier
from lcifr.learn.scores import DegenerateModelWarning


def measure(cell: Cell, store: Store) -> Found:
    """Compute one cell. The same cell gives the same figures on the same machine, times aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateModelWarning)  # the figures themselves say it
        start = time.process_time()
        found = KINDS[cell.kind](cell, store)
        where = {"learned_on": networks.device} if networks.device else {}
        return {**found, **where, "cpu_seconds": round(time.process_time() - start, 2)}


@lru_cache(maxsize=2)
def load(dataset: str, label: str | None = None) -> Dataset:
    return datasets.load(dataset, label=label)


def model(cell: Cell, store: Store) -> Found:
    """One encoder, its heads, and how each does."""
    settings = cell.settings
    data = load(settings["row"].split("/")[0])
    encoder = fit(settings, data)
    near = encoder.reach(data.train.X)
    points = []
    for name, head in heads_of(settings, near.latent, near.radius, data.train.y).items():
        judged = exactly(encoder, head, data.test)
        before = {"training": seen(encoder, head, data.train), "validation": seen(encoder, head, data.validation)}
        points.append({"head": name, **before, "test": judged.figures})
        head.save(store.model_path(cell.name, f"{name}.head"))
    encoder.save(store.model_path(cell.name, "encoder"))
    return {"points": points, **_about(encoder, data)}


def _about(encoder: FairEncoder, data: Dataset) -> Found:
    return {
        "people": [len(data.train), len(data.validation), len(data.test)],
        "epochs": len(encoder.history_),
        "degenerate": [one.name for one in encoder.degeneracies_],
    }


def transfer(cell: Cell, store: Store) -> Found:
    """An encoder trained with a decoder on one label, and a consumer for each of six."""
    data = load("health", "MSC2a3")  # its people come without the condition groups; the labels are read apart
    original = load_labels("charlson_index")
    settings = cell.settings
    trained = Dataset(data.source, data.schema, *(_with(s, y) for s, y in zip(_splits(data), original, strict=True)))
    encoder = fit(settings, trained)
    near = encoder.reach(data.train.X)
    found = {}
    for label in TRANSFER:
        labelled = [_with(split, y) for split, y in zip(_splits(data), load_labels(label), strict=True)]
        (head,) = heads_of(settings, near.latent, near.radius, labelled[0].y).values()
        found[label] = {
            "validation": quick(encoder, head, labelled[1]),
            "test": exactly(encoder, head, labelled[2]).figures,
            "positive": [round(100 * split.positive_rate, 1) for split in labelled],
        }
    return {"labels": found, **_about(encoder, trained)}


@lru_cache(maxsize=8)
def load_labels(label: str) -> tuple[Any, Any, Any]:
    """The labels of a transfer task for the three splits, which have the same people whatever the label."""
    name = {"charlson_index": None, "msc2a3": "MSC2a3"}.get(label, label.upper())
    data = datasets.load("health", label=name)
    return data.train.y, data.validation.y, data.test.y


def _splits(data: Dataset) -> tuple[Split, Split, Split]:
    return data.train, data.validation, data.test


def _with(split: Split, y: Any) -> Split:
    assert (split.X.index == y.index).all()
    return Split(split.X, y)


def consumer(cell: Cell, store: Store) -> Found:
    """What training the consumer against something gains: nothing, the paper's δ, each person's own radius."""
    settings = cell.settings
    data = load(settings["row"].split("/")[0])
    encoder = fit(settings, data)
    near, test = encoder.reach(data.train.X), encoder.reach(data.test.X)
    width, labels, penalty = tuple(settings["head_hidden"]), np.asarray(data.train.y), decay(near.latent)
    options = {"hidden": width, "epochs": 10, "batch_size": 1024, "random_state": settings["seed"]}
    trained = {
        "nothing": RobustClassifier(against="nothing", penalty=penalty, **options).fit(near.latent, labels),
        "delta": paper_head(near.latent, **options).fit(near.latent, labels),
        "radius": RobustClassifier(against="radius", penalty=penalty, **options).fit(
            near.latent, labels, radius=near.radius
        ),
    }
    found = {}
    for against, head in trained.items():
        figures = scaling.on_ball(encoder, head, data.test, test)
        found[against] = {"test": figures, "validation": quick(encoder, head, data.validation)}
    return {"against": found, **_about(encoder, data)}


def architecture(cell: Cell, store: Store) -> Found:
    """Variants of a network or schedule, cross-validated: test people take no part."""
    settings = cell.settings
    data = load(settings["row"].split("/")[0])
    found: Found = {}
    for name, changes in settings["variants"].items():
        figures = []
        for fold in folds(data, range(2)):
            options = {"hidden": [20], **settings["training"], **changes}
            tried = {**settings, "method": "bounds", "training": options, "seed": fold.seed, "heads": [1.0]}
            figures.append(quick(*learn(tried, data.schema, fold.learned), fold.held_out))
        found[name] = means(figures, digits=2)
    return {"variants": found}


def statistics(cell: Cell, store: Store) -> Found:
    """Sizes and shares of positive labels of the three splits; features after one-hot encoding."""
    from lcifr.data import Encoding

    data = load(cell.settings["dataset"])
    splits = [[len(split), round(100 * split.positive_rate, 1)] for split in _splits(data)]
    features = len(Encoding.fit(data.train.X, data.schema).features)
    return {"splits": splits, "features": features, "partial": data.partial}


def scale(cell: Cell, store: Store) -> Found:
    """A network ten times wider, relaxed and complete."""
    data = load(cell.settings["row"].split("/")[0])
    encoder = fit(cell.settings, data)
    near = encoder.reach(data.train.X)
    heads = heads_of({**cell.settings, "heads": [1.0]}, near.latent, near.radius, data.train.y)
    head = next(iter(heads.values()))
    return {**scaling.both_ways(encoder, head, data.test, cell.settings["people"]), **_about(encoder, data)}


def _of_row(work: Callable[[Cell, Store, Dataset], Found]) -> Callable[[Cell, Store], Found]:
    """What also takes the dataset of the cell's row."""
    return lambda cell, store: work(cell, store, load(cell.settings["row"].split("/")[0]))


OF_ROW = {
    "confirm": confirm.confirm,
    "booster": boosters.booster,
    "gradient": gradient.gradient,
    "confirm_trees": confirm_trees,
    "crossed": cross_networks,
}
KINDS = {
    "model": model,
    "transfer": transfer,
    "consumer": consumer,
    "statistics": statistics,
    "architecture": architecture,
    "scaling": scale,
    **{kind: _of_row(work) for kind, work in OF_ROW.items()},
}
