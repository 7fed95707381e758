"""Preprocessing of scikit-learn, read column by column: ColumnTransformer, Pipeline, imputers, feature selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from lcifr.data.frames import is_missing
from lcifr.errors import NetworkError
from lcifr.models.sklearn.categories import ENCODERS, read_encoder
from lcifr.models.sklearn.scalers import SCALERS, read_scaler
from lcifr.models.sklearn.symbolic import Block, ConstantColumn, RawColumn, as_numbers, join_blocks

Columns = tuple[RawColumn, ...] | Block
"""Raw columns of the table, or numbers that something was made of."""

WORKS = (
    f"ColumnTransformer, Pipeline, {', '.join((*SCALERS, *ENCODERS))}, SimpleImputer, passthrough, feature selection"
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
        if isinstance(columns, Block):
            raise NetworkError(f"{where} is {name} behind another transformer", fix="encode the table's own columns")
        return read_encoder(transformer, columns, where)
    if name in SCALERS:
        return read_scaler(transformer, as_block(columns, where), where)
    if type(transformer).__module__.startswith("sklearn.feature_selection."):
        return _selection(transformer, columns)
    raise NetworkError(f"{where} is {name}, which is no exact program per column that can be read", fix=f"use {WORKS}")


def as_block(columns: Columns, where: str) -> Block:
    """The columns as numbers."""
    return columns if isinstance(columns, Block) else as_numbers(columns, where)


def _selection(selector: Any, columns: Columns) -> Columns:
    kept = np.flatnonzero(selector.get_support())
    if isinstance(columns, Block):
        return Block(tuple(columns.columns[j] for j in kept), columns.dtype, columns.sparse)
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
        block = as_block(columns, where)
        return join_blocks([block, Block((ConstantColumn(0.0),) * marks)], block.sparse)
    if isinstance(columns, Block) or imputer.strategy not in ("mean", "median"):
        return columns
    floats = [one if one.dtype.kind == "f" else RawColumn(one.attribute, np.dtype(np.float64)) for one in columns]
    return tuple(floats)


def _column_transformer(transformer: Any, columns: Columns, where: str) -> Block:
    blocks = []
    for name, one, _ in transformer.transformers_:
        if isinstance(one, str) and one == "drop":
            continue
        indices = transformer._transformer_to_input_indices[name]
        if not len(indices):
            continue
        part = (
            Block(tuple(columns.columns[j] for j in indices), columns.dtype, columns.sparse)
            if isinstance(columns, Block)
            else tuple(columns[j] for j in indices)
        )
        inside = f'{where}, transformer "{name}"'
        blocks.append(as_block(read_preprocessing(one, part, inside), inside))
    return join_blocks(blocks, transformer.sparse_output_)
