"""Columns as formulas of attributes: how a library computes the columns of its matrix, without any rows.

A transformer that works column by column turns a program into a longer program, and the table of a category into
another table. Both are exact: the steps are the library's own, and a category has finitely many values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lcifr.data import Categorical, Encoding, Feature, Numeric
from lcifr.data.program import Operation, Program, ProgramStep, StepFormat
from lcifr.errors import LcifrError, NetworkError
from lcifr.models.arithmetic import Arithmetic
from lcifr.models.description import DescribedInput, InputKind, UnknownValue
from lcifr.models.network import Network

Dtype = np.dtype[Any]
FLOAT64: Dtype = np.dtype(np.float64)


@dataclass(frozen=True)
class RawColumn:
    """A column of the table as it is; ``dtype`` as the library sees it."""

    attribute: Numeric | Categorical
    dtype: Dtype


@dataclass(frozen=True)
class NumberColumn:
    """A number of the table behind a program."""

    attribute: str
    program: Program


@dataclass(frozen=True)
class TableColumn:
    """A number for each value of a category, in the order of the schema; None where the library raises."""

    attribute: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class ConstantColumn:
    """The same number in every row."""

    value: float


Column = NumberColumn | TableColumn | ConstantColumn


@dataclass(frozen=True)
class Block:
    """Numeric columns side by side.

    Parameters
    ----------
    dtype : in which the library holds them. sparse : whether it leaves zeros out, and scales what is left.
    before : of a sparse block that is scaled, the columns as they were when zeros were left out: a tiny number that
        scaling makes 0 is still stored. None where these are the columns themselves.
    """

    columns: tuple[Column, ...]
    dtype: Dtype = FLOAT64
    sparse: bool = False
    before: tuple[Column, ...] | None = None

    @property
    def unscaled(self) -> tuple[Column, ...]:
        """The columns when zeros were left out."""
        return self.columns if self.before is None else self.before

    def __len__(self) -> int:
        return len(self.columns)

    def as_floats(self) -> Block:
        """As transformers and estimators take numbers: in float32 or float64, anything else as float64."""
        return self if self.dtype in (np.float32, np.float64) else replace(self, dtype=FLOAT64)

    def stepwise(self, steps: Iterable[tuple[ProgramStep, ...]], where: str) -> Block:
        """Each column behind its steps."""
        columns = tuple(_behind(c, s, where) for c, s in zip(self.columns, steps, strict=True))
        return replace(self, columns=columns, before=self.unscaled if self.sparse else None)


def _behind(column: Column, steps: tuple[ProgramStep, ...], where: str) -> Column:
    if isinstance(column, NumberColumn):
        try:
            return NumberColumn(column.attribute, column.program.then(*steps))
        except LcifrError as problem:
            raise NetworkError(f'{where}: "{column.attribute}" cannot be followed exactly: {problem}') from None
    apply = _function_of(steps)
    if isinstance(column, ConstantColumn):
        return ConstantColumn(apply(column.value))
    return TableColumn(column.attribute, tuple(None if value is None else apply(value) for value in column.values))


def _function_of(steps: tuple[ProgramStep, ...]) -> Callable[[float], float]:
    def apply(value: float) -> float:
        found = np.array(value)
        for step in steps:
            found = step(found)
        return float(found)

    return apply


def join_blocks(blocks: Iterable[Block], sparse: bool = False) -> Block:
    """Side by side, in the dtype that numpy gives the whole; widening a number changes nothing."""
    parts = list(blocks)
    dtype = np.result_type(*(part.dtype for part in parts)) if parts else FLOAT64
    columns = tuple(column for part in parts for column in part.columns)
    before = tuple(column for part in parts for column in part.unscaled)
    return Block(columns, dtype, sparse, before if sparse else None)


def cast_to(dtype: Dtype) -> tuple[ProgramStep, ...]:
    """The steps that cast a number of the table to this dtype."""
    return (ProgramStep(Operation.CAST, StepFormat.FLOAT32),) if dtype == np.float32 else ()


def float_in(table: Any, name: str) -> Dtype:
    """The floating-point type in which a library finds a number of a pandas frame: a float32 column stays one."""
    kind = getattr(table[name].dtype, "numpy_dtype", table[name].dtype)
    return np.dtype(np.float32) if kind == np.float32 else FLOAT64


def as_numbers(raw: tuple[RawColumn, ...] | Block, where: str) -> Block:
    """Raw columns as the library makes one array of numbers of them; a block is one already."""
    if isinstance(raw, Block):
        return raw
    for column in raw:
        if column.dtype.kind == "f" and column.dtype not in (np.float32, np.float64):
            raise NetworkError(f'{where}: column "{column.attribute.name}" is {column.dtype}', fix="use float64")
    kinds = [FLOAT64 if column.dtype.kind not in "fiub" else column.dtype for column in raw]
    dtype = np.result_type(*kinds) if kinds else FLOAT64
    block = Block(tuple(_as_number(column, where) for column in raw), dtype)
    return block.stepwise((cast_to(block.as_floats().dtype) for _ in raw), where)


def _as_number(column: RawColumn, where: str) -> Column:
    attribute = column.attribute
    steps = cast_to(column.dtype)
    if isinstance(attribute, Numeric):
        return NumberColumn(attribute.name, Program(steps))
    values = tuple(_number_of(value) for value in attribute.values)
    if all(value is None for value in values):
        raise NetworkError(
            f'{where} takes "{attribute.name}" as a number, but it holds texts', fix="encode it as a category first"
        )
    return _behind(TableColumn(attribute.name, values), steps, where)


def _number_of(text: str) -> float | None:
    """What a category's name is as a number: 1 for true, 3 for "3"; None for what is none, at which libraries raise."""
    if text in ("true", "false"):
        return float(text == "true")
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def encoding_of(block: Block, encoding: Encoding) -> Encoding:
    """The encoding that computes the columns of a block; numbers that it does not read keep their own program.

    Raises
    ------
    NetworkError
        If a number is computed in two ways: it would be one variable with two roundings.
    """
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


