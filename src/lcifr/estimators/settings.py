"""Conversion of estimators' flat parameters to training settings."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from lcifr.errors import LearningError
from lcifr.learn.encoder_training import EncoderSettings, TrainingMethod
from lcifr.learn.training_loop import Schedule


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
        raise LearningError(f"method={encoder.method!r} is unknown", fix='say "bounds" or "dl2"')
    if not (encoder.stretch > 0 and np.isfinite(encoder.stretch)):
        raise LearningError(
            f"stretch={encoder.stretch!r} is no factor", fix="say a positive number; 1 is the proved radius"
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
