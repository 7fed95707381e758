"""Conversion of estimators' flat parameters to training settings."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from lcifr.errors import LearningError, did_you_mean
from lcifr.learn.encoder_training import EncoderSettings, TrainingMethod
from lcifr.learn.target import Target
from lcifr.learn.training_loop import Schedule
from lcifr.learn.trees.boosting_settings import BoostingSettings
from lcifr.models.rule import Kind


def seed_of(random_state: Any) -> int:
    """An integer seed from what scikit-learn calls a random state."""
    from sklearn.utils import check_random_state

    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def schedule_of(estimator: Any, seed: int) -> Schedule:
    """The training schedule, from the estimator's own parameters: scikit-learn wants them flat."""
    names = [one.name for one in fields(Schedule) if one.name != "seed"]
    return Schedule(**{name: getattr(estimator, name) for name in names}, seed=seed)


def unread_attributes(encoder: Any) -> tuple[str, ...]:
    """The attributes that z must not depend on: those that φ leaves free, with ``tie_free``."""
    return encoder.similarity_.free_attributes if encoder.tie_free else ()


def encoder_settings(encoder: Any) -> EncoderSettings:
    """The training settings of a :class:`FairEncoder` whose schema and φ are known."""
    if encoder.method not in list(TrainingMethod):
        raise LearningError(f"method={encoder.method!r} is unknown", fix='use "bounds" or "dl2"')
    if not (encoder.stretch > 0 and np.isfinite(encoder.stretch)):
        raise LearningError(
            f"stretch={encoder.stretch!r} is not a valid factor", fix="use a positive number; 1 is the proved radius"
        )
    return EncoderSettings(
        hidden=tuple(encoder.hidden),
        latent=encoder.latent_dim,
        method=TrainingMethod(encoder.method),
        gamma=encoder.gamma,
        delta=encoder.delta,
        stretch=encoder.stretch,
        decoder_weight=encoder.decoder_weight,
        tied=tuple(encoder.encoding_.columns(name) for name in unread_attributes(encoder)),
        tolerance=encoder.tolerance,
        device=encoder.device,
    )


def boosting_settings(booster: Any, target: Target) -> BoostingSettings:
    """The boosting settings of a booster whose schema and φ are known."""
    return BoostingSettings(
        rounds=booster.rounds,
        learning_rate=booster.learning_rate,
        gamma=booster.gamma,
        stretch=booster.stretch,
        penalty=booster.penalty,
        min_people=booster.min_people,
        max_bins=booster.max_bins,
        patience=booster.patience,
        subsample=booster.subsample,
        interactions=booster.interactions,
        depth=booster.depth,
        bags=booster.bags,
        monotone=_monotone(booster, target),
        unread=unread_attributes(booster),
        tolerance=booster.tolerance,
        seed=seed_of(booster.random_state),
        verbose=booster.verbose,
    )


def _monotone(booster: Any, target: Target) -> dict[str, int]:
    wanted = dict(booster.monotone or {})
    if wanted and target.kind is Kind.CLASS:
        raise LearningError(
            f"monotone={wanted!r}, and there are {target.outputs} classes, which have no direction",
            fix="leave it out, or predict two classes or a number",
        )
    numbers = booster.schema_.names_numeric
    for name, way in wanted.items():
        if name not in numbers or way not in (-1, 0, 1):
            raise LearningError(
                f"monotone={{{name!r}: {way!r}}}: a number may rise (1) or fall (-1).{did_you_mean(name, numbers)}",
                fix=f"name numeric attributes, such as {', '.join(map(repr, numbers[:3]))}",
            )
    return wanted
