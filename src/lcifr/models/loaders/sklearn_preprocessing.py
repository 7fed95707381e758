"""Reads scikit-learn preprocessing as programs, tables and factors: encoders, scalers, PCA, column transformers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data import Categorical
from lcifr.data.frames import is_missing, text_of
from lcifr.data.program import Operation, ProgramStep, StepFormat
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.columns import (
    Block,
    ConstantColumn,
    Dtype,
    RawColumn,
    TableColumn,
    as_numbers,
    join_blocks,
    runtime_of,
)
from lcifr.models.network import Network, evaluate

# OneHotEncoder and OrdinalEncoder of scikit-learn as tables from category to number.
#
# Dropped columns, infrequent categories and unknown ones are entries of the table like any other. A category at which
# the encoder raises has no entry.

ENCODERS = ("OneHotEncoder", "OrdinalEncoder")


def read_encoder(encoder: Any, raw: tuple[RawColumn, ...], where: str) -> Block:
    """The columns that a fitted encoder makes of categories."""
    one_hot = type(encoder).__name__ == "OneHotEncoder"
    read = _one_hot if one_hot else _ordinal
    columns = [column for place, one in enumerate(raw) for column in read(_coded(encoder, place, one, where))]
    dtype = np.dtype(encoder.dtype)
    if dtype.kind == "f" and dtype not in (np.float32, np.float64):
        raise NetworkError(f"{where}: dtype={dtype} is not float32 or float64")
    return Block(tuple(columns), dtype, one_hot and encoder.sparse_output)


@dataclass(frozen=True)
class _Coded:
    """One column of an encoder.

    Parameters
    ----------
    numbers : one for each category that the encoder knows; infrequent categories share the last number.
    infrequent : that number, if there are any. indices : of the schema's values among the categories, None if unknown.
    """

    encoder: Any
    place: int
    attribute: Categorical
    numbers: tuple[int, ...]
    infrequent: int | None
    indices: tuple[int | None, ...]
    where: str

    @property
    def groups(self) -> list[int | None]:
        """The number of each value of the schema; None if the encoder does not know it."""
        return [None if index is None else self.numbers[index] for index in self.indices]

    @property
    def dropped(self) -> int | None:
        """The number without a column of its own."""
        dropped = self.encoder.drop_idx_
        if dropped is None or dropped[self.place] is None:
            return None
        return self.numbers[int(dropped[self.place])]


def _coded(encoder: Any, place: int, raw: RawColumn, where: str) -> _Coded:
    attribute, texts = raw.attribute, [_text(value) for value in encoder.categories_[place]]
    if not isinstance(attribute, Categorical):
        raise NetworkError(
            f'{where} codes the values of "{attribute.name}" one by one, but the schema says that it is a number',
            fix=f'declare it categorical: Schema.infer(…, categorical=["{attribute.name}"])',
        )
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise NetworkError(f'{where} distinguishes two values of "{attribute.name}" that are both written "{twice}"')
    listed = getattr(encoder, "infrequent_categories_", None)
    rare = set() if listed is None or listed[place] is None else {_text(value) for value in listed[place]}
    frequent = [text for text in texts if text not in rare]
    if rare and type(encoder).__name__ == "OrdinalEncoder" and "" in frequent:
        frequent.remove("")  # missing values have a code of their own, which is not counted here and is in no table
    numbers = tuple(frequent.index(text) if text in frequent else len(frequent) for text in texts)
    known = {text: index for index, text in enumerate(texts)}
    if encoder.categories_[place].dtype.kind in "iuf":  # booleans beside numbers become numbers
        known |= {word: known[digit] for word, digit in (("true", "1"), ("false", "0")) if digit in known}
    indices = tuple(known.get(value) for value in attribute.values)
    return _Coded(encoder, place, attribute, numbers, len(frequent) if rare else None, indices, where)


def _text(value: object) -> str:
    """The text by which the schema names a value; a missing value is blank."""
    return "" if is_missing(value) else text_of(value).strip()


def _one_hot(coded: _Coded) -> list[TableColumn]:
    unknown = coded.encoder.handle_unknown
    rest = coded.infrequent if unknown in ("infrequent_if_exist", "warn") else None
    raises = [group is None and unknown == "error" for group in coded.groups]
    groups = [rest if group is None else group for group in coded.groups]
    return [
        TableColumn(
            coded.attribute.name,
            tuple(None if bad else float(group == column) for group, bad in zip(groups, raises, strict=True)),
        )
        for column in range(max(coded.numbers) + 1)
        if column != coded.dropped
    ]


def _ordinal(coded: _Coded) -> list[TableColumn]:
    unknown = coded.encoder.handle_unknown == "use_encoded_value"
    value = float(coded.encoder.unknown_value) if unknown else None
    rest = None if value is None or not np.isfinite(value) else value
    if unknown and rest is None and None in coded.groups:
        unseen = coded.attribute.values[coded.groups.index(None)]
        raise NetworkError(
            f'{coded.where} codes the unknown value "{unseen}" of "{coded.attribute.name}" as missing, and '
            "lcifr does not read what the model then decides",
            fix=f'leave "{unseen}" out of the schema, or code unknown values as -1',
        )
    return [TableColumn(coded.attribute.name, tuple(rest if g is None else float(g) for g in coded.groups))]


# Scalers of scikit-learn as programs: StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler.
#
# Which constant is rounded to which format before which operation has changed between versions of scikit-learn, so what
# is written here is compared with the fitted scaler itself, bit for bit, each time one is read.

SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
Operations = list[tuple[Operation, NDArray[Any]]]


def read_scaler(scaler: Any, block: Block, where: str) -> Block:
    """The columns after a fitted scaler."""
    block = block.as_floats()
    return block.stepwise(_checked_steps(scaler, block, where), where)


def scaler_operations(scaler: Any, block: Block, where: str) -> Operations:
    """What a fitted scaler does to columns of this dtype, in its order, compared with the scaler bit for bit."""
    _checked_steps(scaler, block, where)
    return _operations(scaler, block)


def _checked_steps(scaler: Any, block: Block, where: str) -> list[tuple[ProgramStep, ...]]:
    """The steps of each column, compared with the scaler bit for bit."""
    try:
        steps = _steps(scaler, block)
    except LcifrError as problem:
        raise NetworkError(f"{where} cannot be followed exactly: {problem}") from None
    _compare(scaler, steps, block, where)
    return steps


def _steps(scaler: Any, block: Block) -> list[tuple[ProgramStep, ...]]:
    """The steps of each column."""
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
    """Sparse input is multiplied by the inverse instead of divided."""
    return (Operation.MULTIPLY, 1.0 / scale) if block.sparse else (Operation.DIVIDE, scale)


def _clip(scaler: Any, ends: tuple[float, float], dtype: Dtype) -> Operations:
    return [(Operation.CLIP, np.array([ends], dtype=dtype))] if getattr(scaler, "clip", False) else []


def _compare(scaler: Any, steps: list[tuple[ProgramStep, ...]], block: Block, where: str) -> None:
    """Refuse a scaler whose results are not bit-identical to the steps', on numbers around every constant."""
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
        raise _unexpected(scaler, where)


