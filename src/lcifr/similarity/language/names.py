"""Names and numbers as formulas write them: attributes, groups and categories looked up, and exact decimals."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from lcifr.data.schema import RESERVED_GROUPS, Schema
from lcifr.similarity.language.formula import AttributeSet

KEYWORDS = ("and", "or", "not", "implies", "same", "free", "within", "sd", "except", "in", "rank", "by")
_Item = TypeVar("_Item")
_BARE_NAME = re.compile(r"[^\W\d]\w*")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MEANT = {"n": "\n", "r": "\r", "t": "\t"}


def quote_name(name: str) -> str:
    """The name of an attribute as formulas write it: in backticks unless it is one plain word."""
    if _BARE_NAME.fullmatch(name) and name not in KEYWORDS and name not in RESERVED_GROUPS:
        return name
    return _quote(name, "`")


def quote_value(value: str) -> str:
    """The name of a category as formulas write it: ``"White"``."""
    return _quote(value, '"')


def _quote(text: str, mark: str) -> str:
    return mark + "".join(_ESCAPES.get(sign, "\\" + sign if sign in (mark, "\\") else sign) for sign in text) + mark


def unquote(text: str) -> str:
    """What stands between the marks, with ``\\n``, ``\\r``, ``\\t`` and ``\\`` before a sign undone."""
    return re.sub(r"\\(.)", lambda found: _MEANT.get(found[1], found[1]), text[1:-1], flags=re.DOTALL)


def repeated(items: Sequence[_Item], key: Callable[[_Item], str]) -> list[_Item]:
    """The items that repeat an earlier one."""
    seen: set[str] = set()
    found = []
    for item in items:
        if key(item) in seen:
            found.append(item)
        seen.add(key(item))
    return found


def attributes_in(names: AttributeSet, schema: Schema) -> tuple[str, ...]:
    """The attributes of a set, each once, in the schema's order."""
    kept = {member for name in names.names for member in set_members(name, schema)}
    dropped = {member for name in names.excluded for member in set_members(name, schema)}
    return tuple(name for name in schema.names if name in kept - dropped)


def set_members(name: str, schema: Schema) -> tuple[str, ...]:
    """The attributes that one name in a set stands for."""
    if name == "all":
        return schema.names
    if name in ("numeric", "categorical"):
        return tuple(attribute.name for attribute in (schema.numeric if name == "numeric" else schema.categorical))
    return schema.groups.get(name, (name,))


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
