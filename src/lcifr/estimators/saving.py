"""Estimators as saved models and back: parameters as plain values, and the history of training."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.certification.saved_models import SavedBooster, SavedEncoder, SavedHead, consistent_file, read_kind
from lcifr.data import Individuals, Schema
from lcifr.estimators.validation import validate_people
from lcifr.learn.history import Epoch, ValidationMetrics
from lcifr.learn.target import Target

NOT_SAVED = ("similarity", "schema", "device", "verbose", "random_state")


def _parameters(estimator: Any) -> dict[str, Any]:
    """The constructor's arguments as plain values; those that are objects are rebuilt from what was fitted."""
    kept = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NOT_SAVED}
    weight = kept.get("class_weight")
    if isinstance(weight, dict):  # JSON has text keys only
        kept["class_weight"] = [[_plain(name), float(value)] for name, value in weight.items()]
    seed = estimator.random_state
    return {name: _plain(value) for name, value in kept.items()} | {
        "random_state": int(seed) if isinstance(seed, int | np.integer) else None
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def _arguments(saved: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(saved)
    if "hidden" in result:
        result["hidden"] = tuple(result["hidden"])
    if isinstance(result.get("class_weight"), list):
        result["class_weight"] = dict(result["class_weight"])
    return result


def _lines(history: tuple[Epoch, ...]) -> tuple[dict[str, Any], ...]:
    """The history as JSON, which has no NaN."""
    lines = tuple(asdict(epoch) for epoch in history)
    for line in lines:
        line["validation"] = {name: None if math.isnan(value) else value for name, value in line["validation"].items()}
    return lines


def _history(lines: tuple[Mapping[str, Any], ...]) -> tuple[Epoch, ...]:
    def checked(values: dict[str, Any]) -> ValidationMetrics:
        return ValidationMetrics(**{name: math.nan if value is None else value for name, value in values.items()})

    return tuple(Epoch(**{**line, "validation": checked(line["validation"])}) for line in lines)


def write_encoder(encoder: Any, path: str | Path) -> None:
    """See :meth:`FairEncoder.save`."""
    SavedEncoder(
        network=encoder.network_,
        head=encoder.head_,
        decoder=encoder.decoder_,
        similarity=encoder.similarity_,
        target=encoder.target_,
        parameters=_parameters(encoder),
        history=_lines(encoder.history_),
        degeneracies=tuple(encoder.degeneracies_),
        named=hasattr(encoder, "feature_names_in_"),
    ).write(path)


def _reader(cls: type[Any], training: Any) -> Callable[[Schema], Individuals] | None:
    """What reads the training people, where there are some."""
    if training is None:
        return None
    return lambda schema: validate_people(cls("", schema=schema), training, schema, fitting=True)


def read_encoder(cls: type[Any], path: str | Path, training: Any) -> Any:
    """See :meth:`FairEncoder.load`."""
    saved = SavedEncoder.read(path, _reader(cls, training))
    with consistent_file(path):
        encoder, target = _unfitted(cls, saved), saved.target
        encoder.target_ = None if target is None else Target(target.kind, target.classes)
        encoder.network_ = saved.network
        encoder.head_, encoder.decoder_ = saved.head, saved.decoder
        encoder.history_, encoder.degeneracies_ = _history(saved.history), saved.degeneracies
        encoder._n_features_out = saved.network.outputs
        return encoder


def _unfitted(cls: type[Any], saved: SavedEncoder | SavedBooster) -> Any:
    """An estimator with the parameters, φ and scales of a saved one, and nothing learned."""
    similarity = saved.similarity
    estimator = cls(similarity.text, schema=similarity.schema, **_arguments(saved.parameters))
    estimator.n_features_in_ = len(similarity.schema)
    if saved.named:
        estimator.feature_names_in_ = np.array(similarity.schema.names, dtype=object)
    estimator.schema_, estimator.encoding_ = similarity.schema, similarity.encoding
    estimator.similarity_ = similarity
    return estimator


def write_booster(booster: Any, path: str | Path) -> None:
    """See :meth:`FairBooster.save`."""
    SavedBooster(
        kind=type(booster).__name__,
        additive=booster.additive_,
        similarity=booster.similarity_,
        target=booster.target_,
        parameters=_parameters(booster),
        history=_lines(booster.history_),
        degeneracies=tuple(booster.degeneracies_),
        named=hasattr(booster, "feature_names_in_"),
    ).write(path)


def read_booster(cls: type[Any], path: str | Path, training: Any) -> Any:
    """See :meth:`FairBooster.load`."""
    saved = SavedBooster.read(path, cls.__name__, _reader(cls, training))
    with consistent_file(path):
        booster = _unfitted(cls, saved)
        booster._keep(saved.target, saved.additive, _history(saved.history))
        booster.degeneracies_ = saved.degeneracies
        return booster


def write_head(head: Any, path: str | Path) -> None:
    """See :meth:`Head.save`."""
    SavedHead(
        kind=type(head).__name__,
        model=head.model_,
        parameters=_parameters(head),
        history=_lines(head.history_),
        degeneracies=tuple(head.degeneracies_),
    ).write(path)


def read_head(cls: type[Any], path: str | Path) -> Any:
    """See :meth:`Head.load`."""
    saved = SavedHead.read(path, cls.__name__)
    with consistent_file(path):
        head = cls(**_arguments(saved.parameters))
        head._keep(saved.model, _history(saved.history))
        head.degeneracies_ = saved.degeneracies
        head.n_features_in_ = saved.model.network.inputs
        return head


def load_producer(path: str | Path, *, training: Any = None) -> Any:
    """The encoder or booster in a file, whichever it is; ``training`` as for their ``load``."""
    from lcifr import estimators

    kind = read_kind(path)  # an encoder needs torch, a booster does not
    name = kind if kind in ("FairBooster", "FairBoosterRegressor") else "FairEncoder"
    return getattr(estimators, name).load(path, training=training)
