"""Exact conversion between decimal text and fractions."""

from __future__ import annotations

import re
from fractions import Fraction

PLACES = 100  # digits before and after the point: no attribute needs more, and every number stays quick to compute with
_LONGEST = 4 * PLACES  # characters of a literal that are read at all
_SCALE = 10**PLACES


def is_writable(number: Fraction) -> bool:
    """Whether the number is a finite decimal of at most ``PLACES`` digits on either side of the point."""
    return bool(_SCALE % number.denominator == 0 and abs(number) < _SCALE)


def read_decimal(text: str) -> Fraction | None:
    """The exact number that ``text`` (``3``, ``0.1``, ``1e-3``) writes, or None where it is out of ``is_writable``."""
    exponent = re.search(r"[eE]([+-]?[0-9]+)$", text)
    if len(text) > _LONGEST or (exponent and abs(int(exponent[1])) > 2 * _LONGEST):
        return None
    number = Fraction(text)
    return number if is_writable(number) else None


def write_decimal(number: Fraction) -> str:
    """The shortest decimal text that reads back as exactly this number.

    Raises
    ------
    ValueError
        If the number has no such text, as one third.
    """
    if not is_writable(number):
        raise ValueError(
            f"{number} cannot be written as a decimal of at most {PLACES} digits on either side of the point"
        )
    if number == 0:
        return "0"
    digits = str(abs(number.numerator) * (_SCALE // number.denominator))
    significant = digits.rstrip("0")
    exponent = len(digits) - len(significant) - PLACES
    return ("-" if number < 0 else "") + _place_point(significant, exponent)


def _place_point(digits: str, exponent: int) -> str:
    """``digits`` times ten to the ``exponent``: with a point where that is short to read, else with ``e``."""
    if exponent > 12 or exponent < -20:
        return f"{digits}e{exponent}"
    if exponent >= 0:
        return digits + "0" * exponent
    padded = digits.rjust(1 - exponent, "0")
    return f"{padded[:exponent]}.{padded[exponent:]}"
