"""Preprocessing of scikit-learn, read column by column: ColumnTransformer, Pipeline, imputers, feature selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lcifr.data.frames import is_missing
from lcifr.errors import NetworkError
from lcifr.models.columns import Block, ConstantColumn, RawColumn, as_numbers, join_blocks
from lcifr.models.sklearn.categories import ENCODERS, read_encoder
from lcifr.models.sklearn.mixtures import (
    MIXERS,
    Mixture,
    join_mixtures,
    read_mixer,
    read_scaler_behind,
)
from lcifr.models.sklearn.scalers import SCALERS, read_scaler

Columns = tuple[RawColumn, ...] | Block | Mixture
"""Raw columns of the table, numbers that something was made of, or mixtures of such numbers."""

WORKS = (
    f"ColumnTransformer, Pipeline, {', '.join((*SCALERS, *ENCODERS, *MIXERS))}, SimpleImputer, passthrough, "
    "feature selection"
)


def read_preprocessing(transformer: Any, columns: Columns, where: str) -> Columns:
    """What a fitted transformer makes of the columns.

    Raises
    ------
    NetworkError
        For what cannot be followed exactly, with the name of the step.
    """
    name = type(transformer).__name__
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return columns
    if name == "FunctionTransformer" and transformer.func is None:  # how a ColumnTransformer keeps a passthrough
        return columns
    if not type(transformer).__module__.startswith("sklearn."):
        raise NetworkError(f"{where} is {name}, which is not of scikit-learn", fix=f"use {WORKS}")
    if name == "Pipeline":
        for step, one in transformer.steps:
            columns = read_preprocessing(one, columns, f'{where}, step "{step}"')
        return columns
    if name == "ColumnTransformer":
        return _column_transformer(transformer, columns, where)
    if name == "SimpleImputer":
        return _imputer(transformer, columns, where)
    if name in ENCODERS:
        if not isinstance(columns, tuple):
            raise NetworkError(f"{where} is {name} behind another transformer", fix="encode the table's own columns")
        return read_encoder(transformer, columns, where)
    if name in MIXERS:
        mixed = as_mixture(columns, where)
        return Mixture(mixed.block, read_mixer(transformer, mixed.behind, where))
    if name in SCALERS:
        if isinstance(columns, Mixture):
            return Mixture(columns.block, read_scaler_behind(transformer, columns.behind, where))
        return read_scaler(transformer, as_numbers(columns, where), where)
    if type(transformer).__module__.startswith("sklearn.feature_selection."):
        return _take(columns, np.flatnonzero(transformer.get_support()).tolist())
    raise NetworkError(
        f"{where} is {name}, which is neither an exact program per column nor an affine map that can be read",
        fix=f"use {WORKS}",
    )


def as_mixture(columns: Columns, where: str) -> Mixture:
    """The columns as numbers, with the affine maps behind them, of which there may be none."""
    return columns if isinstance(columns, Mixture) else Mixture.of(as_numbers(columns, where))


def _take(columns: Columns, kept: Sequence[int]) -> Columns:
    if isinstance(columns, Mixture):
        return columns.take(kept)
    if isinstance(columns, Block):
        before = None if columns.before is None else tuple(columns.before[j] for j in kept)
        return Block(tuple(columns.columns[j] for j in kept), columns.dtype, columns.sparse, before)
    return tuple(columns[j] for j in kept)


def _imputer(imputer: Any, columns: Columns, where: str) -> Columns:
    """Where nothing is missing an imputer passes values on; rows with missing values are not audited."""
    if not is_missing(imputer.missing_values):
        raise NetworkError(
            f"{where} replaces {imputer.missing_values!r}, which is a value like others here",
            fix="mark missing values as NaN before, and impute those",
        )
    if any(is_missing(value) for value in imputer.statistics_):
        raise NetworkError(f"{where} drops a column in which everything was missing", fix="drop it before")
    marks = 0 if getattr(imputer, "indicator_", None) is None else len(imputer.indicator_.features_)
    if marks:
        indicators = Block((ConstantColumn(0.0),) * marks, np.dtype(np.bool_))
        if isinstance(columns, Mixture):
            return join_mixtures([columns, Mixture.of(indicators)])
        block = as_numbers(columns, where)
        return join_blocks([block, indicators], block.sparse)
    if not isinstance(columns, tuple) or imputer.strategy not in ("mean", "median"):
        return columns
    floats = [one if one.dtype.kind == "f" else RawColumn(one.attribute, np.dtype(np.float64)) for one in columns]
    return tuple(floats)


def _column_transformer(transformer: Any, columns: Columns, where: str) -> Block | Mixture:
    if transformer.transformer_weights:
        raise NetworkError(
            f"{where} multiplies its parts by transformer_weights, which are not read", fix="leave the weights out"
        )
    parts: list[Block | Mixture] = []
    for name, one, _ in transformer.transformers_:
        if isinstance(one, str) and one == "drop":
            continue
        indices = transformer._transformer_to_input_indices[name]
        if not len(indices):
            continue
        inside = f'{where}, transformer "{name}"'
        found = read_preprocessing(one, _take(columns, indices), inside)
        parts.append(found if isinstance(found, Mixture) else as_numbers(found, inside))
    if any(isinstance(part, Mixture) for part in parts):
        return join_mixtures(as_mixture(part, where) for part in parts)
    return join_blocks([part for part in parts if isinstance(part, Block)], transformer.sparse_output_)