def _unexpected(transformer: Any, where: str) -> NetworkError:
    import sklearn

    return NetworkError(
        f"{where}: {type(transformer).__name__} of scikit-learn {sklearn.__version__} gives unexpected numbers",
        fix="use a version of scikit-learn that lcifr was tested with",
    )


def named_rows(transformer: Any, rows: NDArray[Any]) -> Any:
    """A copy with the names that the transformer was fitted with; otherwise it warns."""
    if not hasattr(transformer, "feature_names_in_"):
        return rows.copy()
    import pandas as pd

    return pd.DataFrame(rows.copy(), columns=transformer.feature_names_in_)


def _sparse(rows: NDArray[Any]) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(rows)


# Mixtures of columns: PCA, TruncatedSVD and what comes after them, as affine factors that stay separate.

FloatArray = NDArray[np.float64]

MIXERS = ("PCA", "IncrementalPCA", "TruncatedSVD")
SMALLEST = float(np.finfo(np.float64).smallest_normal)


@dataclass(frozen=True)
class AffineFactors:
    """A chain of affine maps on an array with this many columns, held by the library in this dtype."""

    width: int
    dtype: Dtype
    factors: tuple[Network, ...] = ()

    def then(self, weight: NDArray[Any], bias: ArrayLike | None = None) -> AffineFactors:
        """With one more at the end: x ↦ weight @ x + bias, computed in what numpy makes of the two dtypes."""
        return self._behind(weight, bias, np.result_type(self.dtype, weight.dtype))

    def _behind(self, matrix: NDArray[Any], bias: ArrayLike | None, dtype: Dtype, divides: str = "") -> AffineFactors:
        network = Network.from_arrays([(matrix, np.zeros(len(matrix)) if bias is None else bias)])
        network = replace(network.of_runtime(runtime_of(dtype)), divides=divides)
        return AffineFactors(len(matrix), dtype, (*self.factors, network))

    def shifted(self, by: ArrayLike) -> AffineFactors:
        """x ↦ x + by, in place."""
        return self._behind(np.eye(self.width), by, self.dtype)

    def scaled(self, by: NDArray[Any], *, divides: str = "") -> AffineFactors:
        """x ↦ x · by, column by column, in place."""
        return self._behind(np.diag(np.asarray(by, dtype=np.float64)), None, self.dtype, divides)

    def take(self, columns: Sequence[int]) -> AffineFactors:
        """Some of the columns: rows of the last factor, which rounds nothing."""
        last = self.factors[-1] if self.factors else self.shifted(np.zeros(self.width)).factors[-1]
        layer = last.layers[-1]
        chosen = Network.from_arrays([(layer.weight[list(columns)], layer.bias[list(columns)])])
        kept = replace(chosen, native=last.native, divides=last.divides)
        return AffineFactors(len(columns), self.dtype, (*self.factors[:-1], kept))


