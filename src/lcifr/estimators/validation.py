"""Checks of estimators' inputs, and their flat parameters as settings of training."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lcifr.data import Encoding, Individuals, Numeric, Schema
from lcifr.errors import LearningError, did_you_mean
from lcifr.learn.parameters import (
    BoosterParameters,
    BoostingSettings,
    EncoderSettings,
    ObjectiveParameters,
    Schedule,
    TrainingMethod,
)
from lcifr.learn.target import Target
from lcifr.models.rule import Kind
from lcifr.phi.similarity import Similarity, ready_names

# Validation of estimator inputs: tables, matrices, labels, schemas and formulas.


@dataclass(frozen=True)
class LabelledPeople:
    """People with their labels (people,); None where nothing is predicted."""

    people: Individuals
    labels: NDArray[Any] | None

    def take(self, rows: NDArray[Any]) -> LabelledPeople:
        return LabelledPeople(self.people.take(rows), None if self.labels is None else self.labels[rows])


def is_table(X: Any) -> bool:
    """Whether ``X`` has named columns; everything else is a plain matrix."""
    return isinstance(X, str | Path | Individuals | pa.Table | pa.RecordBatch) or hasattr(X, "columns")


def matrix_schema(width: int) -> Schema:
    """The schema of a plain matrix: numbers named x0, x1, …"""
    return Schema(tuple(Numeric(f"x{column}") for column in range(width)))


def validate_people(estimator: Any, X: Any, schema: Schema | None, *, fitting: bool) -> Individuals:
    """Validate ``X``. A plain matrix is checked by scikit-learn and has the schema of :func:`matrix_schema`."""
    if is_table(X):
        people = Individuals.read(X, schema if schema is not None else Schema.infer(X), fitting=fitting)
        if fitting:  # as scikit-learn's validate_data notes them for a matrix
            estimator.n_features_in_ = len(people.schema)
            estimator.feature_names_in_ = np.array(people.schema.names, dtype=object)
        return people
    from sklearn.utils.validation import validate_data

    least = 2 if fitting else 1
    values = validate_data(estimator, X, reset=fitting, dtype=np.float64, ensure_min_samples=least)
    if schema is None:
        schema = matrix_schema(values.shape[1])
    if schema.categorical or len(schema) != values.shape[1]:
        raise LearningError(
            f"a matrix of {values.shape[1]} columns cannot be read with a schema of {len(schema)} attributes, "
            f"{len(schema.categorical)} of them categorical",
            fix="give a table with named columns",
        )
    return Individuals(schema, values, np.zeros((len(values), 0), np.int32))


def resolve_schema(schema: Any) -> Schema | None:
    """A schema, or the path of its file; None where it is to be inferred."""
    if schema is None or isinstance(schema, Schema):
        return schema
    if isinstance(schema, str | Path):
        return Schema.load(schema)
    raise LearningError(
        f"schema is {type(schema).__name__}", fix="give a Schema, the path of its .toml file, or None to infer one"
    )


def resolve_similarity(similarity: Any, schema: Schema, encoding: Encoding) -> Similarity:
    """A formula's text, the path of a ``.phi`` file, the name of a ready formula, or a similarity."""
    if isinstance(similarity, Similarity):
        return similarity
    if isinstance(similarity, Path) or (isinstance(similarity, str) and similarity.endswith(".phi")):
        return Similarity.load(similarity, schema, encoding)
    if not isinstance(similarity, str):
        raise LearningError(
            f"similarity is {type(similarity).__name__}",
            fix="give a formula's text, a .phi path, the name of a ready formula, or a Similarity",
        )
    if similarity in ready_names():
        return Similarity.ready(similarity, schema, encoding)
    return Similarity(similarity, schema, encoding)


def validate_labels(y: Any, people: int) -> NDArray[Any]:
    """(people,) labels, checked as scikit-learn checks them: one column, none missing, as many as people."""
    from sklearn.utils import column_or_1d
    from sklearn.utils.validation import assert_all_finite

    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f" or labels.dtype == object:
        assert_all_finite(labels)
    if len(labels) != people:
        raise LearningError(f"{people} people and {len(labels)} labels", fix="give one label for each person")
    return np.asarray(labels)


def split_training(
    encoder: Any, given: LabelledPeople, validation: tuple[Any, Any] | None, seed: int
) -> tuple[LabelledPeople, LabelledPeople]:
    """People to train on and people for early stopping: those of ``validation``, or a share of the ``given``."""
    if validation is not None:
        held = validate_people(encoder, validation[0], given.people.schema, fitting=False)
        return given, LabelledPeople(held, None if given.labels is None else validate_labels(validation[1], len(held)))
    classes = given.labels if encoder.target_ is not None and len(encoder.target_.classes) else None
    rows, held_out = split_rows(len(given.people), encoder.validation_fraction, classes, seed)
    return given.take(rows), given.take(held_out)


def split_rows(people: int, share: float, labels: NDArray[Any] | None, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows to learn from and rows to validate on; classes in equal shares where there are enough of each."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(people)
    held = round(share * people)
    if not 0 <= share < 1:
        raise LearningError(f"validation_fraction={share!r}", fix="give a share between 0 and 1")
    if held < 1 or people - held < 2:
        return rows, rows
    counts = np.unique(labels, return_counts=True)[1] if labels is not None else np.array([])
    even = len(counts) > 1 and counts.min() >= 2 and len(counts) <= min(held, people - held)
    train, validation = train_test_split(rows, test_size=held, random_state=seed, stratify=labels if even else None)
    return train, validation


# Conversion of estimators' flat parameters to training settings.


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
        **{one.name: getattr(encoder, one.name) for one in fields(ObjectiveParameters)},
        method=TrainingMethod(encoder.method),
        delta=encoder.delta,
        tied=tuple(encoder.encoding_.columns(name) for name in unread_attributes(encoder)),
        tolerance=encoder.tolerance,
        device=encoder.device,
    )


def boosting_settings(booster: Any, target: Target) -> BoostingSettings:
    """The boosting settings of a booster whose schema and φ are known."""
    return BoostingSettings(
        **{one.name: getattr(booster, one.name) for one in fields(BoosterParameters)},
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
