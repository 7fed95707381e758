"""Networks as the settings of a cell describe them: encoders, and the heads of their consumers."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.settings import DECAY, DELTA
from lcifr.datasets import Dataset, Split
from lcifr.estimators import FairEncoder, RobustClassifier

device: str | None = None
"""Where encoders are learned, set once by the runner; a cell made elsewhere than on the CPU says so."""


def fit(settings: dict[str, Any], data: Dataset) -> FairEncoder:
    """The encoder that the settings describe, learned."""
    encoder = make(settings, data.schema)
    return encoder.fit(data.train.X, data.train.y, validation=(data.validation.X, data.validation.y))


def make(settings: dict[str, Any], schema: Any) -> FairEncoder:
    """The encoder that the settings describe, not learned."""
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


def learn(settings: dict[str, Any], schema: Any, training: Split) -> tuple[FairEncoder, RobustClassifier]:
    """An encoder and its one head, learned and stopped by these people alone."""
    encoder = make(settings, schema).fit(training.X, training.y)
    near = encoder.reach(training.X)
    (head,) = heads_of(settings, near.latent, near.radius, training.y).values()
    return encoder, head


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
