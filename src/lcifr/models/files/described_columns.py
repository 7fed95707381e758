"""Columns of a model's matrix that one entry of a description feeds."""

from __future__ import annotations

import numpy as np

from lcifr.data import Categorical, Numeric
from lcifr.data.program import Program
from lcifr.errors import NetworkError
from lcifr.models.columns import (
    FLOAT64,
    Block,
    Column,
    ConstantColumn,
    Dtype,
    NumberColumn,
    RawColumn,
    TableColumn,
    as_numbers,
    cast_to,
)
from lcifr.models.files.description import DescribedInput, InputKind, UnknownValue


def constant_column(entry: DescribedInput, dtype: Dtype) -> ConstantColumn:
    """The number that stands in a column for everybody."""
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
