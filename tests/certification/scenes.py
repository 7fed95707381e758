"""Small scenes for certificates: people, a formula, an encoder and a model, all generated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from lcifr.certification.handover import FrozenEncoder
from lcifr.data import Categorical, Encoding, Numeric, Schema
from lcifr.models.network import Network
from lcifr.phi.similarity import Similarity
from tests.phi.worlds import World
from tests.prove.instances import random_network

SCHEMA = Schema(
    (
        Numeric("age", integer=True, lower=18, upper=90),
        Numeric("income", lower=0, upper=90),  # ranks alone leave the richest without an upper bound
        Categorical("sex", ("female", "male")),
        Categorical("job", ("none", "clerk", "nurse")),
    )
)
FORMULAS = (
    "same(job) and age within 2 and income within 0.3 sd",
    "same(all except sex)",
    "same(categorical) and income within 1 and (age' >= age and age' <= age + 5 or age' = 40)",
    "same(job) and age within 5 and income within 4 and income' + age' <= income + age + 1",
    "age' = age and income within 2 and sex' != sex",  # false on (x, x)
    "age' = age and income within 2 and age > 200",  # nobody is similar
    'same(job) and age within 40 and |rank(income\' by sex\' = "male") - rank(income by sex = "male")| < 3',
)


def people(count: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 91, count),
            "income": np.round(rng.normal(30, 8, count), 1),
            "sex": rng.choice(["female", "male"], count),
            "job": rng.choice(["none", "clerk", "nurse"], count),
        }
    )


@dataclass(frozen=True)
class Scene:
    """An encoder, a model on its latents, and the people they are about."""

    encoder: FrozenEncoder
    model: Network
    people: Any


def similarity(formula: str, seed: int = 0) -> Similarity:
    return Similarity(formula, SCHEMA, Encoding.fit(people(30, seed), SCHEMA))


def scene(
    seed: int, formula: str | None = None, *, count: int = 6, outputs: int = 1, depth: int | None = None
) -> Scene:
    """Shapes and formula by the seed: encoders with one or two hidden layers, linear and ReLU models."""
    rng = np.random.default_rng(seed)
    similar = similarity(formula or FORMULAS[seed % len(FORMULAS)])
    features, latent = len(similar.encoding.features), int(rng.integers(1, 4))
    hidden = [[4], [3, 3]][rng.integers(2)]
    deep = [[], [3]][rng.integers(2) if depth is None else depth]
    encoder = random_network(rng, [features, *hidden, latent], coarse=bool(rng.random() < 0.3))
    return Scene(
        FrozenEncoder(encoder, similar), random_network(rng, [latent, *deep, outputs]), people(count, seed + 1000)
    )


def scene_of(world: World, seed: int, outputs: int = 1) -> Scene:
    """A random encoder and model in a generated world."""
    rng = np.random.default_rng(seed)
    similar = world.similarity
    encoder = random_network(rng, [len(similar.encoding.features), 4, 2], coarse=bool(seed % 2))
    return Scene(
        FrozenEncoder(encoder, similar), random_network(rng, [2, *([3] if seed % 3 else []), outputs]), world.tables[0]
    )


def thin(here: Scene, seed: int) -> Scene:
    """The same scene with a head that takes the differences of large numbers, so that rounding matters."""
    rng = np.random.default_rng(seed)
    width = here.encoder.network.outputs
    large = 2.0 ** rng.integers(4, 14)
    weight = rng.normal(size=(3, width))
    last = np.array([[1.0, -1.0, 1.0]])
    first = (np.concatenate([weight, weight + rng.normal(size=(3, width)) * 0.1]), np.full(6, large))
    head = Network.from_arrays([first, (np.concatenate([last, -last], axis=1), rng.normal(size=1) * 0.1)])
    return replace(here, model=head)
