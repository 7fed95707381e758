"""Fitted scikit-learn estimators and pipelines on the raw columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np

from lcifr.data import Encoding
from lcifr.errors import NetworkError, did_you_mean
from lcifr.models.chain import chain_of
from lcifr.models.columns import Block, Dtype, RawColumn, encoding_of, inputs_of
from lcifr.models.sklearn.fitted import FittedModel, reads_the_table
from lcifr.models.sklearn.mixtures import Mixture
from lcifr.models.sklearn.preprocessing import Columns, as_mixture, read_preprocessing
from lcifr.models.sklearn.thresholds import inner_estimator, innermost, read_decision
from lcifr.models.sklearn.tree_thresholds import read_wrapped_trees, wraps_trees
from lcifr.models.table_model import PositionalColumns, TableModel
from lcifr.models.trees.lightgbm import LIGHTGBM, is_of_lightgbm
from lcifr.models.trees.tables import made_up_names, read_tree_table


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
    _check_fitted(model)
    names = _names(model, table, encoding)
    columns: Columns = tuple(RawColumn(encoding.schema[name], _dtype(table[name])) for name in names)
    for name, step in preprocessing_of(model):
        columns = read_preprocessing(step, columns, f'step "{name}"')
    if wraps_trees(model):
        source = read_wrapped_trees(model)
        read = read_tree_table(model, innermost(model), source, without_mixtures(columns), table, names, encoding)
        return replace(read, positional=_positional(model, names))
    numbers = as_mixture(columns, type(model).__name__)
    decision = read_decision(model, numbers.behind.dtype)
    if decision.function.inputs != numbers.behind.width:
        raise NetworkError(
            f"the model takes {decision.function.inputs} numbers, its preprocessing gives {numbers.behind.width}"
        )
    fitted = FittedModel(model, tuple(names))
    return TableModel(
        encoding=encoding_of(numbers.block, encoding),
        inputs=inputs_of(numbers.block, encoding),
        model=replace(decision, function=chain_of((*numbers.behind.factors, *decision.factors))),
        predict=fitted.predict,
        table=table,
        runtime=f"scikit-learn {version('scikit-learn')}",
        library_outputs=fitted.outputs if fitted.has_outputs else None,
        predict_with_outputs=fitted.both if fitted.has_outputs else None,
        positional=_positional(model, names),
    )


def _check_fitted(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NetworkError(f"{type(model).__name__} is not fitted yet", fix="fit it first: model.fit(X, y)") from None
    except TypeError:
        raise NetworkError(f"{type(model).__name__} is no model of scikit-learn") from None


def preprocessing_of(model: Any) -> list[tuple[str, Any]]:
    """The steps before the decision, in their order, through pipelines and wrappers."""
    if type(model).__name__ == "Pipeline":
        return [*model.steps[:-1], *preprocessing_of(model.steps[-1][1])]
    inner = inner_estimator(model)
    return [] if inner is None else preprocessing_of(inner)


def without_mixtures(columns: Columns) -> tuple[RawColumn, ...] | Block:
    """Columns that read one attribute each, as trees need them."""
    if isinstance(columns, Mixture):
        raise NetworkError(
            "trees stand behind a step that mixes columns, such as PCA, so their splits are about no attribute",
            fix="leave that step out, and train the trees on the columns themselves",
        )
    return columns


def _names(model: Any, table: Any, encoding: Encoding) -> list[str]:
    """The columns that the model reads, in its order."""
    schema = encoding.schema
    first = reads_the_table(model)
    if _knows_names(first, [str(name) for name in table.columns]):
        names = [str(name) for name in first.feature_names_in_]
    else:
        names = [str(name) for name in table.columns if name != schema.target]
        if len(names) != first.n_features_in_:
            raise NetworkError(
                f"the model was fitted on {first.n_features_in_} columns without names, the table has {len(names)}",
                fix="fit it on a frame with column names, or give exactly its columns in their order",
            )
    unknown = [name for name in names if name not in schema]
    if unknown:
        raise NetworkError(
            f'the model reads the column "{unknown[0]}", which the schema does not know.'
            f"{did_you_mean(unknown[0], schema.names)}",
            fix="add it to the schema: Schema.infer(X) takes all columns",
        )
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise NetworkError(
            f'the model reads the column "{absent[0]}", which the table does not have.'
            f"{did_you_mean(absent[0], [str(name) for name in table.columns])}",
            fix="give the columns that the model was fitted on",
        )
    return names


def _knows_names(first: Any, columns: Sequence[str]) -> bool:
    """Whether it goes by the names of columns; LightGBM and interpret make names up where they are fitted without any.

    ``columns`` : of the table. If it has all the names that interpret made up, interpret goes by them after all.
    """
    if not hasattr(first, "feature_names_in_"):
        return False
    names = [str(name) for name in first.feature_names_in_]
    if type(first).__module__.startswith("interpret."):
        return names != made_up_names(len(names)) or set(names) <= set(columns)
    return not is_of_lightgbm(first) or names != [f"Column_{place}" for place in range(len(names))]


def _positional(model: Any, names: Sequence[str]) -> PositionalColumns | None:
    """The columns, where nothing that is asked for a decision compares their names with those at fit."""
    if not _knows_names(reads_the_table(model), names):
        return PositionalColumns("The model was fitted without column names. It reads its columns", tuple(names))
    does_nothing = [step is None or isinstance(step, str) or _passes(step) for _, step in preprocessing_of(model)]
    if is_of_lightgbm(innermost(model)) and all(does_nothing):
        return PositionalColumns(LIGHTGBM, tuple(names))
    return None


def _passes(step: Any) -> bool:
    return type(step).__name__ == "FunctionTransformer"


def _dtype(column: Any) -> Dtype:
    """How numpy holds the column: extension types of numbers become float64 in scikit-learn, texts are objects."""
    if isinstance(column.dtype, np.dtype):
        return column.dtype
    kind = getattr(column.dtype, "numpy_dtype", np.dtype(object))
    if kind in (np.float16, np.float32):
        raise NetworkError(f'column "{column.name}" is {column.dtype}', fix="use float64, or numpy's float32")
    return np.dtype(np.float64) if kind.kind in "fiub" else np.dtype(object)
