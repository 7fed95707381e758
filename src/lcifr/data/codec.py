"""JSON and arrays to frozen dataclasses and back: metadata of fields rename, nest and inline keys.

A dataclass is an object with a key for each field, in their order::

    @dataclass(frozen=True)
    class Result(Record):
        head = ("format", "command")                         # class attributes that come first, and are not read
        also = ("left_out",)                                 # properties that are written, and not read
        model: Model = field(metadata=inline())              # the keys of the model stand among those of the result
        sizes: Mapping[str, int] = field(metadata=key("sides"))
        claimed: int = field(metadata=key("radius.claimed"))  # the key of an object inside
        box: float | None = field(default=None, metadata=key(omit=True))  # left out where it is the default

Reading checks every value against the type of its field, and names the key in the error; other keys are not looked at.

What holds arrays is written as one safetensors file: plain values in its header name the arrays. Nothing is pickled.
"""

from __future__ import annotations

import json
import struct
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, Union, cast, final, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from lcifr.data.files import json_value
from lcifr.errors import did_you_mean

Json = dict[str, Any]
T = TypeVar("T")
WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text", type(None): "null"}


class JsonError(ValueError):
    """A value in JSON that does not fit: under which key, what was found, and what was expected."""

    def __init__(self, at: str, problem: str) -> None:
        super().__init__(f"{at}: {problem}" if at else problem)


class Record:
    """A dataclass that is written as a JSON object of its own."""

    head: ClassVar[tuple[str, ...]] = ()
    """Class attributes that are written before the fields."""
    also: ClassVar[tuple[str, ...]] = ()
    """Properties and class attributes that are written after the fields."""
    closed: ClassVar[bool] = False
    """Whether keys that are no field's are refused."""

    def to_dict(self) -> Json:
        """Plain values for JSON."""
        return cast(Json, to_json(self))

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """What :meth:`to_dict` gave, read again; :class:`JsonError` names a key that is missing or odd."""
        return from_json(cls, plain)

    @classmethod
    def upgraded(cls, plain: Mapping[str, Any]) -> Mapping[str, Any]:
        """What an earlier version wrote, as this one would have written it."""
        return plain


# How a field is written, in its metadata.


@dataclass(frozen=True)
class _Key:
    name: str = ""
    omit: bool = False
    inline: bool = False
    without: tuple[str, ...] = ()
    write: Callable[[Any], Any] | None = None
    read: Callable[[Any], Any] | None = None


def key(
    name: str = "",
    *,
    omit: bool = False,
    write: Callable[[Any], Any] | None = None,
    read: Callable[[Any], Any] | None = None,
) -> dict[str, Any]:
    """Metadata of a field.

    Parameters
    ----------
    name : of the key, if it is another than the field's; ``a.b`` is the key b of the object a.
    omit : whether the key is left out where the field has its default.
    write, read : to and from JSON, where the type does not say it.
    """
    return {"json": _Key(name, omit, write=write, read=read)}