@dataclass(frozen=True)
class Mixture:
    """Columns of a block, and the affine factors that follow."""

    block: Block
    behind: AffineFactors

    @classmethod
    def of(cls, block: Block) -> Mixture:
        """The columns themselves."""
        floats = block.as_floats()
        return cls(floats, AffineFactors(len(floats), floats.dtype))

    def take(self, columns: Sequence[int]) -> Mixture:
        return replace(self, behind=self.behind.take(columns))


def join_mixtures(parts: Iterable[Mixture]) -> Mixture:
    """Side by side: factors at the same depth are merged; parts without one pass their numbers through."""
    mixtures = list(parts)
    behind = [mixture.behind for mixture in mixtures]
    depth = max(len(one.factors) for one in behind)
    levels = [[_factor_at(one, place) for one in behind] for place in range(depth)]
    dtype = np.result_type(*(one.dtype for one in behind))
    joined = AffineFactors(sum(one.width for one in behind), dtype, tuple(map(_side_by_side, levels)))
    return Mixture(join_blocks(mixture.block for mixture in mixtures), joined)


def _factor_at(one: AffineFactors, place: int) -> Network:
    if place < len(one.factors):
        return one.factors[place]
    return Network.from_arrays([(np.eye(one.width), np.zeros(one.width))]).of_runtime(runtime_of(one.dtype))


def _side_by_side(networks: list[Network]) -> Network:
    from scipy.linalg import block_diag

    layers = [network.layers[0] for network in networks]
    weight, bias = block_diag(*(layer.weight for layer in layers)), np.concatenate([layer.bias for layer in layers])
    narrow = any(network.native is Arithmetic.FLOAT32 for network in networks)
    divides = next((network.divides for network in networks if network.divides), "")
    native = Arithmetic.FLOAT32 if narrow else Arithmetic.FLOAT64
    return replace(Network.from_arrays([(weight, bias)]), native=native, divides=divides)


