"""Requests of the page as typed values: JSON in, dataclasses out, and every odd one refused."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from lcifr.errors import LcifrError

Request = TypeVar("Request")
LARGEST = 2**1000
"""Whole numbers that a float can be; JSON has larger ones."""


def read_json_request(body: bytes) -> dict[str, Any]:
    """The object that a request's body holds."""
    try:
        found = json.loads(body or b"{}", parse_constant=_refuse_constant)
        json.dumps(found, ensure_ascii=False).encode()  # half a character is no text, and no file or command takes it
    except (ValueError, RecursionError):
        raise LcifrError("the request is no JSON") from None
    if not isinstance(found, dict):
        raise LcifrError("the request is no JSON object")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def read_as(kind: type[Request], values: Mapping[str, Any]) -> Request:
    """A dataclass from plain values: each of its type, none unknown, none missing."""
    assert is_dataclass(kind)
    known = {one.name: one for one in fields(kind)}
    if unknown := sorted(set(values) - set(known)):
        raise LcifrError(f"the request has an unknown entry “{unknown[0]}”")
    needed = [name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
    if missing := [name for name in needed if name not in values]:
        raise LcifrError(f"the request lacks “{missing[0]}”")
    hints = get_type_hints(kind)
    return kind(**{name: _value(name, value, hints[name]) for name, value in values.items()})


def _value(name: str, value: Any, hint: Any) -> Any:
    choices = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    for choice in choices:
        if isinstance(choice, type) and is_dataclass(choice) and isinstance(value, dict):
            return read_as(choice, value)
        plain = get_origin(choice) or choice
        if plain is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST:
            return float(value)
        if isinstance(value, str) and "\0" in value:
            break
        if isinstance(value, plain) and not (isinstance(value, bool) and plain is not bool):
            return value
    raise LcifrError(f"the request’s “{name}” is not of its kind")
