"""Saving and loading of estimators without pickle and without training data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from lcifr.data import Encoding
from lcifr.errors import LearningError
from lcifr.estimators.input_validation import validate_people
from lcifr.learn.score import Degeneracy
from lcifr.learn.target import Target
from lcifr.learn.training_loop import Epoch, ValidationMetrics
from lcifr.models.storage import Stored, read, write
from lcifr.similarity.similarity import Similarity

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


def _arguments(saved: dict[str, Any]) -> dict[str, Any]:
    result = dict(saved)
    result["hidden"] = tuple(result["hidden"])
    if isinstance(result.get("class_weight"), list):
        result["class_weight"] = dict(result["class_weight"])
    return result


@contextmanager
def _consistent_file(path: str | Path) -> Iterator[None]:
    try:
        yield
    except LearningError:
        raise
    except (KeyError, TypeError, ValueError) as problem:
        raise LearningError(f"{path}: what it says of the model does not fit together: {problem!r}") from None


def _lines(history: tuple[Epoch, ...]) -> list[dict[str, Any]]:
    """The history as JSON, which has no NaN."""
    lines = [asdict(epoch) for epoch in history]
    for line in lines:
        line["validation"] = {name: None if math.isnan(value) else value for name, value in line["validation"].items()}
    return lines


def _history(lines: list[dict[str, Any]]) -> tuple[Epoch, ...]:
    def checked(values: dict[str, Any]) -> ValidationMetrics:
        return ValidationMetrics(**{name: math.nan if value is None else value for name, value in values.items()})

    return tuple(Epoch(**{**line, "validation": checked(line["validation"])}) for line in lines)


# -- the encoder -------------------------------------------------------------------------------------------------------


def write_encoder(encoder: Any, path: str | Path) -> None:
    """See :meth:`FairEncoder.save`."""
    similarity, target = encoder.similarity_, encoder.target_
    content = {
        "parameters": _parameters(encoder),
        "encoding": encoder.encoding_.to_dict(),
        "similarity": {"text": similarity.text, "source": similarity.source, "hash": similarity.hash},
        "target": None if target is None else target.to_dict(),
        "history": _lines(encoder.history_),
        "degeneracies": [asdict(one) for one in encoder.degeneracies_],
        "named": hasattr(encoder, "feature_names_in_"),
    }
    networks = {"encoder": encoder.network_, "head": encoder.head_, "decoder": encoder.decoder_}
    write(path, "FairEncoder", Stored(content, {name: net for name, net in networks.items() if net is not None}))


def read_encoder(cls: type[Any], path: str | Path, training: Any) -> Any:
    """See :meth:`FairEncoder.load`."""
    stored = read(path, "FairEncoder")
    with _consistent_file(path):
        return _rebuild_encoder(cls, stored, training)


def _rebuild_encoder(cls: type[Any], stored: Stored, training: Any) -> Any:
    content = stored.content
    encoding = Encoding.from_dict(content["encoding"])
    schema = encoding.schema
    formula = content["similarity"]
    encoder = cls(formula["text"], schema=schema, **_arguments(content["parameters"]))
    if training is not None:
        encoding = replace(encoding, training=validate_people(encoder, training, schema, fitting=True))
    encoder.n_features_in_ = len(schema)
    if content["named"]:
        encoder.feature_names_in_ = np.array(schema.names, dtype=object)
    encoder.schema_, encoder.encoding_ = schema, encoding
    encoder.similarity_ = Similarity(formula["text"], schema, encoding, source=formula["source"])
    if encoder.similarity_.hash != formula["hash"]:
        raise LearningError(
            "the formula does not mean what it meant when the model was saved", fix="give the same training table"
        )
    encoder.target_ = None if content["target"] is None else Target.from_dict(content["target"])
    encoder.network_ = stored.networks["encoder"]
    encoder.head_, encoder.decoder_ = stored.networks.get("head"), stored.networks.get("decoder")
    encoder.history_ = _history(content["history"])
    encoder.degeneracies_ = tuple(Degeneracy(**one) for one in content["degeneracies"])
    encoder._n_features_out = encoder.network_.outputs
    return encoder


# -- heads -------------------------------------------------------------------------------------------------------------


def write_head(head: Any, path: str | Path) -> None:
    """See :meth:`Head.save`."""
    content = {
        "parameters": _parameters(head),
        "target": Target.of_model(head.model_).to_dict(),
        "mean": head.model_.mean,
        "history": _lines(head.history_),
        "degeneracies": [asdict(one) for one in head.degeneracies_],
    }
    write(path, type(head).__name__, Stored(content, {"head": head.model_.network}))


def read_head(cls: type[Any], path: str | Path) -> Any:
    """See :meth:`Head.load`."""
    stored = read(path, cls.__name__)
    content = stored.content
    with _consistent_file(path):
        head = cls(**_arguments(content["parameters"]))
        network = stored.networks["head"]
        model = Target.from_dict(content["target"]).model(network, content["mean"])
        head._keep(model, _history(content["history"]))
        head.degeneracies_ = tuple(Degeneracy(**one) for one in content["degeneracies"])
        head.n_features_in_ = network.inputs
    return head
