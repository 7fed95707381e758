"""The second checker's encodings: programs step by step, as models.md and arithmetic.md of docs/design have them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

UNIT = {"float64": Fraction(1, 2**53), "float32": Fraction(1, 2**24)}
NORMAL = {"float64": Fraction(1, 2**1022), "float32": Fraction(1, 2**126)}
DIGITS = {"float64": 53, "float32": 24}
LEAST = {"float64": -1074, "float32": -149}  # the exponent of the smallest number
MOST = {"float64": 1023, "float32": 127}

Program = list[list[Any]]


def nearest(value: Fraction, name: str) -> Fraction:
    """The number of a format that is nearest, found on its grid; of two the one with the even digit."""
    if value == 0:
        return value
    exponent = math.floor(math.log2(abs(value))) if 2**-1000 < abs(value) < 2**1000 else _exponent(abs(value))
    while Fraction(2) ** exponent > abs(value):
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= abs(value):
        exponent += 1
    grid = Fraction(2) ** max(exponent - DIGITS[name] + 1, LEAST[name])
    found = round(value / grid) * grid  # round() takes the even one of two
    if abs(found) >= Fraction(2) ** (MOST[name] + 1):
        raise OverflowError("too large for the format")
    return found


def _exponent(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def encode(program: Program, value: float) -> Fraction:
    """As the model sees it."""
    found = Fraction(value)
    for operation, name, *constants in program:
        found, exact = nearest(found, name), [Fraction(c) for c in constants]
        if operation == "clip":
            found = min(max(found, exact[0]), exact[1])
        elif operation != "cast":
            (c,) = exact
            made = {"add": found + c, "subtract": found - c, "multiply": found * c}
            found = nearest(found / c if operation == "divide" else made[operation], name)
    return found


def falls(program: Program) -> bool:
    """Whether larger numbers have smaller features."""
    return sum(operation in ("multiply", "divide") and c[0] < 0 for operation, _, *c in program) % 2 == 1


def right(program: Program) -> bool:
    """Whether constants are numbers of their format, and no factor is 0."""
    for operation, name, *constants in program:
        if len(constants) != {"cast": 0, "clip": 2, "add": 1, "subtract": 1, "multiply": 1, "divide": 1}[operation]:
            return False
        if any(type(c) is not float or nearest(Fraction(c), name) != Fraction(c) for c in constants):
            return False
        if operation in ("multiply", "divide") and constants[0] == 0:
            return False
        if operation == "clip" and constants[0] >= constants[1]:
            return False
    return True


def flushing(program: Program) -> Fraction:
    """F of a column."""
    error, held = NORMAL["float64"], "float64"
    for operation, name, *constants in program:
        if held == "float64" and name == "float32":
            error = 2**31 * error + 4 * NORMAL[name]
        held = name
        if operation in ("add", "subtract"):
            error = 8 * error / UNIT[name]
        elif operation in ("multiply", "divide"):
            size = abs(Fraction(constants[0]))
            if size < NORMAL[name]:
                raise ArithmeticError("a factor that may be read as 0")
            error = 4 * error * size if operation == "multiply" else 4 * error / size
        error += 4 * NORMAL[name]
        if error > 1:
            raise ArithmeticError("flushing may do anything")
    return error