def inputs_of(block: Block, encoding: Encoding) -> Network:
    """The look-up layer: encoded people to the columns of the block, each of which reads one attribute."""
    weight, bias = np.zeros((len(block), len(encoding.features))), np.zeros(len(block))
    for row, column in enumerate(block.columns):
        if isinstance(column, ConstantColumn):
            bias[row] = column.value
        elif isinstance(column, NumberColumn):
            weight[row, encoding.columns(column.attribute)] = 1.0
        else:
            weight[row, encoding.columns(column.attribute)] = [value or 0.0 for value in column.values]
    return Network.from_arrays([(weight, bias)]).of_runtime(runtime_of(block.dtype))


def runtime_of(dtype: Dtype) -> Arithmetic:
    """The arithmetic of a library whose arrays have this dtype."""
    return Arithmetic.FLOAT32 if dtype == np.float32 else Arithmetic.FLOAT64


# Columns of a model's matrix that one entry of a description feeds.


def constant_column(entry: DescribedInput, dtype: Dtype) -> ConstantColumn:
    """The number that fills a constant column."""
    return ConstantColumn(_rounded(entry.value, dtype))


def described_columns(
    entry: DescribedInput, attribute: Numeric | Categorical, dtype: Dtype, where: str, found: Dtype = FLOAT64
) -> tuple[Column, ...]:
    """The columns, in the matrix's type, that an entry makes of an attribute: a number, a code, or one for each value.

    The 0 and 1 of one-hot values go through their steps before they are of the matrix's type.

    Parameters
    ----------
    dtype : of the matrix. found : in which the table holds a number; of a float32 the steps start from that value, not
        from the decimal that it is printed as.

    Raises
    ------
    NetworkError
        For codes of what the schema takes as a number.
    """
    if entry.kind in (InputKind.NUMBER, InputKind.AS_IS):
        if isinstance(attribute, Categorical):
            block = as_numbers((RawColumn(attribute, np.dtype(np.float64)),), where)
        else:
            start = cast_to(found) if entry.steps or dtype != found else ()
            block = Block((NumberColumn(attribute.name, Program(start)),))
        return block.stepwise([(*entry.steps, *cast_to(dtype))], where).columns
    if not isinstance(attribute, Categorical):
        raise NetworkError(
            f'{where} is a number in the schema, and kind = "{entry.kind}"', fix="declare it categorical"
        )
    if entry.kind is InputKind.CODE:
        codes = {value: _rounded(code, dtype) for value, code in entry.codes}
        return (TableColumn(attribute.name, tuple(codes.get(value) for value in attribute.values)),)
    rest = 0.0 if entry.unknown is UnknownValue.ZEROS else None
    block = Block(
        tuple(
            TableColumn(attribute.name, tuple(float(v == one) if v in entry.values else rest for v in attribute.values))
            for one in entry.values
        )
    )
    programs = entry.value_steps or ((),) * len(entry.values)
    columns = block.stepwise(((*program, *cast_to(dtype)) for program in programs), where).columns
    if any(
        value is not None and not np.isfinite(value)
        for one in columns
        if isinstance(one, TableColumn)
        for value in one.values
    ):
        raise NetworkError(f"{where}: the steps make a number that is not finite", fix="correct the steps")
    return columns


def _rounded(value: float, dtype: Dtype) -> float:
    return float(np.asarray(value).astype(dtype))
