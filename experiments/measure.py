"""What each kind of cell does: train, judge on validation and on the whole test set, and write figures down."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from experiments import confirm, scaling
from experiments.cells import Cell
from experiments.settings import DECAY, DELTA, TRANSFER
from experiments.store import Found, Store
from experiments.trees import boosters, gradient
from experiments.trees.confirm import confirm_trees
from experiments.verdicts import exactly, quick, seen
from lcifr import datasets
from lcifr.datasets import Dataset, Split
from lcifr.estimators import FairEncoder, RobustClassifier
from lcifr.learn.score import DegenerateModelWarning

device: str | None = None
"""Where encoders are learned, set once by the runner; a cell made elsewhere than on the CPU says so."""


def measure(cell: Cell, store: Store) -> Found:
    """Compute one cell. The same cell gives the same figures on the same machine, times aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateModelWarning)  # the figures themselves say it
        start = time.process_time()
        found = KINDS[cell.kind](cell, store)
        where = {"learned_on": device} if device else {}
        return {**found, **where, "cpu_seconds": round(time.process_time() - start, 2)}


@lru_cache(maxsize=2)
def load(dataset: str, label: str | None = None) -> Dataset:
    return datasets.load(dataset, label=label)


def fit(settings: dict[str, Any], data: Dataset) -> FairEncoder:
    """The encoder that the settings describe, learned."""
    encoder = _encoder(settings, data.schema)
    return encoder.fit(data.train.X, data.train.y, validation=(data.validation.X, data.validation.y))


def _encoder(settings: dict[str, Any], schema: Any) -> FairEncoder:
    options = {**settings["training"], "hidden": tuple(settings["training"]["hidden"])}
    return FairEncoder(
        settings["row"],
        schema=schema,
        method="dl2" if settings["method"] == "dl2" else "bounds",
        gamma=settings["gamma"],
        random_state=settings["seed"],
        device=device,
        **options,
    )


def heads_of(settings: dict[str, Any], latent: Any, radius: Any, y: Any) -> dict[str, RobustClassifier]:
    """The consumer's heads, trained from (z, ε, y) alone: plain, the paper's, or one for each weight."""
    method, labels, penalty = settings["method"], np.asarray(y), decay(latent)
    if method in ("plain", "unaware") or settings["gamma"] == 0:
        return {"plain": RobustClassifier(against="nothing", penalty=penalty).fit(latent, labels)}
    if method == "dl2":
        return {"delta": paper_head(latent).fit(latent, labels)}
    made = {f"{weight:g}": RobustClassifier(gamma=weight, penalty=penalty) for weight in settings["heads"]}
    return {name: head.fit(latent, labels, radius=radius) for name, head in made.items()}


def paper_head(latent: Any, **changes: Any) -> RobustClassifier:
    """The paper's consumer: only the attacked loss counts, within one δ, and the weights decay."""
    return RobustClassifier(against="delta", delta=DELTA, gamma=1e9, penalty=decay(latent), **changes)


def decay(latent: Any) -> float:
    """The paper's weight decay, which in Adam is a penalty of half of it, for weights in units of z's own spread."""
    spread = max(float(latent.std(0, ddof=1).mean()), 1e-6)
    return DECAY / 2 / spread**2


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
    import pandas as pd
    from sklearn.model_selection import StratifiedKFold

    settings = cell.settings
    data = load(settings["row"].split("/")[0])
    X, y = pd.concat([data.train.X, data.validation.X]), np.concatenate([data.train.y, data.validation.y])
    found: Found = {}
    for name, changes in settings["variants"].items():
        figures = []
        for repeat in range(2):
            for rows, others in StratifiedKFold(5, shuffle=True, random_state=repeat).split(X, y):
                options = {"hidden": [20], **settings["training"], **changes}
                tried = {**settings, "method": "bounds", "training": options, "seed": repeat, "heads": [1.0]}
                fold = Split(X.iloc[others], pd.Series(y[others]))
                figures.append(_cross(tried, data.schema, (X.iloc[rows], y[rows]), fold))
        error = round(float(np.std([one["accuracy"] for one in figures])) / len(figures) ** 0.5, 2)
        means = {key: round(float(np.mean([one[key] for one in figures])), 2) for key in figures[0]}
        found[name] = {**means, "error": error}
    return {"variants": found}


def _cross(settings: dict[str, Any], schema: Any, training: tuple[Any, Any], others: Split) -> dict[str, float]:
    """One fold: learned from the one, judged on the others."""
    encoder = _encoder(settings, schema).fit(*training)
    near = encoder.reach(training[0])
    (head,) = heads_of(settings, near.latent, near.radius, training[1]).values()
    return quick(encoder, head, others)


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