def read_mixer(transformer: Any, before: AffineFactors, where: str) -> AffineFactors:
    """What a fitted PCA or TruncatedSVD makes of numbers.

    PCA computes x @ W − mean @ W. That is written as two factors, x − mean and W, which docs/design/arithmetic.md shows
    to cover it; the product mean @ W itself is no stored number.
    """
    found = before
    if type(transformer).__name__ != "TruncatedSVD":
        _refuse_subnormal([transformer.mean_, transformer.components_], where)
        found = found.shifted(-np.asarray(transformer.mean_))
    found = found.then(transformer.components_)
    if getattr(transformer, "whiten", False):
        scale = np.sqrt(transformer.explained_variance_)
        found = _divided(found, np.maximum(scale, np.finfo(scale.dtype).eps), where)
    _compare_factors(transformer, before, found, where)
    return found


def read_scaler_behind(scaler: Any, before: AffineFactors, where: str) -> AffineFactors:
    """What a fitted scaler makes of mixed numbers: its operations as factors; a clip is refused."""
    stand_in = Block((ConstantColumn(0.0),) * before.width, before.dtype)
    found = before
    for operation, constants in scaler_operations(scaler, stand_in, where):
        values = np.broadcast_to(constants, before.width) if operation is not Operation.CLIP else constants
        if operation is Operation.SUBTRACT:
            found = found.shifted(-values)
        elif operation is Operation.ADD:
            found = found.shifted(values)
        elif operation is Operation.MULTIPLY:
            found = found.scaled(values)
        elif operation is Operation.DIVIDE:
            found = _divided(found, values, where)
        else:
            raise NetworkError(f"{where} clips numbers after a matrix, which is not affine", fix="use clip=False")
    _compare_factors(scaler, before, found, where)
    return found


def _divided(before: AffineFactors, by: NDArray[Any], where: str) -> AffineFactors:
    """x ↦ x / by: no float64 is the inverse of most numbers, so the factor says that it stands for a division."""
    inverse = 1.0 / np.asarray(by, dtype=np.float64)
    _refuse_subnormal([by, inverse], where)
    return before.scaled(inverse, divides="" if (inverse * by == 1.0).all() and _powers(by) else where)


def _powers(numbers: NDArray[Any]) -> bool:
    """Whether all are powers of two, whose inverses are exact."""
    return bool((np.frexp(np.abs(np.asarray(numbers, dtype=np.float64)))[0] == 0.5).all())


def _refuse_subnormal(arrays: Iterable[NDArray[Any]], where: str) -> None:
    for array in arrays:
        size = np.abs(np.asarray(array, dtype=np.float64))
        if not np.isfinite(size).all() or ((size > 0) & (size < SMALLEST)).any():
            raise NetworkError(f"{where} holds numbers that a machine may read as 0, or that are not finite")


def _compare_factors(transformer: Any, before: AffineFactors, behind: AffineFactors, where: str) -> None:
    """Refuse a transformer whose results differ from those of its factors by more than rounding."""
    factors = behind.factors[len(before.factors) :]
    rows = np.random.default_rng(0).normal(size=(64, before.width)).astype(before.dtype)
    expected = np.asarray(transformer.transform(named_rows(transformer, rows)), dtype=np.float64)
    found = evaluate(factors, rows.astype(np.float64))
    coarser = 2.0**30 if any(factor.native is Arithmetic.FLOAT32 for factor in factors) else 4.0
    if expected.shape != found.values.shape or (np.abs(expected - found.values) > coarser * found.error).any():
        raise _unexpected(transformer, where)


# Preprocessing of scikit-learn, read column by column: ColumnTransformer, Pipeline, imputers, feature selection.

Columns = tuple[RawColumn, ...] | Block | Mixture
"""Raw columns of the table, numbers made from them, or mixtures of such numbers."""

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
        raise NetworkError(f"{where} is {name}, which is not part of scikit-learn", fix=f"use {WORKS}")
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
            raise NetworkError(f"{where} is {name} after another transformer", fix="encode the table's own columns")
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
    """The columns as numbers, with the affine maps that follow; there may be none."""
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
            f"{where} replaces {imputer.missing_values!r}, which is an ordinary value here",
            fix="mark missing values as NaN first, then impute those",
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
