"""Refusal of what cannot be encoded: categories at which a model raises, numbers that overflow, unfit output."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from lcifr.data.features import Feature
from lcifr.data.program import Program
from lcifr.data.table import Individuals
from lcifr.errors import LcifrError, TableError, TableProblem


def refuse_outside(people: Individuals, outside: Collection[Feature]) -> None:
    """Raise an error that names everybody with one of these categories."""
    problems = [
        TableProblem(f'the model raises an error at the category "{value}"', attribute.name, int(row))
        for attribute in (people.schema.categorical if outside else ())
        for code, value in enumerate(attribute.values)
        if Feature(attribute.name, value) in outside
        for row in np.flatnonzero(people.code(attribute.name) == code)
    ]
    if problems:
        raise TableError(problems, fix="leave these people out: the model decides nothing about them")


def refuse_infinite(people: Individuals, encoded: NDArray[np.float64], programs: Sequence[Program]) -> None:
    """Raise an error that names every number that its program makes infinite; encoded (people, numeric attributes)."""
    if np.isfinite(encoded).all():
        return
    names = people.schema.names_numeric
    raise TableError(
        [
            TableProblem(f"{people.numbers[row, j]:g} overflows: {programs[j]}", names[j], int(row))
            for row, j in np.argwhere(~np.isfinite(encoded))
        ]
    )


def checked_output(out: NDArray[np.float64], shape: tuple[int, int]) -> NDArray[np.float64]:
    """The array that people are to be encoded into, if it can hold them."""
    if out.shape != shape or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise LcifrError(
            f"out is {out.dtype} of shape {out.shape}", fix=f"give a contiguous float64 array of shape {shape}"
        )
    return out