def inline(*, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Metadata of a dataclass whose keys stand among those of its owner; ``without`` : keys that are not written."""
    return {"json": _Key(inline=True, without=without)}


def _how(one: Field[Any]) -> _Key:
    return cast(_Key, one.metadata.get("json", _Key()))


def _default(one: Field[Any]) -> Any:
    return one.default if one.default_factory is MISSING else one.default_factory()


# Writing.


def to_json(value: Any) -> Any:
    """A value as ``json.dumps`` takes it: dataclasses as objects, tuples as lists, enums and paths as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return _members(value)
    if isinstance(value, Mapping):
        return {name: to_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else json_value(value)


def _members(value: Any) -> Json:
    found: Json = {name: getattr(value, name) for name in getattr(value, "head", ())}
    for one in fields(value):
        how, content = _how(one), getattr(value, one.name)
        if how.omit and content == _default(one):
            continue
        if not how.inline:
            *outer, last = (how.name or one.name).split(".")
            inside = found
            for name in outer:
                inside = inside.setdefault(name, {})
            inside[last] = to_json(content) if how.write is None else how.write(content)
        elif content is not None:
            found |= {name: plain for name, plain in _members(content).items() if name not in how.without}
    return found | {name: to_json(getattr(value, name)) for name in getattr(value, "also", ())}


# Reading.


def from_json(kind: type[T], plain: Any, at: str = "") -> T:
    """A value of a type from JSON; :class:`JsonError` names a key that is missing or odd.

    Parameters
    ----------
    kind : a dataclass, or another type of a field. at : the key that the value stands under.
    """
    return cast(T, _read(kind, plain, at))


def _read(kind: Any, plain: Any, at: str) -> Any:
    origin, inside = get_origin(kind), get_args(kind)
    if kind is Any:
        return plain
    if origin in (Union, types.UnionType):
        return _read_one_of(inside, plain, at)
    if origin in (tuple, list):
        many = inside[:1] * len(_checked(list, plain, at)) if origin is list or inside[-1] is ... else inside
        if len(many) != len(_checked(list, plain, at)):
            raise JsonError(at, f"there are {len(plain)} values, expected {len(many)}")
        return origin(_read(one, value, f"{at}[{n}]") for n, (one, value) in enumerate(zip(many, plain, strict=True)))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {name: _read(inside[1], one, _below(at, name)) for name, one in _checked(dict, plain, at).items()}
    if is_dataclass(kind):
        return _read_dataclass(kind, _checked(dict, plain, at), at)
    if issubclass(kind, Enum):
        if plain not in (known := [one.value for one in kind]):
            raise JsonError(at, f"found {plain!r}, expected one of {', '.join(map(str, known))}")
        return kind(plain)
    return Path(_checked(str, plain, at)) if kind is Path else _checked(kind, plain, at)


def _read_one_of(kinds: tuple[Any, ...], plain: Any, at: str) -> Any:
    """The first type that the value fits; the last one says what is wrong."""
    if plain is None and type(None) in kinds:
        return None
    *first, last = (one for one in kinds if one is not type(None))
    for kind in first:
        try:
            return _read(kind, plain, at)
        except JsonError:
            pass
    return _read(last, plain, at)


def _checked(kind: Any, plain: Any, at: str) -> Any:
    """A plain value, if it is of this type; whole numbers are numbers."""
    accepted = (int, float) if kind is float else kind
    if isinstance(plain, accepted) and (kind is bool or not isinstance(plain, bool)):
        return plain
    expected = {**WORDS, list: "a list", dict: "an object"}[kind]
    raise JsonError(at, f"found {plain!r:.80}, expected {expected}")


def _read_dataclass(kind: Any, plain: Mapping[str, Any], at: str) -> Any:
    if issubclass(kind, Record):
        plain = kind.upgraded(plain)
        if kind.closed and (unknown := sorted(plain.keys() - {*_names(kind)})):
            raise JsonError(at, f'the key "{unknown[0]}" is unknown.{did_you_mean(unknown[0], _names(kind))}')
    found: dict[str, Any] = {}
    for one in fields(kind):
        how, hint = _how(one), _hints(kind)[one.name]
        if how.inline:
            its_own = {*_names(_inlined(hint))} - {*_names(kind, but=one.name)}
            absent = type(None) in get_args(hint) and not plain.keys() & its_own
            found[one.name] = None if absent else _read_dataclass(_inlined(hint), plain, at)
            continue
        *outer, last = (how.name or one.name).split(".")
        inside: Any = plain
        for name in outer:
            inside = _checked(dict, inside.get(name, {}), _below(at, name))
        where = _below(at, how.name or one.name)
        if last in inside:
            found[one.name] = _read(hint, inside[last], where) if how.read is None else how.read(inside[last])
        elif one.default is MISSING and one.default_factory is MISSING:
            raise JsonError(at, f'the key "{how.name or one.name}" is missing')
    return kind(**found)


def _names(kind: Any, but: str = "") -> Iterator[str]:
    """Keys of a dataclass, those of what is inlined among them, besides those of a field."""
    for one in fields(kind):
        how, hint = _how(one), _hints(kind)[one.name]
        if one.name == but:
            continue
        if how.inline:
            yield from _names(_inlined(hint))
        else:
            yield (how.name or one.name).split(".")[0]


def _inlined(hint: Any) -> Any:
    """The dataclass that a field holds, which may be optional."""
    return next(part for part in (*get_args(hint), hint) if is_dataclass(part))


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _below(at: str, name: Any) -> str:
    return f"{at}.{name}" if at else str(name)


# Arrays, beside the plain values that name them.


@final
@dataclass(frozen=True)
class Arrays:
    """Arrays by name; :meth:`put` keeps one and gives its name, for the plain values beside them."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def put(self, array: NDArray[Any]) -> str:
        """Keep an array; returns its name."""
        name = f"a{len(self.arrays)}"
        self.arrays[name] = np.ascontiguousarray(array)
        return name

    def put_bytes(self, data: bytes) -> str:
        """Keep some bytes, such as a file; returns their name."""
        return self.put(np.frombuffer(data, np.uint8))

    def bytes_of(self, name: str) -> bytes:
        """What :meth:`put_bytes` kept."""
        return self.arrays[name].tobytes()


@dataclass(frozen=True)
class TensorFile:
    """What a safetensors file holds: arrays by name, and the texts of its header."""

    arrays: dict[str, NDArray[Any]]
    texts: dict[str, str]

    @classmethod
    def from_bytes(cls, data: bytes) -> TensorFile:
        """The content of a file; ValueError where it is none."""
        from safetensors import SafetensorError
        from safetensors.numpy import load

        try:
            arrays = load(data)
            (length,) = struct.unpack("<Q", data[:8])
            return cls(arrays, json.loads(data[8 : 8 + length]).get("__metadata__") or {})
        except (SafetensorError, struct.error) as problem:
            raise ValueError(str(problem)) from None

    def to_bytes(self) -> bytes:
        """The content of a file."""
        from safetensors.numpy import save

        return save(self.arrays, metadata=self.texts)
