"""Scalers of scikit-learn as programs: StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler.

Which constant is rounded to which format before which operation has changed between versions of scikit-learn, so what
is written here is compared with the fitted scaler itself, bit for bit, each time one is read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.columns import Block, Dtype

SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
Operations = list[tuple[Operation, NDArray[Any]]]


def read_scaler(scaler: Any, block: Block, where: str) -> Block:
    """The columns behind a fitted scaler."""
    block = block.as_floats()
    try:
        steps = _steps(scaler, block)
    except LcifrError as problem:
        raise NetworkError(f"{where} cannot be followed exactly: {problem}") from None
    _compare(scaler, steps, block, where)
    return block.stepwise(steps, where)


def scaler_operations(scaler: Any, block: Block, where: str) -> Operations:
    """What a fitted scaler does to columns of this dtype, in its order, compared with the scaler bit for bit."""
    try:
        _compare(scaler, _steps(scaler, block), block, where)
    except LcifrError as problem:
        raise NetworkError(f"{where} cannot be followed exactly: {problem}") from None
    return _operations(scaler, block)


def _steps(scaler: Any, block: Block) -> list[tuple[ProgramStep, ...]]:
    """For each column."""
    found: list[tuple[ProgramStep, ...]] = [() for _ in block.columns]
    for operation, constants in _operations(scaler, block):
        for j, constant in enumerate(np.broadcast_to(constants, (len(block), *constants.shape[1:]))):
            found[j] += _step(operation, np.atleast_1d(constant), block.dtype)
    return found


def _step(operation: Operation, constants: NDArray[Any], dtype: Dtype) -> tuple[ProgramStep, ...]:
    """An operation in place: computed in the wider of the two formats, then rounded to that of the array."""
    kind = StepFormat(np.result_type(dtype, constants.dtype).name)
    step = ProgramStep(operation, kind, tuple(float(constant) for constant in constants))
    back = (ProgramStep(Operation.CAST, StepFormat.FLOAT32),) if kind.value != dtype.name else ()
    return (step, *back)


def _operations(scaler: Any, block: Block) -> Operations:
    """What ``transform`` does, in its order: constants (columns,), for a clip (1, 2)."""
    name = type(scaler).__name__
    if name == "MinMaxScaler":
        found = [(Operation.MULTIPLY, scaler.scale_), (Operation.ADD, scaler.min_)]
        return found + _clip(scaler, scaler.feature_range, block.dtype)
    if name == "MaxAbsScaler":
        return [_divide(scaler.scale_, block), *_clip(scaler, (-1.0, 1.0), block.dtype)]
    if name == "RobustScaler":
        middle = [(Operation.SUBTRACT, scaler.center_)] if scaler.with_centering else []
        return middle + ([_divide(scaler.scale_, block)] if scaler.with_scaling else [])
    middle = [(Operation.SUBTRACT, scaler.mean_.astype(block.dtype))] if scaler.with_mean else []
    scale = None if scaler.scale_ is None else scaler.scale_ if block.sparse else scaler.scale_.astype(block.dtype)
    return middle + ([] if scale is None else [_divide(scale, block)])


def _divide(scale: NDArray[Any], block: Block) -> tuple[Operation, NDArray[Any]]:
    """What is sparse is multiplied by the inverse."""
    return (Operation.MULTIPLY, 1.0 / scale) if block.sparse else (Operation.DIVIDE, scale)


def _clip(scaler: Any, ends: tuple[float, float], dtype: Dtype) -> Operations:
    return [(Operation.CLIP, np.array([ends], dtype=dtype))] if getattr(scaler, "clip", False) else []


def _compare(scaler: Any, steps: list[tuple[ProgramStep, ...]], block: Block, where: str) -> None:
    """Refuse a scaler that computes other bits than the steps, on numbers around every constant."""
    centers = [[constant for step in column for constant in step.constants] or [1.0] for column in steps]
    probes = np.zeros((60, len(steps)))
    factors = np.concatenate([np.linspace(-3, 3, 40), 10.0 ** np.arange(-10, 10)])
    for j, around in enumerate(centers):
        probes[:, j] = factors * np.resize(around, 60) + np.resize(around[::-1], 60)
    rows = probes.astype(block.dtype)
    expected = scaler.transform(_sparse(rows) if block.sparse else named_rows(scaler, rows))
    computed = rows.astype(np.float64)
    for j, column in enumerate(steps):
        for step in column:
            computed[:, j] = step(computed[:, j])
    dense = np.asarray(expected.toarray() if block.sparse else expected)
    if not np.array_equal(dense.astype(np.float64), computed) or dense.dtype != block.dtype:
        import sklearn

        raise NetworkError(
            f"{where}: {type(scaler).__name__} of scikit-learn {sklearn.__version__} computes otherwise than expected",
            fix="use a version of scikit-learn that lcifr was tested with",
        )


def named_rows(transformer: Any, rows: NDArray[Any]) -> Any:
    """A copy, with the names that the transformer was fitted with: else it warns."""
    if not hasattr(transformer, "feature_names_in_"):
        return rows.copy()
    import pandas as pd

    return pd.DataFrame(rows.copy(), columns=transformer.feature_names_in_)


def _sparse(rows: NDArray[Any]) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(rows)
