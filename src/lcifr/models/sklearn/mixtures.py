"""Mixtures of columns: PCA, TruncatedSVD and what comes behind them, as affine factors that stay apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lcifr.data.program import Operation
from lcifr.errors import NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.chain import evaluate
from lcifr.models.columns import Block, ConstantColumn, Dtype, join_blocks, runtime_of
from lcifr.models.network import Network
from lcifr.models.sklearn.scalers import named_rows, scaler_operations

FloatArray = NDArray[np.float64]

MIXERS = ("PCA", "IncrementalPCA", "TruncatedSVD")
SMALLEST = float(np.finfo(np.float64).smallest_normal)


@dataclass(frozen=True)
class AffineFactors:
    """Affine maps in turn, on an array of so many columns that a library holds in this dtype."""

    width: int
    dtype: Dtype
    factors: tuple[Network, ...] = ()

    def then(self, weight: NDArray[Any], bias: ArrayLike | None = None) -> AffineFactors:
        """With one more behind: x ↦ weight @ x + bias, computed in what numpy makes of the two dtypes."""
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
    """Columns of a block behind affine factors."""

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
    """Side by side: factors of different parts that come equally far behind are one; missing ones pass numbers on."""
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
    _compare(transformer, AffineFactors(before.width, before.dtype), found.factors[len(before.factors) :], where)
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
            raise NetworkError(f"{where} clips numbers behind a matrix, which is not affine", fix="use clip=False")
    _compare(scaler, AffineFactors(before.width, before.dtype), found.factors[len(before.factors) :], where)
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


def _compare(transformer: Any, fresh: AffineFactors, factors: tuple[Network, ...], where: str) -> None:
    """Refuse a transformer that computes something else than its factors, by more than rounding."""
    rows = np.random.default_rng(0).normal(size=(64, fresh.width)).astype(fresh.dtype)
    expected = np.asarray(transformer.transform(named_rows(transformer, rows)), dtype=np.float64)
    found = evaluate(factors, rows.astype(np.float64))
    coarser = 2.0**30 if any(factor.native is Arithmetic.FLOAT32 for factor in factors) else 4.0
    if expected.shape != found.values.shape or (np.abs(expected - found.values) > coarser * found.error).any():
        import sklearn

        raise NetworkError(
            f"{where}: {type(transformer).__name__} of scikit-learn {sklearn.__version__} computes otherwise than "
            "expected",
            fix="use a version of scikit-learn that lcifr was tested with",
        )
