"""Fitted scikit-learn estimators and pipelines on the raw columns of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lcifr.data import Encoding, Feature
from lcifr.data.program import Program
from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.network import Network
from lcifr.models.sklearn.preprocessing import Columns, as_block, read_preprocessing
from lcifr.models.sklearn.symbolic import Block, ConstantColumn, Dtype, NumberColumn, RawColumn, TableColumn
from lcifr.models.sklearn.thresholds import inner_estimator, read_decision
from lcifr.models.table_model import TableModel


def read_sklearn_table(model: Any, table: Any, encoding: Encoding) -> TableModel:
    """A fitted estimator, alone or in a Pipeline, wrapped or not.

    Parameters
    ----------
    table : a pandas frame with the columns that the model was fitted on; its dtypes are part of the model's arithmetic.
    encoding : the schema, and the scales that φ speaks of.

    Raises
    ------
    NetworkError
        For what is not exactly representable, with the name of the step that stands in the way.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    names = _names(model, table, encoding)
    columns: Columns = tuple(RawColumn(encoding.schema[name], _dtype(table[name])) for name in names)
    for name, step in preprocessing_of(model):
        columns = read_preprocessing(step, columns, f'step "{name}"')
    block = as_block(columns, type(model).__name__).as_floats()
    decision = read_decision(model)
    if decision.network.inputs != len(block):
        raise NetworkError(f"the model takes {decision.network.inputs} numbers, its preprocessing gives {len(block)}")
    named = hasattr(model, "feature_names_in_")

    def predict(frame: Any) -> Any:
        chosen = frame[list(names)]
        return model.predict(chosen if named else chosen.to_numpy())

    return TableModel(_encoding(block, encoding), _inputs(block, encoding), decision, predict, table)


def preprocessing_of(model: Any) -> list[tuple[str, Any]]:
    """The steps before the decision, in their order, through pipelines and wrappers."""
    if type(model).__name__ == "Pipeline":
        return [*model.steps[:-1], *preprocessing_of(model.steps[-1][1])]
    inner = inner_estimator(model)
    return [] if inner is None else preprocessing_of(inner)


def _names(model: Any, table: Any, encoding: Encoding) -> list[str]:
    """The columns that the model reads, in its order."""
    schema = encoding.schema
    if hasattr(model, "feature_names_in_"):
        names = [str(name) for name in model.feature_names_in_]
    else:
        names = [str(name) for name in table.columns if name != schema.target]
        if len(names) != model.n_features_in_:
            raise NetworkError(
                f"the model was fitted on {model.n_features_in_} columns without names, the table has {len(names)}",
                fix="fit it on a frame with column names, or give exactly its columns in their order",
            )
    unknown = [name for name in names if name not in schema]
    if unknown:
        raise NetworkError(
            f'the model reads the column "{unknown[0]}", which the schema does not know.'
            f"{did_you_mean(unknown[0], schema.names)}",
            fix="add it to the schema: Schema.infer(X) takes all columns",
        )
    return names


def _dtype(column: Any) -> Dtype:
    """How numpy holds the column: extension types of numbers become float64 in scikit-learn, texts are objects."""
    if isinstance(column.dtype, np.dtype):
        return column.dtype
    kind = getattr(column.dtype, "numpy_dtype", np.dtype(object))
    if kind in (np.float16, np.float32):
        raise NetworkError(f'column "{column.name}" is {column.dtype}', fix="use float64, or numpy's float32")
    return np.dtype(np.float64) if kind.kind in "fiub" else np.dtype(object)


def _encoding(block: Block, encoding: Encoding) -> Encoding:
    """The model's programs; numbers that it does not read keep the own one."""
    programs: dict[str, Program] = {}
    outside = set()
    for column in block.columns:
        if isinstance(column, NumberColumn):
            if programs.setdefault(column.attribute, column.program) != column.program:
                raise NetworkError(
                    f'the model takes "{column.attribute}" twice, computed in two ways',
                    fix="give every number to one transformer",
                )
        elif isinstance(column, TableColumn):
            values = encoding.schema[column.attribute].values  # type: ignore[union-attr]
            missing = [value for value, entry in zip(values, column.values, strict=True) if entry is None]
            outside |= {Feature(column.attribute, value) for value in missing}
    own = dict(zip(encoding.schema.names_numeric, encoding.programs, strict=True))
    return replace(encoding, programs=tuple((own | programs).values()), outside=frozenset(outside))


def _inputs(block: Block, encoding: Encoding) -> Network:
    weight, bias = np.zeros((len(block), len(encoding.features))), np.zeros(len(block))
    for row, column in enumerate(block.columns):
        if isinstance(column, ConstantColumn):
            bias[row] = column.value
        elif isinstance(column, NumberColumn):
            weight[row, encoding.columns(column.attribute)] = 1.0
        else:
            weight[row, encoding.columns(column.attribute)] = [value or 0.0 for value in column.values]
    return Network.from_arrays([(weight, bias)])
