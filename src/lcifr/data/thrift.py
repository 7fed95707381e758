"""Thrift's compact protocol, as far as footers of Parquet files need it: structs whose fields stay bytes until asked.

Footers are copied from file to file with a few numbers changed. So a field is kept as the bytes that were read, whoever
wrote it and whatever it means, and only what is asked for is understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
"""Of 16, 32 and 64 bits; all are written alike."""
I64 = 6
LONG = 15
"""A list of so many or more has its length in bytes of its own."""


class ThriftError(ValueError):
    """Bytes that are no struct of this protocol."""


@final
class Struct:
    """A struct: for each of its fields, by number, the kind and the bytes."""

    def __init__(self, fields: dict[int, tuple[int, bytes]]) -> None:
        self._fields = fields

    @classmethod
    def read(cls, data: bytes) -> Struct:
        """The struct at the beginning of some bytes."""
        try:
            return cls._read(data, 0)[0]
        except IndexError:
            raise ThriftError("the bytes end within a struct") from None

    @classmethod
    def _read(cls, data: bytes, at: int) -> tuple[Struct, int]:
        fields, number = dict[int, tuple[int, bytes]](), 0
        while data[at]:
            number, kind, at = _field(data, at, number)
            end = _skip(data, at, kind)
            fields[number] = (kind, data[at:end])
            at = end
        return cls(fields), at + 1

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def integer(self, number: int) -> int:
        """A whole number."""
        return _unsigned(_varint(self._fields[number][1], 0)[0])

    def struct(self, number: int) -> Struct:
        """A field that is a struct."""
        return Struct.read(self._fields[number][1])

    def structs(self, number: int) -> list[Struct]:
        """A field that is a list of structs."""
        data = self._fields[number][1]
        length, kind, at = _list(data, 0)
        found = []
        for _ in range(length if kind == STRUCT else 0):
            one, at = Struct._read(data, at)
            found.append(one)
        return found

    def raw(self, number: int) -> bytes:
        """A field as it is written; nothing where it is missing."""
        return self._fields[number][1] if number in self._fields else b""

    def with_integers(self, values: dict[int, int]) -> Struct:
        """The same with these whole numbers; new ones have 64 bits."""
        new = {n: (self._fields[n][0] if n in self._fields else I64, _signed(v)) for n, v in values.items()}
        return Struct(self._fields | new)

    def with_struct(self, number: int, value: Struct) -> Struct:
        """The same with another struct in a field."""
        return Struct(self._fields | {number: (STRUCT, value.to_bytes())})

    def with_structs(self, number: int, values: Sequence[bytes]) -> Struct:
        """The same with a list of structs, which are written already."""
        short = len(values) < LONG
        head = bytes([len(values) << 4 | STRUCT]) if short else bytes([0xF0 | STRUCT]) + _written(len(values))
        return Struct(self._fields | {number: (LIST, head + b"".join(values))})

    def without(self, *numbers: int) -> Struct:
        """The same without these fields."""
        return Struct({number: field for number, field in self._fields.items() if number not in numbers})

    def to_bytes(self) -> bytes:
        """As it is written."""
        written, before = [], 0
        for number, (kind, value) in sorted(self._fields.items()):
            near = number - before < 16
            written += [bytes([number - before << 4 | kind]) if near else bytes([kind]) + _signed(number), value]
            before = number
        return b"".join(written) + b"\0"


def _field(data: bytes, at: int, before: int) -> tuple[int, int, int]:
    """The number and the kind of a field, and where its value begins."""
    head = data[at]
    if head >> 4:
        return before + (head >> 4), head & 15, at + 1
    number, at = _varint(data, at + 1)
    return _unsigned(number), head & 15, at


def _skip(data: bytes, at: int, kind: int) -> int:
    """Where a value ends."""
    if kind in (TRUE, FALSE):
        return at
    if kind in INTEGERS:
        while data[at] & 0x80:
            at += 1
        return at + 1
    if kind == BINARY:
        length, at = _varint(data, at)
        return at + length
    if kind == STRUCT:
        while data[at]:
            _, field, at = _field(data, at, 0)
            at = _skip(data, at, field)
        return at + 1
    if kind in (LIST, SET):
        length, of, at = _list(data, at)
        for _ in range(length):
            at = at + 1 if of in (TRUE, FALSE) else _skip(data, at, of)
        return at
    if kind == BYTE:
        return at + 1
    if kind == DOUBLE:
        return at + 8
    raise ThriftError(f"a field of the kind {kind}, which no footer has")


def _list(data: bytes, at: int) -> tuple[int, int, int]:
    """How many there are, of which kind, and where the first begins."""
    length, kind = data[at] >> 4, data[at] & 15
    if length < LONG:
        return length, kind, at + 1
    length, at = _varint(data, at + 1)
    return length, kind, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return value | data[at] << shift, at + 1


def _written(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _signed(value: int) -> bytes:
    """In zigzag: small negative numbers are short, too."""
    return _written(value << 1 if value >= 0 else (-value << 1) - 1)


def _unsigned(value: int) -> int:
    return value >> 1 ^ -(value & 1)
