"""Arithmetic: the number format in which a deployed model computes, which every verdict names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lcifr.errors import LcifrError


class Arithmetic(StrEnum):
    """What a certificate speaks about: real numbers, or every machine that computes in this format.

    See docs/design/arithmetic.md for which computations that covers. TF32, bfloat16, float16 and quantised runtimes are
    none of these.
    """

    EXACT = "exact"
    FLOAT64 = "float64"
    FLOAT32 = "float32"


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format.

    Parameters
    ----------
    unit : the largest relative error of one rounding to nearest.
    smallest : the smallest normal number; below it a machine may flush to zero.
    largest : values from here on are refused, because they may overflow.
    cast : the largest relative error of casting a float64 to it.
    """

    unit: float
    smallest: float
    largest: float
    cast: float


FORMATS = {
    Arithmetic.FLOAT64: FloatFormat(unit=2.0**-53, smallest=2.0**-1022, largest=2.0**1023, cast=0.0),
    Arithmetic.FLOAT32: FloatFormat(unit=2.0**-24, smallest=2.0**-126, largest=2.0**127, cast=2.0**-24),
}


def read_arithmetic(name: str) -> Arithmetic:
    """By its name; an error that lists the names for any other."""
    try:
        return Arithmetic(name)
    except ValueError:
        known = ", ".join(f'"{one}"' for one in Arithmetic)
        raise LcifrError(
            f"arithmetic={name!r} is unknown",
            fix=f"say one of {known}; TF32, bfloat16, float16 and quantised runtimes cannot be certified",
        ) from None


def choose_arithmetic(asked: str | None, *native: Arithmetic) -> Arithmetic:
    """The one that was asked for; else the coarsest that the networks of a model come from.

    A network that no runtime computes as it stands (``native`` is EXACT) makes the whole one exact.
    """
    if asked is not None:
        return read_arithmetic(asked)
    coarsest = (Arithmetic.EXACT, Arithmetic.FLOAT32)
    return next((one for one in coarsest if one in native), Arithmetic.FLOAT64)


def arithmetic_of(column: Any) -> Arithmetic:
    """The one arithmetic of a column of verdicts; exact where the column is empty."""
    (name,) = set(column) or {Arithmetic.EXACT}
    return Arithmetic(name)
